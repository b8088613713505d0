"""Files that appear whole or not at all, and their hashes."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scarce._errors import UserError
from scarce._processes import is_alive, own_mark

__all__ = [
    "CannotWriteError",
    "PathTakenError",
    "check_free",
    "explained",
    "put_in_place",
    "read_toml",
    "sentence_of_system",
    "sha256",
    "temporary_folder",
    "written_whole",
]

# Between the parts of the name of a temporary folder, of which the owner is one.
_BETWEEN = "~"
# What a user can do about errors of the system.
_ADVICE = {
    errno.ENOSPC: "free some space, or name another place",
    errno.EDQUOT: "free some space, or name another place",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), or name another place",
    errno.EACCES: "ask for the right to write there, or name another place",
    errno.EPERM: "ask for the right to write there, or name another place",
    errno.EROFS: "name a place that can be written to",
    errno.ENOTDIR: "a part of this path is a file; name another place",
    errno.EEXIST: "a part of this path is a file; name another place",
    errno.ENAMETOOLONG: "take a shorter name",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.EIO: "check the disk, or name another place",
}


class PathTakenError(UserError, FileExistsError):
    """The path holds something that must not be replaced."""


class CannotWriteError(UserError, OSError):
    """The system refuses to write: the disk is full, a right is missing."""


def sentence_of_system(error: OSError, place: object = None) -> str | None:
    """Return what the user can do about an error of the system, or None where it is no matter of the user's."""
    number = error.errno
    if number == errno.ENOENT and error.filename is not None and Path(error.filename).parent.is_dir():
        number = errno.EPERM  # a file system that takes no files, such as /proc
    if number is None:  # Arrow and NumPy leave it out
        number = next((known for known in _ADVICE if os.strerror(known).lower() in str(error).lower()), None)
        if number is None and "requested and" in str(error):  # NumPy's words for a full disk
            number = errno.ENOSPC
    if number not in _ADVICE:
        return None
    named = place if place is not None else error.filename
    where = "A file" if named is None else str(named)
    return f"{where} cannot be written ({os.strerror(number)}); {_ADVICE[number]} (`out`)."


@contextmanager
def explained(place: Path) -> Iterator[None]:
    """Turn an error of the system into a sentence that names the place."""
    try:
        yield
    except OSError as error:
        sentence = None if isinstance(error, UserError) else sentence_of_system(error, place)
        if sentence is None:
            raise
        raise CannotWriteError(sentence) from error


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file; an OSError says why it cannot be read, and a ValueError why it is none."""
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():  # who opens a pipe may wait for ever
        raise OSError(errno.ESPIPE, "it is a pipe or a device", str(path))
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except RecursionError as error:
        raise ValueError("its parts are nested too deeply") from error


def check_free(destination: Path, *, force: bool = False, marker: str | None = None) -> None:
    """Refuse a path that holds something that must not be replaced; an empty folder is free.

    By force a file is replaced, and a folder that holds the file `marker`, which shows that we wrote it. What a killed
    run left of a folder that it was to replace is put back first.
    """
    with explained(destination):
        _recover(destination)
        if not os.path.lexists(destination):
            _refuse_below(destination)
            return
        if destination.is_dir() and not any(destination.iterdir()):
            return
    if not destination.absolute().name or not (destination.is_dir() or destination.is_file()):
        raise PathTakenError(f"{destination} is no file or folder that can be replaced; name another place (`out`).")
    if not force:
        raise PathTakenError(
            f"{destination} exists already; name another place (`out`), or have it replaced (`force`)."
        )
    if marker and destination.is_file():
        raise PathTakenError(f"{destination} is a file, and a folder is to be written; name another place (`out`).")
    if destination.is_dir() and not (marker and (destination / marker).exists()):
        raise PathTakenError(f"{destination} holds other files than would be replaced; name another place (`out`).")


def _refuse_below(destination: Path) -> None:
    """Raise the error of the system that a new path would meet later, when the work is done."""
    above = next(path for path in destination.absolute().parents if os.path.lexists(path))
    number = errno.ENOTDIR if not above.is_dir() else errno.EACCES if not os.access(above, os.W_OK | os.X_OK) else 0
    if number:
        raise OSError(number, os.strerror(number), str(destination))


@contextmanager
def temporary_folder(parent: Path, name: str) -> Iterator[Path]:
    """Give a new folder in another one, which is removed at the end; those that killed processes left are removed too.

    Parameters
    ----------
    parent : path
        Where it is made.
    name : str
        The beginning of its name.
    """
    start = f".{name}{_BETWEEN}"
    for other in parent.glob(f"{_literal(start)}*"):
        mark = other.name.removeprefix(start).rpartition(_BETWEEN)[0]
        if mark and not is_alive(mark, _BETWEEN):
            shutil.rmtree(other, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=f"{start}{own_mark(_BETWEEN)}{_BETWEEN}", dir=parent))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _literal(text: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)


@contextmanager
def written_whole(destination: Path, *, force: bool = False, marker: str | None = None) -> Iterator[Path]:
    """Give a path for a file or folder that becomes `destination` if the block ends well, and vanishes otherwise.

    What is there already is replaced as in `check_free`. An error of the system in the block becomes a sentence.
    """
    destination = destination.absolute()
    with explained(destination):
        destination.parent.mkdir(parents=True, exist_ok=True)
        _recover(destination)
        with temporary_folder(destination.parent, destination.name) as work:
            new = work / destination.name
            yield new
            check_free(destination, force=force, marker=marker)
            put_in_place(new, destination)


def put_in_place(new: Path, destination: Path) -> None:
    """Give a file or folder its name. What has the name is replaced, and a kill at any moment leaves one of them whole.

    A file is replaced in one step. A folder is called ``NAME.previous`` until the new one has its name.
    """
    previous, note = _beside(destination)
    if not (destination.is_dir() and any(destination.iterdir())):
        if destination.is_dir():
            destination.rmdir()
        new.replace(destination)
        return
    if previous.exists():
        raise PathTakenError(
            f"{previous} is where the earlier folder would be until the new one has its name; move it away, or name "
            "another place (`out`)."
        )
    note.write_text(own_mark(), encoding="utf-8")
    destination.rename(previous)
    try:
        new.replace(destination)
    except BaseException:
        previous.rename(destination)
        note.unlink()
        raise
    shutil.rmtree(previous)
    note.unlink()


def _beside(destination: Path) -> tuple[Path, Path]:
    """Return where a replaced folder is for a moment, and the note that says so."""
    name = destination.name
    return destination.with_name(f"{name}.previous"), destination.with_name(f".{name}.replacing")


def _recover(destination: Path) -> None:
    """Put back the folder that a killed process was to replace, or remove it where the new one is in its place."""
    if not destination.absolute().name:
        return
    previous, note = _beside(destination.absolute())
    try:
        mark = note.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return
    if mark and is_alive(mark):
        return
    if previous.exists():
        if destination.exists():
            shutil.rmtree(previous)
        else:
            previous.rename(destination)
    note.unlink(missing_ok=True)
