"""The dictionary of a table: the names, units and kinds that its owners give to columns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from scarce._errors import AuditError
from scarce._files import read_toml
from scarce._messages import listed
from scarce._typing import Cell
from scarce.tables import Kind

from .evidence import Reason

__all__ = ["ColumnEntry", "Dictionary", "read_dictionary"]

_KINDS = ("number", "category", "date")
_NUMBER = re.compile(r"[-+]?[\d,.]+(e[-+]?\d+)?")


@dataclass(frozen=True)
class ColumnEntry:
    """The words of a table's owners for one column.

    Attributes
    ----------
    title : str
        Its name for people; empty for the name in the table.
    unit : str
        What its numbers are measured in.
    kind : str
        What its cells are read as; empty to recognise it from the cells.
    hidden : bool
        Whether it is never named: not in the queue, nor in a case, nor in the report. It is learned from all the same.
    sensitive : bool
        Whether figures are compared between its values, so that nobody is treated worse unnoticed.
    """

    title: str = ""
    unit: str = ""
    kind: str = ""
    hidden: bool = False
    sensitive: bool = False


@dataclass(frozen=True)
class Dictionary:
    """The entries of a table's columns; a column without an entry is shown as it is."""

    entries: Mapping[str, ColumnEntry] = field(default_factory=dict)

    def __getitem__(self, column: str) -> ColumnEntry:
        return self.entries.get(column, ColumnEntry())

    def title(self, column: str) -> str:
        """Return the name of a column for people."""
        return self[column].title or column

    def show(self, column: str, text: str) -> str:
        """Return a value, already written as text, with its unit."""
        unit = self[column].unit
        return f"{text} {unit}" if unit and _NUMBER.fullmatch(text) else text

    def sentence(self, reason: Reason) -> str:
        """Write a reason in the words of the dictionary."""
        return reason.sentence(self.title(reason.column), self.show)

    def visible(self, columns: Iterable[str]) -> list[str]:
        """Return the columns that are not hidden, in their order."""
        return [name for name in columns if not self[name].hidden]

    def conceal(self, text: str) -> str:
        """Return a sentence in which quoted names of hidden columns are left out."""
        for name in self.hidden:
            text = text.replace(repr(name), "(hidden)")
        return text

    def with_made(self, sources: Mapping[str, Sequence[str]]) -> Dictionary:
        """Return the dictionary with columns that were made of others, such as the history of a card.

        They are named after the titles of these, and hidden if one of them is.
        """
        made = {}
        for name, of in sources.items():
            title = name
            for column in of:
                title = title.replace(column, self.title(column), 1)
            hidden = any(self[column].hidden for column in of)
            unit = self[of[-1]].unit if len(of) > 1 else ""
            made[name] = ColumnEntry(title, unit, hidden=hidden)
        return Dictionary({**self.entries, **made})

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds that were given, by column."""
        return {name: entry.kind for name, entry in self.entries.items() if entry.kind}  # type: ignore[misc]

    @property
    def hidden(self) -> list[str]:
        """The columns whose values are not shown."""
        return [name for name, entry in self.entries.items() if entry.hidden]

    @property
    def sensitive(self) -> list[str]:
        """The columns between whose values figures are compared."""
        return [name for name, entry in self.entries.items() if entry.sensitive]


def read_dictionary(path: str | os.PathLike[str]) -> Dictionary:
    r"""Read a dictionary of columns from a TOML file.

    Parameters
    ----------
    path : path
        A file with one table for each column, such as ``[amt]`` with ``title = "Amount"`` and ``unit = "€"``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scarce.audit.dictionary import read_dictionary
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "columns.toml"
    >>> _ = file.write_text('[amt]\ntitle = "Amount"\nunit = "€"\n', encoding="utf-8")
    >>> names = read_dictionary(file)
    >>> names.title("amt"), names.show("amt", "12.50"), names.title("shop")
    ('Amount', '12.50 €', 'shop')
    """
    name = Path(path).name
    try:
        given = read_toml(path)
    except OSError as error:
        raise AuditError(f"The dictionary {name} cannot be read ({error.strerror}); name a TOML file.") from error
    except ValueError as error:
        raise AuditError(
            f"The dictionary {name} is not TOML ({error}); "
            'write a part for each column, such as [amount] and under it title = "…".'
        ) from error
    return Dictionary({column: _entry(name, column, entry) for column, entry in given.items()})


def _entry(file: str, column: str, given: Cell) -> ColumnEntry:
    known = {f.name: type(f.default) for f in fields(ColumnEntry)}
    if not isinstance(given, dict):
        raise AuditError(
            f'In the dictionary {file}, {column!r} must be a part of its own: [{column}], then title = "…".'
        )
    for key, value in given.items():
        if key not in known:
            raise AuditError(
                f"In the dictionary {file}, column {column!r} has the entry {key!r}; "
                f"known ones are {listed(list(known))}."
            )
        if type(value) is not known[key]:
            wanted = "true or false" if known[key] is bool else "a text"
            raise AuditError(f"In the dictionary {file}, {key!r} of column {column!r} must be {wanted}, not {value!r}.")
    if given.get("kind") and given["kind"] not in _KINDS:
        raise AuditError(
            f"In the dictionary {file}, the kind of column {column!r} is {given['kind']!r}; "
            f"use one of {listed(_KINDS)}."
        )
    return ColumnEntry(**given)
