"""The rows of an audit that new ones are compared with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from scarce._errors import MonitorError
from scarce._typing import BoolArray, FloatArray, IntArray, Json
from scarce.audit.money import OUTCOMES
from scarce.audit.reference import OWN
from scarce.engines.saved import REFERENCE, SavedModel

__all__ = ["Reference", "load_reference"]


@dataclass(frozen=True)
class Reference:
    """Tested rows of an audit.

    Attributes
    ----------
    X : DataFrame
        The columns that the model learned from.
    score, probability : ndarray
        Honest ones, by models that had not seen the row.
    outcome : ndarray
        1 for positive, 0 for negative.
    weight : ndarray
        How many tested rows each stands for.
    rank : ndarray
        The share of its fold that the row outranks.
    drawn : ndarray of bool
        Whether the row belongs to the random sample of all tested rows.
    fold : ndarray
        The test part of the row; each has a model of its own.
    time, amount, gains : Series, ndarray and ndarray of shape (n_rows, 4), or None
        When the row happened, the money at stake, and what each outcome (tp, fp, tn, fn) earns.
    about : dict
        Figures of all tested rows: their number, the positives, the share of unknown categories.
    """

    X: pd.DataFrame
    score: FloatArray
    probability: FloatArray
    outcome: IntArray
    weight: FloatArray
    rank: FloatArray
    drawn: BoolArray
    fold: IntArray
    time: pd.Series | None
    amount: FloatArray | None
    gains: FloatArray | None
    about: Json

    @property
    def expected(self) -> tuple[float, float]:
        """The mean probability of the tested rows, and its standard error.

        The model in use is another one than those of the test parts, whose means differ by more than their rows
        explain, so that the standard deviation between them counts too.
        """
        share = self.weight / self.weight.sum()
        mean = float(share @ self.probability)
        parts = np.bincount(self.fold, share * self.probability) / np.maximum(np.bincount(self.fold, share), 1e-12)
        parts = parts[np.bincount(self.fold) > 0]
        between = float(parts.std(ddof=1)) if len(parts) > 1 else 0.0
        return mean, float(np.hypot(np.sqrt(share**2 @ (self.probability - mean) ** 2), between))

    def queue(self, share: float) -> IntArray:
        """Return the rows of highest rank, a share of all tested rows, in the order of time, or of the file."""
        order = np.argsort(-self.rank, kind="stable")
        before = np.cumsum(self.weight[order]) - self.weight[order]
        first = np.sort(order[before < share * self.weight.sum() - 1e-9])
        return first if self.time is None else first[np.argsort(self.time.to_numpy()[first], kind="stable")]


def load_reference(folder: Path, model: SavedModel) -> Reference:
    """Read the reference rows of an audit's folder."""
    file = (folder if folder.is_dir() else folder.parent) / REFERENCE
    if not file.exists():
        raise MonitorError(f"There is no {file}, which audits of earlier versions did not write; run the audit again.")
    try:
        table = pq.read_table(file)
        about = json.loads(table.schema.metadata[b"scarce"])
        frame = table.to_pandas()
        own = {
            name: frame.pop(OWN + name)
            for name in ("score", "probability", "outcome", "weight", "rank", "drawn", "fold")
        }
        time, amount = (frame.pop(OWN + name) if OWN + name in frame else None for name in ("time", "amount"))
        gains = frame[[OWN + name for name in OUTCOMES]].to_numpy() if OWN + "tp" in frame else None
        X = frame[[column.name for column in model.columns]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MonitorError(f"{file} is damaged; run the audit again.") from error
    score, probability, outcome, weight, rank, drawn, fold = (column.to_numpy() for column in own.values())
    money = None if amount is None else amount.to_numpy()
    return Reference(X, score, probability, outcome, weight, rank, drawn, fold, time, money, gains, about)
