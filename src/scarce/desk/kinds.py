"""The kind that a case looks like: the decided cases as classes of CCNND, which come and go with the verdicts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Transaction

from scarce._typing import FloatArray
from scarce.neighbors import CCNND

from .schema import NEGATIVE, POSITIVE, Case, CaseData, CaseEntity, Model, Verdict

__all__ = ["Kinds", "Proposal"]

# The cases whose cells say which columns are numbers, what their spread is, and which categories there are.
_SAMPLE: Final = 2_000
_MOST_CATEGORIES: Final = 30
# A class of one case says too little.
_FEWEST: Final = 2
_SHOWN: Final = 3
_CHUNK: Final = 400


@dataclass(frozen=True)
class Proposal:
    """The class of decided cases that a case fits best, and the nearest of them.

    Attributes
    ----------
    kind : str or None
        A kind of positives; None for positives without a kind, or for cleared cases.
    cleared : bool
        Whether it looks like cleared cases.
    nearest : list of (int, str)
        Numbers and names of the nearest cases of the class.
    """

    kind: str | None
    cleared: bool
    nearest: list[tuple[int, str]]


class Kinds:
    """Look-alikes among the decided cases, kept up to date with the verdicts.

    Each kind of positives is a class, and so are the cleared cases; a class appears with its first case and goes with
    its last. What is held depends on the verdicts that hold, whatever the order in which they came.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._models = -1

    def propose(self, transaction: Transaction, case_id: int) -> Proposal | None:
        """Return what a case looks like; None while there are not two classes of two cases."""
        with self._lock:
            self._update(transaction)
            others = {number: label for number, label in self._label.items() if number != case_id}
            large = {label for label, size in Counter(others.values()).items() if size >= _FEWEST}
            if len(large) < 2:
                return None
            [row] = self._encoder.encode(_cells(transaction, [case_id])).values()
            found = str(self._without(case_id, large).predict([row])[0])
            own = sorted((float(np.linalg.norm(self._rows[i] - row)), i) for i in others if others[i] == found)
        names = {i: transaction.get_one(Case, i).name for _, i in own[:_SHOWN]}
        return Proposal(found[1:] or None, found == "-", list(names.items()))

    def _update(self, transaction: Transaction) -> None:
        """Learn from the entries since the last time, or from all where an audit was imported in between."""
        models = transaction.scalar(select(func.count()).select_from(Model)) or 0
        if models != self._models:
            self._models, self._entry = models, 0
            self._encoder = _Encoder(transaction)
            self._model = CCNND(calibration=None)
            self._label: dict[int, str] = {}
            self._place: dict[int, int] = {}
            self._rows: dict[int, FloatArray] = {}
            self._arrived = 0
        last = transaction.scalar(select(func.max(Verdict.id))) or 0
        if last == self._entry:
            return
        touched = list(transaction.scalars(select(Verdict.case_id).where(Verdict.id > self._entry).distinct()))
        for number, row in sorted(self._encoder.encode(_cells(transaction, touched)).items()):
            case = transaction.get_one(Case, number)
            self._forget(number)
            if case.status in (POSITIVE, NEGATIVE):
                self._learn(number, row, f"+{case.kind or ''}" if case.status == POSITIVE else "-")
        self._entry = last

    def _learn(self, number: int, row: FloatArray, label: str) -> None:
        with warnings.catch_warnings():
            # A class of one case has none to be compared with; such classes are not proposed.
            warnings.filterwarnings("ignore", message="With n_neighbors")
            self._model.partial_fit([row], [label])
        self._label[number], self._rows[number], self._place[number] = label, row, self._arrived
        self._arrived += 1

    def _forget(self, number: int) -> None:
        if number in self._place:
            self._model.forget(self._place.pop(number))
            del self._label[number], self._rows[number]

    def _without(self, case_id: int, large: set[str]) -> CCNND:
        """Return the model, without the case itself and without classes that are too small."""
        if case_id not in self._label and large == set(self._label.values()):
            return self._model
        kept = [i for i, label in self._label.items() if i != case_id and label in large]
        rows, labels = np.array([self._rows[i] for i in kept]), np.array([self._label[i] for i in kept])
        return CCNND(calibration=None).partial_fit(rows, labels)


class _Encoder:
    """The cells of cases as numbers: numeric columns in standard deviations, categories as places of their own.

    Columns by which a case is identified, and entities, are left out: links speak of these.
    """

    def __init__(self, transaction: Transaction) -> None:
        query = select(Case.id, Case.identity).order_by(Case.id).limit(_SAMPLE)
        identities = {row.id: row.identity for row in transaction.execute(query)}
        named = set(transaction.scalars(select(CaseEntity.column).distinct()))
        named |= {name for identity in identities.values() for name in identity}
        by_title: dict[str, list[str]] = {}
        for cells in _cells(transaction, identities).values():
            for title, value in cells.items():
                by_title.setdefault(title, []).append(value)
        self.numbers: dict[str, tuple[float, float]] = {}
        self.categories: dict[str, dict[str, int]] = {}
        for title, values in by_title.items():
            if title in named:
                continue
            read = np.array([_number(value) for value in values])
            known = read[np.isfinite(read)]
            if len(known) >= 0.9 * len(values) > 0:
                self.numbers[title] = float(known.mean()), float(known.std()) or 1.0
            elif len(set(values)) <= _MOST_CATEGORIES:
                self.categories[title] = {value: place for place, value in enumerate(sorted(set(values)))}

    def encode(self, cases: Mapping[int, Mapping[str, str]]) -> dict[int, FloatArray]:
        """Return a row of numbers for each case; what is missing or new is at the usual value."""
        return {number: self._row(cells) for number, cells in cases.items()}

    def _row(self, cells: Mapping[str, str]) -> FloatArray:
        parts: list[NDArray[np.float64]] = [np.zeros(1)]
        for title, (mean, spread) in self.numbers.items():
            parts.append(np.nan_to_num(np.array([(_number(cells.get(title, "")) - mean) / spread])))
        for title, places in self.categories.items():
            part = np.zeros(len(places))
            if cells.get(title) in places:
                # Two different categories are 1 apart.
                part[places[cells[title]]] = np.sqrt(0.5)
            parts.append(part)
        return np.concatenate(parts)


def _cells(transaction: Transaction, cases: Iterable[int]) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    numbers = list(cases)
    for start in range(0, len(numbers), _CHUNK):
        some = numbers[start : start + _CHUNK]
        query = select(CaseData.case_id, CaseData.data).where(CaseData.case_id.in_(some))
        for number, data in transaction.execute(query):
            found[number] = {cell["title"]: cell["value"] for cell in data["cells"]}
    return found


def _number(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return float("nan")
