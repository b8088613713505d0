"""Sections of earlier pages, for studies whose results are not in the store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .verdicts import VERDICTS

__all__ = ["NOT_SINCE", "Kept", "read_pages", "stamp_line"]

NOT_SINCE = (
    "**Not run since**: the study was changed after these figures were computed, and they are not those of the study "
    "as it is now."
)
_STAMP = re.compile(r"^<!-- cells ([0-9a-f]+) -->$", re.MULTILINE)
_CLAIM = re.compile(rf"^\|.*\| ({'|'.join(VERDICTS)}) \|", re.MULTILINE)


def stamp_line(stamp: str) -> str:
    """Return the line of a section that tells which cells its figures are from."""
    return f"<!-- cells {stamp} -->"


@dataclass(frozen=True)
class Kept:
    """The section of a study on an earlier page, and its lines of the overview."""

    section: str
    overview: tuple[str, ...]

    def is_stale(self, stamp: str) -> bool:
        """Return whether the study has other cells now."""
        found = _STAMP.search(self.section)
        return found is not None and found[1] != stamp

    def lines(self, stamp: str) -> list[str]:
        """Return the section; where the study has other cells now, it says so."""
        if not self.is_stale(stamp) or NOT_SINCE in self.section:
            return self.section.split("\n")
        return _STAMP.sub(rf"\g<0>\n\n{NOT_SINCE}", self.section, count=1).split("\n")

    def overview_lines(self, stamp: str) -> list[str]:
        """Return the lines of the overview; where the study has other cells now, they say so."""
        return [_marked(line) if self.is_stale(stamp) else line for line in self.overview]

    def verdicts(self, stamp: str) -> Counter[str]:
        """Return how often each verdict is given by figures of the study as it is now."""
        return Counter() if self.is_stale(stamp) else Counter(_CLAIM.findall(self.section))


def _marked(line: str) -> str:
    """Write into the column of cells that a study was not run since."""
    parts = line.split(" | ")
    if len(parts) > 2 and "not run since" not in parts[2]:
        parts[2] += ", not run since"
    return " | ".join(parts)


def read_pages(folder: Path, names: Sequence[str]) -> dict[str, Kept]:
    """Return what the pages in a folder say of studies that were run."""
    texts = {file.stem: file.read_text(encoding="utf-8") for file in folder.glob("*.md")} if folder.is_dir() else {}
    overview = texts.pop("index", "").split("\n")
    found = {}
    for text in texts.values():
        for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
            name = part.split("\n", 1)[0].removeprefix("## ")
            if name in names and "\nNot run" not in part:
                lines = tuple(line for line in overview if line.startswith(f"| [{name}]("))
                found[name] = Kept(part.rstrip(), lines)
    return found
