"""The model at work in the service, and the change to another one without a dropped request."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import HTTPException
from scipy.special import expit, logit
from sqlalchemy import select
from sqlalchemy.orm import Session as Transaction

from scarce._errors import UserError
from scarce._files import sha256
from scarce._typing import FloatArray, Json
from scarce.audit.evidence import find_reasons
from scarce.audit.outlook import CERTAIN, shifted
from scarce.audit.score import dictionary_of
from scarce.engines import RowScorer, compile_model, load_model
from scarce.engines.saved import MANIFEST

from .money import Stakes, stakes_of_audit, stakes_of_request
from .schema import Model
from .store import Store

__all__ = ["EXACT", "Loaded", "ModelHolder", "load", "place_of"]

EXACT = 12
_MOST_STAKES = 64


class Loaded:
    """A model that is ready to score.

    Attributes
    ----------
    scorer : RowScorer
        The model.
    version : int or None
        Its number in the desk, None if its audit was not imported there.
    model : str
        The first digits of the hash of its manifest, which no other model has.
    threshold : float
        A row is called positive if its score is greater.
    columns : list of str
        The columns that a row should have.
    shift : float
        What the log-odds of its probabilities are moved by, as in the audit's queue.
    stakes : Stakes or None
        What the audit knows about money.
    """

    def __init__(self, scorer: RowScorer, version: int | None, model: str) -> None:
        self.scorer, self.version, self.model = scorer, version, model
        self.threshold = scorer.threshold
        self.columns = [column.name for column in scorer.reader.columns]
        self.shift = float(scorer.model.manifest.get("log_odds_shift") or 0.0)
        self.stakes: Stakes | None = stakes_of_audit(scorer.model)
        self._stakes: dict[Any, Stakes] = {}
        self._words = dictionary_of(scorer.model.manifest)
        self.written = str(scorer.model.manifest.get("written"))
        self.method = str(scorer.model.manifest.get("winner"))

    def probability(self, found: FloatArray) -> FloatArray:
        """Return probabilities as the audit's queue has them; without a shift they keep their bits."""
        return shifted(found, self.shift) if self.shift else found

    def probability_of_one(self, found: float) -> float:
        """Return the same for a single probability, without arrays."""
        if not self.shift:
            return found
        return float(expit(logit(min(max(found, CERTAIN), 1 - CERTAIN)) + self.shift))

    def stakes_for(self, gains: Any, check_cost: Any) -> Stakes:
        """Return the money that a request gives; the last ones are remembered."""
        try:
            # True equals 1, and only one of them is a number.
            key = tuple((name, type(value), value) for name, value in gains.items()), type(check_cost), check_cost
            known = self._stakes.get(key)
        except (AttributeError, TypeError):  # what is no object of numbers and texts is refused
            return stakes_of_request(gains, check_cost, self.scorer.model)
        if known is None:
            known = stakes_of_request(gains, check_cost, self.scorer.model)
            if len(self._stakes) >= _MOST_STAKES:
                self._stakes.clear()
            self._stakes[key] = known
        return known

    def explain(self, typed: Sequence[Any], most: int) -> list[list[Json]]:
        """Return the reasons of rows whose columns are typed: which columns raise the probability, and by how much.

        They are in the words of the audit's dictionary, and what that hides is no reason.
        """

        def probability(X: Any) -> FloatArray:
            return shifted(self.scorer.score_frame(X).probability, self.shift)

        found = find_reasons(probability, self.scorer.frame(typed), self.scorer.model.usual, hidden=self._words.hidden)
        return [
            [
                {
                    "column": reason.column,
                    "without": reason.without,
                    "probability": reason.probability,
                    "sentence": self._words.sentence(reason),
                }
                for reason in reasons[:most]
            ]
            for reasons in found
        ]


def place_of(transaction: Transaction, folder: Path) -> Path:
    """Return the folder of the audit that was imported last, or the one that is given where none was."""
    last = transaction.scalar(select(Model).order_by(Model.version.desc()).limit(1))
    return folder if last is None or not (Path(last.folder) / MANIFEST).exists() else Path(last.folder)


def load(store: Store, folder: Path) -> Loaded:
    """Load the model of the audit that was imported last, or that of a folder where none was."""
    with store.read() as transaction:
        place = place_of(transaction, folder)
        model = load_model(place)
        mark = sha256(place / MANIFEST)
        version = transaction.scalar(select(Model.version).where(Model.sha256 == mark))
    return Loaded(compile_model(model), version, mark[:EXACT])


class ModelHolder:
    """The model at work, None until one is loaded, and why there is none."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.now: Loaded | None = None
        self.because = "No model is loaded yet."
        self._lock = threading.Lock()

    def get(self) -> Loaded:
        """Return the model at work; a request asks once, so that all of its rows are scored by one model."""
        if self.now is None:
            raise HTTPException(503, self.because)
        return self.now

    def reload(self) -> Loaded:
        """Load a model beside the one at work, and switch to it once it is ready; on an error the old one stays."""
        with self._lock:
            try:
                new = load(self.store, self.folder)
            except UserError as error:
                self.because = f"There is no model to score with. {error}"
                raise
            self.now = new
        return new
