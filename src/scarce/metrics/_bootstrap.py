"""Bootstrap confidence intervals of figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import average_precision_score
from sklearn.utils import check_consistent_length, check_random_state

from scarce._sweep import check_weight
from scarce._typing import IntArray
from scarce.metrics._checks import check_column, mass_of, rows_by_code


class ConfidenceInterval(NamedTuple):
    """A figure and the ends of its confidence interval."""

    estimate: float
    low: float
    high: float


def bootstrap_interval(
    metric: Callable[..., float],
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    stratified: bool = True,
    clusters: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
    **arrays: ArrayLike | None,
) -> ConfidenceInterval:
    """Bootstrap confidence interval of any metric.

    Parameters
    ----------
    metric : callable
        Called as ``metric(y_true, y_score, **arrays)``. Set what is not one figure a row beforehand:
        ``functools.partial(precision_at_k, k=100)``.
    y_true : array-like of shape (n_samples,)
        The truth, with at least two rows of each class.
    y_score : array-like of shape (n_samples,)
        Scores or predictions, whichever `metric` takes.
    confidence : float
        The nominal coverage of the interval.
    n_resamples : int
        How often to resample.
    stratified : bool
        Whether each resample holds as many rows of each class as the data. If not, the number of positives
        varies as if new data were collected, which makes the interval of a precision wider; resamples without
        one of the classes are drawn again.
    clusters : array-like of shape (n_samples,), optional
        The customer, card or day of each row. Whole clusters are then drawn instead of rows, since the rows of one
        customer or of one day are alike: an interval that takes them for independent is too narrow. `stratified` is
        not used; resamples without one of the classes are drawn again.
    random_state : int, RandomState or None
        Seed of the resampling.
    **arrays
        What comes with the rows and is resampled with them: `sample_weight`, `gains`, `value`.

    Returns
    -------
    ConfidenceInterval
        The figure of the data and the ends of its interval: `estimate`, `low`, `high`.

    Notes
    -----
    The interval lies between two percentiles of the resampled figures. It stays within the range of the metric
    and needs nothing but the resamples, whereas the bias-corrected one (BCa) would evaluate the metric once
    more for every row. With ten positives or fewer, or with few clusters, it covers the truth less often than its
    confidence.

    A cluster that is drawn twice is two clusters: the `groups` of :func:`group_precision_at_k` get names of their own
    for each copy if ``clusters=groups``, and so does its `period` if ``clusters=period``.

    Examples
    --------
    >>> from functools import partial
    >>> from scarce.metrics import bootstrap_interval, recall_at_k
    >>> y, score = [1, 1, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> bootstrap_interval(partial(recall_at_k, k=0.5), y, score, confidence=0.9).estimate
    0.75
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be greater than 0 and less than 1, got {confidence!r}.")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples!r}.")
    truth, score = check_column(y_true, "y_true"), check_column(y_score, "y_score")
    check_consistent_length(truth, score)
    given = {name: np.asarray(array) for name, array in arrays.items() if array is not None}
    for name, array in given.items():
        if array.shape[:1] != truth.shape:
            raise ValueError(
                f"{name} must hold one entry for each of the {len(truth)} rows. Set other arguments "
                f"beforehand, by functools.partial(metric, {name}=...)."
            )
    # Resamples of sorted rows come out sorted, which makes a metric's own sort fast.
    order = np.argsort(score, kind="stable")
    if "sample_weight" in given:
        order = order[given["sample_weight"][order] != 0]
    truth, score = truth[order], score[order]
    given = {name: array[order] for name, array in given.items()}

    random = check_random_state(random_state)
    if clusters is None:
        draws, renamed = _draws(truth, stratified, random), []
    else:
        check_consistent_length(order, clusters)
        cluster = np.unique(check_column(clusters, "clusters"), return_inverse=True)[1][order]
        draws = _cluster_draws(truth, cluster, random)
        renamed = [name for name in ("groups", "period") if name in given and _same_partition(given[name], cluster)]

    def figure(rows: IntArray, copy: IntArray) -> float:
        drawn = {name: array[rows] for name, array in given.items()}
        drawn |= {name: _apart(drawn[name], copy) for name in renamed}
        return metric(truth[rows], score[rows], **drawn)

    everything = np.arange(len(truth))
    estimate = float(figure(everything, np.zeros_like(everything)))
    resampled = _average_precision(truth, score, **given) if metric is average_precision_score else figure
    figures = [resampled(rows, copy) for rows, copy in islice(draws, n_resamples)]
    low, high = np.quantile(figures, [(1 - confidence) / 2, (1 + confidence) / 2])
    return ConfidenceInterval(estimate, float(low), float(high))


