"""A report in a real browser, at three sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = Path("/usr/bin/chromium")
# The last is the width of an A4 page between its margins.
SIZES = {"desktop": (1280, 900), "phone": (390, 844), "print": (688, 971)}

# Elements that stick out of the page, and are not inside a box that scrolls by itself.
STICKS_OUT = """() => {
  const wide = document.documentElement.clientWidth, found = [];
  const scrolls = element => /auto|scroll|hidden/.test(getComputedStyle(element).overflowX);
  for (const element of document.querySelectorAll("body *")) {
    const box = element.getBoundingClientRect();
    if (!box.width || box.right <= wide + 1) continue;
    let up = element.parentElement;
    while (up && !scrolls(up)) up = up.parentElement;
    if (!up) found.push(`${element.tagName} ${element.id} ${Math.round(box.right)}`);
  }
  return found.slice(0, 5);
}"""
# Words of one drawing that lie over each other, but for those that are turned.
OVERLAPS = """() => {
  const found = [];
  const level = text => !/rotate[(]-?[1-9]/.test(text.getAttribute("transform") || "");
  for (const drawing of document.querySelectorAll("figure svg")) {
    const texts = [...drawing.querySelectorAll("text")].filter(t => t.textContent.trim() && level(t))
      .map(t => [t.textContent.trim(), t.getBoundingClientRect()]).filter(([, box]) => box.width);
    texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 2 && high > 3) found.push(`${one} / ${other}`);
    }));
  }
  return found.slice(0, 5);
}"""
WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@contextmanager
def opened(page_file: Path, size: str) -> Iterator[tuple[Any, list[str]]]:
    """Give a page and the errors of its console."""
    from playwright.sync_api import sync_playwright

    wide, high = SIZES[size]
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": wide, "height": high})
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        if size == "print":
            page.emulate_media(media="print")
        page.goto(page_file.absolute().as_uri())
        yield page, errors
        browser.close()
