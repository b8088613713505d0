"""Columns that a dictionary hides: the desk links cases by them, but shows neither their names nor their values."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Sequence

from sqlalchemy.orm import Session as Transaction

from scarce._typing import Json

from .schema import Meta

__all__ = ["Hiding", "hidden_columns"]

_SALT = "salt of hidden values"
_HIDDEN = "hidden columns"
_DIGITS = 8


def hidden_columns(transaction: Transaction) -> set[str]:
    """Return the columns that the dictionary of any audit of the desk hides."""
    found = transaction.get(Meta, _HIDDEN)
    return set() if found is None else set(json.loads(found.value))


class Hiding:
    """The hidden columns of an audit, with the marks that stand for their values.

    A value has the same mark in all audits of a desk, so that cases stay linked; the marks of another desk are others.

    Parameters
    ----------
    transaction : Session
        Of the desk, which keeps the salt of the marks.
    hidden : collection of str
        The columns.
    """

    def __init__(self, transaction: Transaction, hidden: Collection[str]) -> None:
        self.hidden = set(hidden)
        salt = transaction.get(Meta, _SALT)
        if salt is None and hidden:
            salt = Meta(name=_SALT, value=secrets.token_hex(16))
            transaction.add(salt)
        if hidden:
            every = sorted(hidden_columns(transaction) | self.hidden)
            transaction.merge(Meta(name=_HIDDEN, value=json.dumps(every)))
        self._salt = "" if salt is None else salt.value

    def column(self, name: str) -> str:
        """Return what a column is called on the desk."""
        return f"hidden {self._mark(name)[:2]}" if name in self.hidden else name

    def value(self, column: str, value: str) -> str:
        """Return what stands for a value of a column."""
        return self._mark(f"{column}={value}") if column in self.hidden else value

    def case(self, case: Json, time: str | None, amount: str | None) -> Json:
        """Return a case without what is hidden; `time` and `amount` are the columns of these."""
        if not self.hidden:
            return case
        entities = {self.column(name): self.value(name, value) for name, value in case["entities"].items()}
        return {
            **case,
            "entities": entities,
            "time": None if time in self.hidden else case["time"],
            "amount": None if amount in self.hidden else case["amount"],
            "money": None if amount in self.hidden else case["money"],
        }

    def columns(self, names: Sequence[str]) -> list[str]:
        """Return what columns are called on the desk."""
        return [self.column(name) for name in names]

    def _mark(self, text: str) -> str:
        return hashlib.sha256(f"{self._salt} {text}".encode()).hexdigest()[:_DIGITS]
