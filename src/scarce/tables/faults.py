"""Faults of a table, all in one message."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scarce._errors import TableError, UserError
from scarce._messages import listed
from scarce._typing import Frame

__all__ = ["gather", "missing_columns", "raise_faults", "require_columns"]


def raise_faults(faults: Sequence[str], error: type[UserError] = TableError) -> None:
    """Raise one error that names all faults; without faults do nothing."""
    different = list(dict.fromkeys(faults))
    if len(different) == 1:
        raise error(different[0])
    if different:
        raise error("\n".join([f"There are {len(different)} faults:", *(f"* {fault}" for fault in different)]))


def gather(*checks: Callable[[], Any]) -> list[Any]:
    """Make all checks and return their results, or raise the faults that they find in one message."""
    results: list[Any] = []
    errors: list[UserError] = []
    for check in checks:
        try:
            results.append(check())
        except UserError as error:
            errors.append(error)
    if errors:
        raise_faults([str(error) for error in errors], type(errors[0]))
    return results


def missing_columns(columns: Sequence[str], names: Iterable[str], parameter: str) -> list[str]:
    """Return a sentence for each name, given as `parameter`, that is no column; it proposes the nearest columns."""
    faults = []
    for name in names:
        if name not in columns:
            folded = {column.casefold(): column for column in columns}
            near = difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.5)
            hint = (
                f"did you mean {listed([folded[n] for n in near], ' or ')}?"
                if near
                else f"choose one of its columns {listed(list(columns))}."
            )
            faults.append(f"The table has no column {name!r} for `{parameter}`; {hint}")
    return faults


def require_columns(frame: Frame, names: Iterable[str], parameter: str) -> None:
    """Refuse column names that a frame does not have, given as `parameter`, and name the nearest that it has."""
    raise_faults(missing_columns(list(frame.columns), names, parameter))
