"""The error probabilities of γk-NN as functions of γ: Propositions 1 and 2 of its paper, for a data set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state, check_X_y

from scarce._typing import BoolArray, FloatArray, IntArray, Label, RandomState
from scarce.metrics._checks import check_labels

__all__ = ["GammaErrors", "gamma_errors"]

_MOST_ROWS = 1_000  # of each class whose probabilities are averaged
_AT_ONCE = 200


class GammaErrors(NamedTuple):
    """The probabilities of errors, one for each γ.

    Attributes
    ----------
    gamma : ndarray of shape (n_gammas,)
    false_negative : ndarray of shape (n_gammas,)
        The mean probability of a positive row to be taken for negative.
    false_positive : ndarray of shape (n_gammas,)
        The mean probability of a negative row to be taken for positive.
    """

    gamma: FloatArray
    false_negative: FloatArray
    false_positive: FloatArray


def gamma_errors(
    X: ArrayLike,
    y: ArrayLike,
    gamma: ArrayLike | None = None,
    *,
    n_positive: int | None = None,
    n_negative: int | None = None,
    pos_label: Label = None,
    random_state: RandomState = None,
) -> GammaErrors:
    """Return how γ moves the errors of the nearest neighbour rule, by Propositions 1 and 2 of the paper of γk-NN.

    A positive row is taken for negative if no positive row is nearer than ε/γ, where ε is the distance to its nearest
    negative row. If each of m positive rows is that near with probability P, the chance is (1 - P)^m; P is the share of
    the other positive rows. For a negative row the radius is γε, with its nearest positive row at ε. The first falls
    and the second rises as γ falls, and the first slower, since positive rows are few: so γ is chosen below 1.

    The distance ε is taken as it is, as the paper does, and only the rows of the row's own class are thought of as
    drawn anew. Of each class at most 1,000 rows are averaged over.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Two classes, such as 0 and 1.
    gamma : array-like of float, optional
        Values above 0; 0.05 to 1.5 in steps of 0.05 if not given.
    n_positive, n_negative : int, optional
        The numbers m of rows that are drawn; those of the data if not given.
    pos_label : label, default=None
        The class to find; None is 1.
    random_state : int, RandomState or None, default=None
        For the rows to average over.

    Returns
    -------
    GammaErrors

    See Also
    --------
    GammaKNN : The rule, which chooses γ by the errors that it makes.

    References
    ----------
    R. Viola, R. Emonet, A. Habrard, G. Metzler, S. Riou and M. Sebban, "An adjusted nearest neighbor algorithm
    maximizing the F-measure from imbalanced data", ICTAI 2019, Section IV.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from scarce.neighbors.theory import gamma_errors
    >>> X, y = make_classification(500, 4, weights=[0.9], class_sep=0.5, random_state=0)
    >>> errors = gamma_errors(X, y, [0.5, 1.0])
    >>> bool(errors.false_negative[0] < errors.false_negative[1])
    True
    >>> bool(errors.false_positive[0] > errors.false_positive[1])
    True
    """
    rows_of, labels = check_X_y(X, y)
    (positive,) = check_labels(pos_label, labels)
    gammas = np.arange(0.05, 1.525, 0.05) if gamma is None else np.asarray(gamma, dtype=np.float64)
    if gammas.ndim != 1 or not len(gammas) or not (np.isfinite(gammas) & (gammas > 0)).all():
        raise ValueError(f"`gamma` holds numbers above 0; it was {gamma!r}.")
    for name, count in (("positive", positive.sum()), ("negative", (~positive).sum())):
        if count < 2:
            raise ValueError(f"The errors need at least 2 rows of each class; there is {count} {name} row.")
    random = check_random_state(random_state)
    of = {}
    for own, power, drawn in ((positive, -1, n_positive), (~positive, 1, n_negative)):
        rows = np.flatnonzero(own)
        if len(rows) > _MOST_ROWS:
            rows = np.sort(random.choice(rows, _MOST_ROWS, replace=False))
        of[power] = _no_row_of_the_same_class(
            rows_of, own, rows, gammas**power, int(own.sum()) if drawn is None else drawn
        )
    return GammaErrors(gammas, of[-1], of[1])


def _no_row_of_the_same_class(X: FloatArray, own: BoolArray, rows: IntArray, scales: FloatArray, m: int) -> FloatArray:
    """Return the mean chance that none of m rows of a class is within `scale` times the nearest row of the other."""
    chance = np.zeros(len(scales))
    others = own.sum() - 1
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        nearest = cdist(X[part], X[~own]).min(axis=1)
        same = np.sort(cdist(X[part], X[own]), axis=1)[:, 1:]  # the first is the row itself
        for place, distance in enumerate(same):
            near = np.searchsorted(distance, nearest[place] * scales, side="left")
            chance += (1 - near / others) ** m
    return np.asarray(chance / len(rows))
