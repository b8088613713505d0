"""The report in a real browser."""

from pathlib import Path

import pytest

from tests.audit.browser import CHROMIUM, OVERLAPS, SIZES, STICKS_OUT, WIDTHS, opened

# The amounts of the queue, as they are sorted by.
AMOUNTS = """() => {
  const heads = [...document.querySelectorAll("#queue th")].map(head => head.textContent);
  const cells = [...document.querySelectorAll("#queue tbody tr")].map(row => row.cells[heads.indexOf("amount")]);
  return cells.map(cell => Number(cell.dataset.value));
}"""
SOME_BELOW_ZERO = """() => {
  const heads = [...document.querySelectorAll("#queue th")].map(head => head.textContent);
  const cells = [...document.querySelectorAll("#queue tbody tr")].map(row => row.cells[heads.indexOf("amount")]);
  cells.forEach((cell, i) => { cell.dataset.value = String([-5, 3, -820.55, 41.63, -106.74][i % 5]) });
}"""

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="There is no Chromium.")


@pytest.mark.parametrize("size", SIZES)
def test_nothing_sticks_out_or_overlaps_and_no_script_fails(folder: Path, size: str) -> None:
    with opened(folder / "report.html", size) as (page, errors):
        wide, room = page.evaluate(WIDTHS)
        assert page.evaluate(STICKS_OUT) == []
        assert wide <= room
        assert page.evaluate(OVERLAPS) == []
        if size != "print":
            first = page.locator("#queue tbody tr").first
            first.click()
            assert page.locator("#queue tr.case h3").inner_text().startswith("Probability")
            assert page.evaluate(WIDTHS)[0] <= room
            first.click()
            assert page.locator("#queue tr.case").count() == 0
        assert errors == []


def test_the_queue_is_sorted_searched_and_turned_by_pages(folder: Path) -> None:
    with opened(folder / "report.html", "desktop") as (page, errors):
        sort = page.locator("#queue th button", has_text="amount")
        sort.click()
        assert page.evaluate(AMOUNTS) == sorted(page.evaluate(AMOUNTS))
        page.evaluate(SOME_BELOW_ZERO)
        sort.click()
        assert page.evaluate(AMOUNTS) == sorted(page.evaluate(AMOUNTS), reverse=True)
        page.locator("#find").fill("no such words")
        assert page.locator("#count").inner_text().startswith("0 of")
        page.locator("#find").fill("")
        assert page.locator("#page").inner_text() == "page 1 of 1"
        assert errors == []
