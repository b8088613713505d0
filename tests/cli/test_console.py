"""Progress that a person or a log file can read."""

import io
import itertools

import pytest
from rich.console import Console

from scarce.cli import _console
from scarce.cli._console import Lines, progress, times


def test_what_has_passed_and_what_is_left_cannot_be_confused() -> None:
    assert times(12, 21) == "0:12 elapsed, about 0:21 left"
    assert times(3_725, None) == "1 h 02 min elapsed"
    assert times(59.7, 60) == "1:00 elapsed, about 1:00 left"


def test_a_log_has_a_line_every_few_seconds() -> None:
    clock = itertools.count(0.0, 2.0)
    file = io.StringIO()
    lines = Lines(Console(file=file, width=100), clock=lambda: next(clock))
    for i in range(8):
        lines.print(lambda elapsed, i=i: f"step {i} after {elapsed:.0f}")
    lines.print(lambda elapsed: f"the end after {elapsed:.0f}", last=True)
    assert file.getvalue().splitlines() == ["step 0 after 2", "step 3 after 8", "step 6 after 14", "the end after 18"]
    quick = io.StringIO()
    Lines(Console(file=quick), clock=lambda: 0.0).print(lambda elapsed: "too early")
    assert quick.getvalue() == ""


def test_without_a_terminal_progress_is_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_console, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(_console, "SECONDS_TO_FIRST_LINE", 0.0)
    file = io.StringIO()
    with progress(Console(file=file, width=100)) as show:
        show("Reading [the] table", 0, 1)
        show("γk-NN", 1, 4)
    first, second = file.getvalue().splitlines()
    assert first == "Reading [the] table: 0:00 elapsed"
    assert second == "γk-NN: 25%, 0:00 elapsed, about 0:00 left"


def test_on_a_terminal_progress_is_a_bar() -> None:
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=True)
    with progress(console) as show:
        show("γk-NN", 1, 4)
    assert "25%, 0:00 elapsed, about 0:00 left" in file.getvalue()
