"""The desk in a real browser, on a screen and on a telephone: by keyboard alone, without errors, accessible."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from scarce.desk.imports import import_folder
from scarce.desk.store import Store, store_url
from scarce.desk.tokens import add_token

from .audits import make_folder
from .service import running

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# `make test` fetches it, where there is npm.
AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian's package chromium)")


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Store, httpx.Client]]:
    folder = make_folder(tmp_path / "audit", 120, terminals=30)
    store = Store(store_url(folder))
    import_folder(store, folder)
    with running(store, folder, lifespan="off") as client:
        yield store, client
    store.close()


def _failed(request: sync_api.Request) -> bool:
    # A download ends the request of its page.
    return request.failure != "net::ERR_ABORTED"


def arrive(page: sync_api.Page, selector: str) -> None:
    """Wait for a page with its script, without which a key does nothing."""
    page.wait_for_selector(selector)
    page.wait_for_load_state()


def check_access(page: sync_api.Page) -> None:
    """Refuse serious violations of the rules for accessible pages."""
    if not AXE.exists():
        return
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    serious = {v["id"]: [n["html"] for n in v["nodes"]] for v in found if v["impact"] in ("serious", "critical")}
    assert not serious


@pytest.mark.skipif(AXE.exists(), reason="axe-core is there")
def test_without_axe_core_accessibility_is_not_checked() -> None:
    pytest.skip("npm fetched no axe-core; accessibility was not checked")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_a_reviewer_works_by_keyboard_alone(
    browser: sync_api.Browser, served: tuple[Store, httpx.Client], width: int, height: int
) -> None:
    store, client = served
    token = add_token(store, "ana", "reviewer")
    context = browser.new_context(viewport={"width": width, "height": height}, base_url=str(client.base_url))
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda request: problems.append(request.url) if _failed(request) else None)

    page.goto("/")
    assert page.url.endswith("/login")
    check_access(page)
    page.keyboard.type(token)  # the field has the focus
    page.keyboard.press("Enter")
    arrive(page, "#queue")
    check_access(page)
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)

    page.keyboard.press("/")
    page.keyboard.type("T0000")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=T0000**")
    names = page.locator("#queue a.case").all_inner_texts()
    assert names == ["payment P000000", "payment P000030", "payment P000060", "payment P000090"]

    page.keyboard.press("j")
    page.keyboard.press("Enter")
    arrive(page, "#case")
    assert "P000000" in page.locator("h1").inner_text()
    assert page.get_by_role("button", name="Positive").is_visible()
    box = page.get_by_role("button", name="Positive").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= height  # seen without scrolling
    assert page.evaluate(fits)
    check_access(page)
    page.keyboard.press("1")
    arrive(page, ".flash")
    assert "P000000" in page.locator(".flash").inner_text()
    assert "3 linked open cases have moved" in page.locator(".flash").inner_text()
    assert "P000030" in page.locator("h1").inner_text()

    page.keyboard.press("q")
    arrive(page, "#queue")
    badge = page.locator("#queue .badge.link").first.inner_text()
    risen = re.search(r"shares terminal T0000 with payment P000000, confirmed at \d\d:\d\d: up (\d+) ranks?", badge)
    assert risen
    assert int(risen[1]) > 0
    page.get_by_role("link", name="Without links").click()
    page.wait_for_url("**order=rank**")

    page.keyboard.press("u")
    arrive(page, "#case")
    assert "P000000" in page.locator("h1").inner_text()
    assert "(undo)" in page.locator(".history").inner_text()
    assert "open" in page.locator("h1 .status").inner_text()
    page.keyboard.press("2")
    arrive(page, ".flash")

    page.goto("/figures")
    check_access(page)
    assert page.evaluate(fits)
    page.goto("/export")
    check_access(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").first.click()
    assert "P000000,negative" in Path(download.value.path()).read_text()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    page.goto("/export")
    assert page.url.endswith("/login")
    context.close()
    assert not problems


def test_a_dark_screen_has_enough_contrast(browser: sync_api.Browser, served: tuple[Store, httpx.Client]) -> None:
    store, client = served
    context = browser.new_context(color_scheme="dark", base_url=str(client.base_url))
    page = context.new_page()
    page.goto("/login")
    page.fill("#token", add_token(store, "ben", "reviewer"))
    page.keyboard.press("Enter")
    arrive(page, "#queue")
    check_access(page)
    page.goto("/cases/1")
    check_access(page)
    context.close()