def _draws(truth: NDArray[Any], stratified: bool, random: np.random.RandomState) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield resamples without end: sorted rows, and which copy of its cluster each is from, here always the first."""
    classes, code, count = np.unique(truth, return_inverse=True, return_counts=True)
    if count.min() < 2:
        raise ValueError(
            f"y_true holds a single row of class {classes[count.argmin()].item()!r}, and an interval "
            "needs two of each class. Report the figure without an interval."
        )
    strata = [np.flatnonzero(code == c) for c in range(len(classes))] if stratified else [np.arange(len(code))]
    while True:
        rows = np.concatenate([rows[random.randint(len(rows), size=len(rows))] for rows in strata])
        if np.bincount(code[rows], minlength=len(classes)).all():
            yield np.sort(rows), np.zeros_like(rows)


def _cluster_draws(
    truth: NDArray[Any], cluster: IntArray, random: np.random.RandomState
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield resamples of whole clusters without end: sorted rows, and which copy of its cluster each is from."""
    members = rows_by_code(cluster)
    if len(members) < 2:
        raise ValueError("clusters holds a single value, and an interval needs two clusters at least.")
    classes, code = np.unique(truth, return_inverse=True)
    if len(classes) < 2:
        raise ValueError("y_true holds a single class, and an interval needs rows of both.")
    while True:
        drawn = random.randint(len(members), size=len(members))
        rows = np.concatenate([members[c] for c in drawn])
        if len(np.unique(code[rows])) == len(classes):
            nth = np.zeros(len(drawn), dtype=np.intp)
            for place in rows_by_code(drawn):
                nth[place] = np.arange(len(place))
            copy = np.repeat(nth, [len(members[c]) for c in drawn])
            order = np.argsort(rows, kind="stable")
            yield rows[order], copy[order]


def _same_partition(names: NDArray[Any], cluster: IntArray) -> bool:
    """Return whether names tell rows apart just as clusters do."""
    name = np.unique(names, return_inverse=True)[1]
    pairs = np.unique(np.column_stack((name, cluster)), axis=0)
    return len(pairs) == len(np.unique(name)) == len(np.unique(cluster))


def _apart(names: NDArray[Any], copy: IntArray) -> IntArray:
    """Return new names, in the order of the old ones, in which the copies of a name differ."""
    return np.unique(np.column_stack((np.unique(names, return_inverse=True)[1], copy)), axis=0, return_inverse=True)[1]


def _average_precision(
    truth: NDArray[Any], score: NDArray[Any], sample_weight: ArrayLike | None = None
) -> Callable[[IntArray, IntArray], float]:
    """Return scikit-learn's average precision as a function of the rows drawn, of rows in ascending order.

    To validate, sort and group every resample anew takes several times as long.
    """
    weight = check_weight(sample_weight, len(truth))
    positive = np.where(truth == 1, weight, 0.0)
    mass_of(positive > 0, weight, "positive")
    first_of_ties = np.concatenate(([0], np.flatnonzero(np.diff(score)) + 1))

    def figure(rows: IntArray, _: IntArray) -> float:
        times = np.bincount(rows, minlength=len(truth))
        caught = np.add.reduceat(times * positive, first_of_ties)[::-1]
        seen = np.cumsum(np.add.reduceat(times * weight, first_of_ties)[::-1])
        precision = np.divide(np.cumsum(caught), seen, out=np.zeros_like(seen), where=seen > 0)
        return float((caught * precision).sum() / caught.sum())

    return figure
