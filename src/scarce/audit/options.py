"""The options of an audit as a file, ``audit.toml``, from which it can be repeated."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scarce._errors import AuditError
from scarce._files import read_toml
from scarce._typing import Keywords, Record
from scarce.engines.manifest import read_manifest
from scarce.engines.saved import MANIFEST

from .settings import Settings, settings_of

__all__ = ["OPTIONS", "read_gains", "read_options", "repeated_options", "write_options"]

OPTIONS = "audit.toml"
# Options that name files.
_PATHS = ("table", "reviews", "columns")


def read_options(path: str | Path) -> Keywords:
    """Read the options of an audit: those of :class:`Settings`, and its ``table``.

    Paths are relative to the folder of the file. ``audit(**read_options("audit.toml"))`` repeats the audit.
    """
    path = Path(path)
    options = dict(_read(path))
    table = options.pop("table", None)
    settings_of(options)  # refuses what an audit has no option for
    found = {"table": table, **options} if table is not None else options
    for name in _PATHS:
        if isinstance(found.get(name), str):
            found[name] = str(path.parent / found[name])
    return found


def read_gains(path: str | Path) -> dict[str, str | float]:
    """Read the gains of the four outcomes, and constants, from a TOML file such as ``fn = "-0.8*amount"``."""
    found = _read(Path(path))
    gains = found.get("gains", found)
    if not isinstance(gains, dict):
        raise AuditError(f'{path} gives gains as {gains!r}; write a part [gains] with lines such as fn = "-amount".')
    wrong = [
        name for name, value in gains.items() if isinstance(value, bool) or not isinstance(value, str | int | float)
    ]
    if wrong:
        raise AuditError(f"{path} gives {wrong[0]} as neither a number nor an expression; write {wrong[0]} = -5.0.")
    return dict(gains)


def _read(path: Path) -> Record:
    try:
        return read_toml(path)
    except FileNotFoundError as error:
        raise AuditError(f"There is no file {path}; check the path.") from error
    except OSError as error:
        raise AuditError(f"{path} cannot be read ({error.strerror}); name a TOML file.") from error
    except ValueError as error:
        raise AuditError(f"{path} is not a TOML file: {error}; write lines such as budget = 200.") from error


def write_options(settings: Settings, table: str | None) -> str:
    """Return the options as the text of a TOML file; those that were not given are left out.

    Examples
    --------
    >>> from scarce.audit.options import write_options
    >>> from scarce.audit.settings import Settings
    >>> print(write_options(Settings("fraud", budget="100/day", gains={"fn": "-amount"}), "/data/payments.csv"))
    # Repeat this audit with: scarce audit audit.toml
    table = "/data/payments.csv"
    target = "fraud"
    budget = "100/day"
    objective = "ap"
    explore = 0.0
    unlabelled = "leave_out"
    quick = false
    seed = 0
    <BLANKLINE>
    [gains]
    fn = "-amount"
    <BLANKLINE>
    """
    given = {"table": table, **asdict(settings)}
    parts = {name: given.pop(name) for name in ("gains", "types")}
    lines = ["# Repeat this audit with: scarce audit audit.toml"]
    lines += [f"{name} = {_toml(value)}" for name, value in given.items() if value not in (None, (), [])]
    for part, values in parts.items():
        if values:
            # A column may have any name, so that those which TOML would not take as they are stand in quotes.
            keys = {name: name if re.fullmatch(r"[\w-]+", name, re.ASCII) else _toml(name) for name in values}
            lines += ["", f"[{part}]", *(f"{keys[name]} = {_toml(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    # TOML writes texts, numbers and truth values as JSON does.
    return json.dumps(value, ensure_ascii=False)


def repeated_options(folder: Path) -> Keywords:
    """Return the options of an earlier audit, without its table, for an audit of another table.

    Where methods raced against a limit of time, those that came to its end are compared again.
    """
    if not (folder / OPTIONS).exists():
        raise AuditError(f"There is no {folder / OPTIONS}; name a folder that scarce audit wrote.")
    options = read_options(folder / OPTIONS)
    options.pop("table", None)
    if options.pop("minutes", None) is not None:
        options["methods"] = read_manifest(folder / MANIFEST)["methods"]
    return options
