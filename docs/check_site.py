"""Check the built site: links and anchors, the first hit of searches, pictures, and pages wider than the screen.

``python docs/check_site.py docs/_build`` needs nothing but the site for links. Searches and widths are checked in
Chromium, with Sphinx's own search on the built index; without Chromium it says so.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

# What a newcomer types, and the page that answers it.
SEARCHES = {
    "threshold": "objectives.html",
    "cost-sensitive": "profit.html",
    "precision at k": "rank.html",
    "SMOTE": "resampling.html",
    "explain": "explanations.html",
    "calibration": "probabilities.html",
    "fraud": "tutorial-payments.html",
}
WIDTHS = (1280, 390)
PICTURED = ("index.html", "get-started.html", "guide.html", "auto_examples/index.html", "methods.html")


class Page(HTMLParser):
    """The links of a page and the names that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element links to or can be found by."""
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.names.add(value)
            elif value and name in ("href", "src") and tag != "base":
                self.links.append(value)


def check_links(site: Path) -> list[str]:
    """Return the internal links that lead nowhere."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}
    broken = []
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.exists():
                broken.append(f"{file.relative_to(site)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                broken.append(f"{file.relative_to(site)}: no anchor {link}")
    return sorted(set(broken))


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def check_in_browser(site: Path, chromium: str, pictures: Path | None) -> list[str]:
    """Return the searches that find another page first, and the pages that are wider than the screen."""
    from playwright.sync_api import sync_playwright

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root, wrong = f"http://127.0.0.1:{server.server_port}", []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        for words, expected in SEARCHES.items():
            page.goto(f"{root}/search.html?q={quote(words)}")
            first = page.wait_for_selector("ul.search li a", timeout=60_000)
            found = urlsplit(first.get_attribute("href") or "").path.removeprefix("./").lstrip("/")
            print(f"search {words!r}: {found}")
            if found != expected:
                wrong.append(f"a search for {words!r} finds {found} first, not {expected}")
        shown = [*PICTURED, *(file.name for file in site.glob("*.html") if file.name not in PICTURED)]
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for name in shown:
                page.goto(f"{root}/{name}")
                broken = page.evaluate(
                    "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.getAttribute('src'))"
                )
                wrong += [f"{name}: the picture {source} cannot be shown" for source in broken]
                wide = page.evaluate("document.documentElement.scrollWidth")
                if wide > width:
                    wrong.append(f"{name} is {wide} px wide on a screen of {width} px")
                if pictures and name in PICTURED:
                    pictures.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=pictures / f"{Path(name).as_posix().replace('/', '-')}-{width}.png")
        browser.close()
    server.shutdown()
    return wrong


def main() -> int:
    """Print what is wrong, and return 1 if anything is."""
    parser = argparse.ArgumentParser(description="Check the built documentation.")
    parser.add_argument("site", type=Path, help="the folder of the HTML pages")
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of some pages")
    options = parser.parse_args()
    site = options.site.resolve()
    wrong = check_links(site)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium:
        wrong += check_in_browser(site, chromium, options.pictures)
    else:
        print("Chromium is not here: searches and widths are not checked.")
    for line in wrong:
        print(line)
    print(f"{len(wrong)} {'fault' if len(wrong) == 1 else 'faults'} in the site.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
