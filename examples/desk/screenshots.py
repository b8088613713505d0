"""Take pictures of the desk on an audit's folder for the documentation: python screenshots.py FOLDER PICTURES."""

import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

from scarce.desk.app import create_app
from scarce.desk.imports import import_folder
from scarce.desk.store import Store, store_url
from scarce.desk.tokens import add_token

SIZES = {"": (1280, 860), "-telephone": (390, 844)}


def main(audit: Path, pictures: Path) -> None:
    """Open a copy of the desk, decide some cases, and write a picture of each page."""
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(audit, Path(place) / "audit", ignore=shutil.ignore_patterns("desk.db*")))
        store = Store(store_url(folder))
        import_folder(store, folder)
        token = add_token(store, "Ana", "reviewer")
        server = uvicorn.Server(uvicorn.Config(create_app(store, folder), port=0, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        take(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", token, pictures)
        server.should_exit = True
        thread.join()
        store.close()


def take(address: str, token: str, pictures: Path) -> None:
    """Write the pictures of a running desk."""
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for size, (width, height) in SIZES.items():
            page = browser.new_context(viewport={"width": width, "height": height}, base_url=address).new_page()
            page.goto("/login")
            page.fill("#token", token)
            page.keyboard.press("Enter")
            page.wait_for_selector("#queue")
            if not size:
                page.locator("#queue a.case").first.click()
                for key in "112131":
                    page.wait_for_selector("#case")
                    with page.expect_navigation():
                        page.keyboard.press(key)
                page.goto("/")
            page.wait_for_selector("#queue")
            page.screenshot(path=pictures / f"desk-queue{size}.png")
            linked = page.locator("#queue tr:has(.badge.link) a.case")
            (linked if linked.count() else page.locator("#queue a.case")).first.click()
            page.wait_for_selector("#case")
            page.screenshot(path=pictures / f"desk-case{size}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
