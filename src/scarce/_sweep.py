"""All thresholds of a list of scores, and the checks of what comes with it."""

from __future__ import annotations

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from scarce._messages import listed_rows
from scarce._typing import BoolArray, FloatArray, GainsLike, MatrixLike

_OUTCOMES = ("tp", "fp", "tn", "fn")
_FOUR_COLUMNS = "give it the columns tp, fp, tn and fn, each once, in any order."


class Sweep:
    """All thresholds of a sorted score list, with the confusion counts at each.

    Threshold ``g`` calls the ``g`` highest groups of equal scores positive: threshold 0 none, the last one all.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        The rows by descending score.
    ends : ndarray of shape (n_thresholds,)
        How many rows of `order` each threshold calls positive.
    positive, weight : ndarray of shape (n_samples,)
        Truth and weight of the rows, in their original order.
    gains, period, groups : array-like or None
        What the rows' outcomes are worth, when they happened and to whom they belong, as given.
    tp, fp, tn, fn : ndarray of shape (n_thresholds,)
        Weighted confusion counts.
    upper, lower : ndarray of shape (n_thresholds,)
        The lowest score called positive and the highest called negative: every number t with
        ``lower <= t < upper`` makes the same decisions.
    """

    def __init__(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        gains: ArrayLike | None = None,
        period: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> None:
        self.gains, self.period, self.groups = gains, period, groups
        score = _check_scores(scores)
        self.positive = _check_truth(y)
        check_consistent_length(score, self.positive)
        self.weight = check_weight(sample_weight, len(score))
        self.order = np.argsort(-score, kind="stable")
        ranked = score[self.order]
        self.ends = np.concatenate(([0], np.flatnonzero(np.diff(ranked)) + 1, [len(ranked)]))
        gained = np.where(self.positive, self.weight, 0.0)
        self.tp = self.at_thresholds(gained)
        self.fp = self.at_thresholds(self.weight - gained)
        if not (self.tp[-1] > 0 and self.fp[-1] > 0):
            raise ValueError(
                "Choosing a threshold needs rows of both classes with a weight above 0; "
                f"y has {int(self.positive.sum())} positive of {len(score)} rows."
            )
        self.fn = self.tp[-1] - self.tp
        self.tn = self.fp[-1] - self.fp
        self.upper = np.concatenate(([np.inf], ranked[self.ends[1:] - 1]))
        self.lower = np.concatenate((ranked[self.ends[:-1]], [-np.inf]))

    def at_thresholds(self, amount: FloatArray) -> FloatArray:
        """Sum `amount`, one figure a row, over the rows that each threshold calls positive."""
        return np.concatenate(([0.0], np.cumsum(amount[self.order])))[self.ends]

    def thresholds(self, low: float = -np.inf, high: float = np.inf) -> FloatArray:
        """Return the thresholds as numbers, midway between neighbouring scores, within ``(low, high]``.

        Where no number of the interval makes these decisions, it is NaN.
        """
        lower, upper = self.lower, self.upper
        middle = lower / 2 + upper / 2
        # Beyond the outermost scores there is no neighbour to be midway to.
        middle[0] = lower[0] if np.isposinf(high) else max(lower[0], high)
        middle[-1] = np.nextafter(upper[-1], -np.inf) if np.isneginf(low) else min(upper[-1], low)
        with np.errstate(invalid="ignore"):  # -inf + inf, where the interval has no lower end
            middle = np.minimum(np.where(middle <= low, low / 2 + upper / 2, middle), high)
        # Rounding can carry the middle of two adjacent floats onto the upper one, which would flip its rows.
        middle = np.where((middle < lower) | (middle >= upper), lower, middle)
        return np.where((lower <= high) & (low < middle), middle, np.nan)

    @property
    def tpr(self) -> FloatArray:
        """Sensitivity, which is recall, at each threshold."""
        return self.tp / self.tp[-1]

    @property
    def tnr(self) -> FloatArray:
        """Specificity at each threshold."""
        return self.tn / self.fp[-1]

    @property
    def precision(self) -> FloatArray:
        """Precision at each threshold, NaN where nothing of any weight is called positive."""
        called = self.tp + self.fp
        return np.divide(self.tp, called, out=np.full_like(called, np.nan), where=called > 0)


def gains_at(gains: GainsLike, X: MatrixLike) -> ArrayLike:
    """Return gains as a table: a function of the rows, such as :class:`~scarce.profit.Gains`, is called with them."""
    return gains(X) if callable(gains) else gains


def check_gains(gains: ArrayLike, n_samples: int) -> FloatArray:
    """Return gains as an (n_samples, 4) array of finite floats, with columns tp, fp, tn, fn, a frame's by name."""
    given = _by_name(gains) if nw.dependencies.is_into_dataframe(gains) else gains
    table = check_array(given, dtype=np.float64, ensure_2d=False, ensure_all_finite=False, input_name="gains")
    if table.shape == (4,):
        refuse_not_finite(table, "Give a finite number.")
        return np.broadcast_to(table, (n_samples, 4))
    if table.shape != (n_samples, 4):
        raise ValueError(
            f"gains must have four columns (tp, fp, tn, fn) and {n_samples} rows, or be four "
            f"numbers; got shape {table.shape}."
        )
    refuse_not_finite(table, "Fill it, or leave such rows out of X, y and the gains alike.")
    return table


def _by_name(gains: MatrixLike) -> FloatArray:
    """Return the gains of a frame in the order of `_OUTCOMES`; that of its columns may be another one."""
    try:
        frame = nw.from_native(gains, eager_only=True)
        names = [str(name) for name in frame.columns]
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"The data frame of gains has duplicate columns; {_FOUR_COLUMNS}") from error
    for problem, found in (
        ("lacks the column", [name for name in _OUTCOMES if name not in names]),
        ("holds the unknown column", [name for name in names if name not in _OUTCOMES]),
    ):
        if found:
            raise ValueError(f"The frame of gains {problem} {', '.join(found)}; {_FOUR_COLUMNS}")
    return np.column_stack([frame.get_column(name).to_numpy() for name in _OUTCOMES])


def refuse_not_finite(gains: FloatArray, what_to_do: str) -> None:
    """Raise an error that names the outcome and the rows without a finite gain, if there are any."""
    if not (missing := ~np.isfinite(gains)).any():
        return
    column = int(missing.reshape(-1, 4).any(axis=0).argmax())
    where = f" in {listed_rows(np.flatnonzero(missing[:, column]))}" if gains.ndim == 2 else ""
    raise ValueError(f"The gain {_OUTCOMES[column]} is missing or infinite{where}. {what_to_do}")


def _check_scores(scores: ArrayLike) -> FloatArray:
    score = column_or_1d(scores, dtype=np.float64)
    if not len(score) or not np.isfinite(score).all():
        raise ValueError("scores must be finite numbers, at least one of them.")
    return score


def _check_truth(y: ArrayLike) -> BoolArray:
    truth = column_or_1d(y)
    positive = truth == 1
    if not np.isin(truth[~positive], (0, -1)).all():
        raise ValueError("y must hold booleans, 0 and 1, or -1 and 1, with 1 for positive.")
    return positive


def check_weight(sample_weight: ArrayLike | None, n_samples: int) -> FloatArray:
    """Return one weight a row; 1 where none are given."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = check_array(sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight")
    if weight.shape != (n_samples,) or weight.min() < 0 or not weight.any():
        raise ValueError(f"sample_weight must hold {n_samples} non-negative numbers, at least one of them positive.")
    return weight
