"""Files that appear whole or not at all, and their hashes."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scarce._errors import UserError

__all__ = ["PathTakenError", "check_free", "sha256", "written_whole"]


class PathTakenError(UserError, FileExistsError):
    """The path holds something that must not be replaced."""


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_free(destination: Path, *, force: bool = False, marker: str | None = None) -> None:
    """Refuse a path that holds something that must not be replaced; an empty folder is free.

    By force a file is replaced, and a folder that holds the file `marker`, which shows that we wrote it.
    """
    if not destination.exists() or (destination.is_dir() and not any(destination.iterdir())):
        return
    if not force:
        raise PathTakenError(
            f"{destination} exists already; name another place (`out`), or have it replaced (`force`)."
        )
    if destination.is_dir() and not (marker and (destination / marker).exists()):
        raise PathTakenError(f"{destination} holds other files than would be replaced; name another place (`out`).")


@contextmanager
def written_whole(destination: Path, *, force: bool = False, marker: str | None = None) -> Iterator[Path]:
    """Give a path for a file or folder that becomes `destination` if the block ends well, and vanishes otherwise.

    What is there already is replaced as in `check_free`.
    """
    destination = destination.absolute()
    destination.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{destination.name}-", dir=destination.parent))
    try:
        new = work / destination.name
        yield new
        check_free(destination, force=force, marker=marker)
        # A file is replaced in one step; a folder that holds something must go first.
        if destination.is_dir():
            destination.rename(work / "old")
        new.replace(destination)
    finally:
        shutil.rmtree(work)
