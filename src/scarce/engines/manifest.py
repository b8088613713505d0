"""The manifest of an audit, every field of which is checked before anything in it is used."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, get_args

import scarce
from scarce._errors import AuditError
from scarce._files import sha256
from scarce._typing import Json
from scarce.tables.readings import TYPES, Kind

__all__ = ["FILES", "LARGEST_SEED", "check_file", "read_manifest"]

# Files that are read back, whose hashes are in the manifest.
FILES = (
    *("model.skops", "training-rows.npy", "history.npz", "reference.parquet", "cases.json", "known.parquet"),
    "report.json",
)
LARGEST_SEED = 2**32 - 1
# What a model holds of these packages is theirs alone, and differs between their versions.
_SAME_VERSION = ("scarce", "scikit-learn")


class _Field(NamedTuple):
    """The words for what a field holds, and whether a value is that."""

    words: str
    holds: Callable[[Any], bool]


def _number(low: float = -math.inf, high: float = math.inf) -> _Field:
    def holds(value: Any) -> bool:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and math.isfinite(value) and low <= value <= high

    ends = "" if low == -math.inf else f" from {low:g}" + ("" if high == math.inf else f" to {high:g}")
    return _Field(f"a number{ends}", holds)


def _whole(low: int = 0, high: float = math.inf) -> _Field:
    ends = f" from {low}" + ("" if high == math.inf else f" to {high}")
    return _Field(f"a whole number{ends}", lambda v: type(v) is int and low <= v <= high)


def _one_of(*values: str) -> _Field:
    return _Field(f"one of {', '.join(values)}", lambda v: isinstance(v, str) and v in values)


def _written(words: str, pattern: str) -> _Field:
    return _Field(words, lambda v: isinstance(v, str) and re.fullmatch(pattern, v) is not None)


def _either(words: str, *fields: _Field) -> _Field:
    return _Field(words, lambda v: any(field.holds(v) for field in fields))


def _or_null(field: _Field) -> _Field:
    return _Field(f"{field.words}, or null", lambda v: v is None or field.holds(v))


def _list(field: _Field) -> _Field:
    return _Field(f"a list, each {field.words}", lambda v: isinstance(v, list) and all(map(field.holds, v)))


def _map(field: _Field) -> _Field:
    return _Field(
        f"an object, each {field.words}",
        lambda v: isinstance(v, dict) and all(map(field.holds, v.values())),
    )


def _is_moment(value: Any) -> bool:
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True


_TEXT = _Field("a text", lambda v: isinstance(v, str))
_YES_NO = _Field("true or false", lambda v: isinstance(v, bool))
_TEXTS = _list(_TEXT)
_HASH = _written("a SHA-256 of 64 digits", "[0-9a-f]{64}")
_VERSION = _written("a version such as 1.9.1", r"\d+(\.\w+)*([+-][\w.]+)?")
_CHECKS = _either(
    "a number of checks, at least 1, or such as 100/day",
    _whole(1),
    _written("", r"\s*[\d,_]*[1-9][\d,_]*\s*(/\s*(day|week|month)\s*)?"),
)
_LENGTH = _either("a text or a number", _TEXT, _number())
_CELL = _Field("a text, a number, true, false or null", lambda v: v is None or isinstance(v, str | int | float | bool))
_KIND = _one_of(*get_args(Kind))

_SETTINGS: dict[str, Any] = {
    "target": _TEXT,
    "budget": _CHECKS,
    "objective": _one_of("ap", "f1", "gmean", "budget", "profit"),
    "positive": _or_null(_TEXT),
    "amount": _or_null(_TEXT),
    "check_cost": _or_null(_number(0)),
    "gains": _or_null(_map(_LENGTH)),
    "time": _or_null(_TEXT),
    "delay": _or_null(_LENGTH),
    "distinct": _or_null(_TEXT),
    "entity": _TEXTS,
    "windows": _list(_LENGTH),
    "explore": _number(0, 0.5),
    "rank": _or_null(_TEXT),
    "unlabelled": _one_of("leave_out", "negative"),
    "checked": _or_null(_TEXT),
    "reviews": _or_null(_TEXT),
    "methods": _TEXTS,
    "quick": _YES_NO,
    "minutes": _or_null(_number(0)),
    "sample": _or_null(_whole(1_000)),
    "keep": _TEXTS,
    "drop": _TEXTS,
    "types": _map(_KIND),
    "columns": _or_null(_TEXT),
    "seed": _whole(0, LARGEST_SEED),
}
_FIELDS: dict[str, Any] = {
    "written": _Field("a date and time", _is_moment),
    "seconds": _number(0),
    "python": _VERSION,
    "packages": _map(_VERSION),
    "data": {
        "name": _TEXT,
        "sha256": _HASH,
        "simulated": _YES_NO,
        "rows": _whole(1),
        "labelled": _whole(1),
        "positives": _whole(1),
    },
    "settings": _SETTINGS,
    "methods": _TEXTS,
    "folds": _TEXT,
    "target": {"column": _TEXT, "positive": _TEXT, "negative": _TEXTS},
    "log_odds_shift": _number(-1_000, 1_000),
    "winner": _TEXT,
    "threshold": _number(),
    "reasons": _whole(1),
    "queue": _TEXT,
    "identifiers": _TEXTS,
    "hidden": _TEXTS,
    "columns": [
        {
            "name": _TEXT,
            "kind": _KIND,
            "usual": {"values": _list(_CELL), "weights": _list(_number(0, 1)), "typical": _CELL},
            "title?": _TEXT,
            "unit?": _TEXT,
            "hidden?": _YES_NO,
            "made_from?": _TEXTS,
        }
    ],
    "readings": [
        {
            "name": _TEXT,
            "type": _one_of(*TYPES, "nested"),
            "written": _TEXT,
            "labels": _map(_TEXT),
            "lenient": _YES_NO,
        }
    ],
    "files": _map(_HASH),
    "trusted_types": _TEXTS,
}


def read_manifest(file: Path) -> Json:
    """Read a manifest, or name the first field that is not as an audit writes it."""
    try:
        manifest: Any = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse)
    except OSError as error:
        raise AuditError(f"There is no {file}; keep the model and its manifest in the same folder.") from error
    except (ValueError, RecursionError) as error:
        raise AuditError(f"{file} is damaged; run the audit again.") from error
    # What contradicts itself is looked for only where each field is as it should be.
    fault = next(chain(_faults(manifest, _FIELDS, ""), _contradictions(manifest)), None)
    if fault is not None:
        raise AuditError(f"{file} is damaged or was changed: {fault}; run the audit again.")
    _check_versions(file, manifest["packages"])
    return dict(manifest)


def check_file(folder: Path, name: str, manifest: Json) -> None:
    """Refuse a file of an audit that is missing, or is not the one that the audit wrote."""
    file = folder / name
    if not file.is_file():
        raise AuditError(f"There is no {file}; keep the files of an audit in the same folder.")
    if sha256(file) != manifest["files"].get(name):
        raise AuditError(
            f"{file} is not the file that the audit wrote, by its SHA-256 in {folder / 'manifest.json'}; run the audit "
            "again."
        )


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _faults(value: Any, expected: Any, place: str) -> Iterator[str]:
    """Yield a sentence on each field that is not as expected."""
    if isinstance(expected, _Field):
        if not expected.holds(value):
            yield f"{place} must be {expected.words}, and it is {_short(value)}"
    elif isinstance(expected, list):
        if not isinstance(value, list):
            yield f"{place} must be a list, and it is {_short(value)}"
        else:
            for number, item in enumerate(value):
                yield from _faults(item, expected[0], f"{place}[{number}]")
    elif not isinstance(value, dict):
        yield f"{place or 'it'} must be an object, and it is {_short(value)}"
    else:
        names = {name.rstrip("?"): name for name in expected}
        for name, written in names.items():
            here = f"{place}.{name}".lstrip(".")
            if name in value:
                yield from _faults(value[name], expected[written], here)
            elif not written.endswith("?"):
                yield f"{here} is missing"
        for name in value:
            if name not in names:
                yield f"{place or 'it'} has a field {_short(name)} that no audit writes"


def _contradictions(manifest: Any) -> Iterator[str]:
    """Yield a sentence on fields that do not agree; each by itself is as it should be."""
    data = manifest["data"]
    if not data["positives"] <= data["labelled"] <= data["rows"]:
        yield "data has more positives than labelled rows, or more of these than rows"
    if manifest["settings"]["target"] != manifest["target"]["column"]:
        yield "settings.target and target.column differ"
    if not manifest["columns"]:
        yield "columns is empty"
    for part in ("columns", "readings"):
        names = [item["name"] for item in manifest[part]]
        if len(set(names)) < len(names):
            yield f"{part} names a column twice"
    read = {reading["name"] for reading in manifest["readings"]}
    for column in manifest["columns"]:
        usual = column["usual"]
        if len(usual["values"]) != len(usual["weights"]):
            yield f"the usual values of {_short(column['name'])} and their weights differ in number"
        if "made_from" not in column and column["name"] not in read:
            yield f"readings lacks the column {_short(column['name'])}"
        expected = (int, float) if column["kind"] == "number" else str
        if not all(v is None or isinstance(v, expected) for v in (*usual["values"], usual["typical"])):
            yield f"the usual values of {_short(column['name'])} are not of its kind"


def _check_versions(file: Path, packages: dict[str, str]) -> None:
    """Refuse a model of another version of the packages whose objects it holds."""
    for name in _SAME_VERSION:
        theirs = packages.get(name, "none")
        ours = scarce.__version__ if name == "scarce" else _installed(name)
        if theirs.split(".")[:2] != ours.split(".")[:2]:
            raise AuditError(
                f"{file} is of {name} {theirs}, and {ours} is installed, which may read the model in another way; run "
                f"the audit again, or install {name}=={theirs}."
            )


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
