"""Tests of whether methods differ over many data sets, as Demšar (JMLR 2006) recommends, on one figure per set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2, f, norm, t, wilcoxon

from scarce._ranks import DECIMALS, critical_difference, mean_ranks, nemenyi
from scarce._typing import FloatArray, Json
from scarce.metrics import ConfidenceInterval
from scarce.metrics._holm import holm

__all__ = [
    "Ranking",
    "Record",
    "bonferroni_dunn",
    "bootstrap_clusters",
    "bootstrap_mean",
    "compare_pairs",
    "critical_difference",
    "holm",
    "mean_interval",
    "nemenyi",
    "rank_methods",
    "splits_interval",
    "wilcoxon_p",
    "win_tie_loss",
]


class Ranking(NamedTuple):
    """Mean ranks of methods over sets, and whether the methods differ.

    Attributes
    ----------
    ranks : ndarray of shape (n_methods,)
        The mean rank of each method; 1 is the best, ties share the mean of their places.
    friedman, friedman_p : float
        Friedman's statistic, without a correction for ties as the papers have it, and its p-value.
    iman_davenport, iman_davenport_p : float
        The less conservative F_F of Iman and Davenport, and its p-value.
    iman_davenport_critical : float
        What F_F must exceed at 5 %.
    """

    ranks: FloatArray
    friedman: float
    friedman_p: float
    iman_davenport: float
    iman_davenport_p: float
    iman_davenport_critical: float


class Record(NamedTuple):
    """On how many sets one method was better than, equal to and worse than another."""

    wins: int
    ties: int
    losses: int


def rank_methods(values: ArrayLike, *, lower_is_better: bool = False, alpha: float = 0.05) -> Ranking:
    """Rank the methods (columns) on each set (row), and test whether they differ.

    Parameters
    ----------
    values : array-like of shape (n_sets, n_methods)
        One figure for each set and method, such as the mean over splits.
    lower_is_better : bool, default=False
        Whether the smallest figure has rank 1.
    alpha : float, default=0.05
        The level of the critical value.

    Examples
    --------
    >>> from scarce.study.statistics import rank_methods
    >>> rank_methods([[0.9, 0.8, 0.7], [0.6, 0.6, 0.1]]).ranks.tolist()
    [1.25, 1.75, 3.0]
    """
    ranks = mean_ranks(values, lower_is_better=lower_is_better)
    n, k = np.shape(values)
    statistic = 12 * n / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4)
    left = n * (k - 1) - statistic
    # All sets agree on the order: no chance result is as extreme.
    ratio = (n - 1) * statistic / left if left > 1e-9 else np.inf
    freedom = k - 1, (k - 1) * (n - 1)
    return Ranking(
        ranks,
        float(statistic),
        float(chi2.sf(statistic, k - 1)),
        float(ratio),
        float(f.sf(ratio, *freedom)),
        float(f.ppf(1 - alpha, *freedom)),
    )


def bonferroni_dunn(n_methods: int, alpha: float = 0.05) -> float:
    """Return the critical value q of the test of Bonferroni and Dunn, which compares all others with one control.

    Examples
    --------
    >>> from scarce.study.statistics import bonferroni_dunn
    >>> round(bonferroni_dunn(5), 3)
    2.498
    """
    return float(norm.ppf(1 - alpha / (2 * (n_methods - 1))))


def wilcoxon_p(ours: ArrayLike, theirs: ArrayLike) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test over sets; zeros are split between the signs.

    Examples
    --------
    >>> from scarce.study.statistics import wilcoxon_p
    >>> wilcoxon_p([0.9, 0.8, 0.7, 0.6, 0.5], [0.8, 0.6, 0.4, 0.2, 0.0])
    0.0625
    """
    difference = (np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)).round(DECIMALS)
    if len(difference) == 0 or not difference.any():
        return 1.0
    # The exact distribution knows neither zeros nor ties.
    size = np.abs(difference)
    exact = len(difference) <= 25 and size.all() and len(np.unique(size)) == len(size)
    test = wilcoxon(difference, zero_method="zsplit", method="exact" if exact else "asymptotic")
    return float(test.pvalue)


def win_tie_loss(ours: ArrayLike, theirs: ArrayLike) -> Record:
    """Count the sets on which ours is larger, equal and smaller.

    Examples
    --------
    >>> from scarce.study.statistics import win_tie_loss
    >>> win_tie_loss([0.3, 0.2, 0.1], [0.2, 0.2, 0.2])
    Record(wins=1, ties=1, losses=1)
    """
    difference = (np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)).round(DECIMALS)
    return Record(int((difference > 0).sum()), int((difference == 0).sum()), int((difference < 0).sum()))


def bootstrap_mean(
    values: ArrayLike, *, confidence: float = 0.95, n_resamples: int = 2_000, random_state: int = 0
) -> ConfidenceInterval:
    """Return the mean and a percentile interval of it, from resampling the values.

    Examples
    --------
    >>> from scarce.study.statistics import bootstrap_mean
    >>> interval = bootstrap_mean([0.1, 0.2, 0.3, 0.4])
    >>> interval.low < interval.estimate < interval.high
    True
    """
    sample = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(random_state)
    means = rng.choice(sample, (n_resamples, len(sample))).mean(axis=1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return ConfidenceInterval(float(sample.mean()), float(low), float(high))


def bootstrap_clusters(
    values: ArrayLike,
    clusters: Sequence[str],
    *,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    random_state: int = 0,
) -> ConfidenceInterval:
    """Return the mean and a percentile interval of it, from resampling whole clusters of values.

    Sets that come from one source table are alike: taking them for independent makes an interval too narrow.

    Examples
    --------
    >>> from scarce.study.statistics import bootstrap_clusters
    >>> interval = bootstrap_clusters([0.1, 0.1, 0.1, 0.5], ["yeast", "yeast", "yeast", "glass"])
    >>> [round(end, 3) for end in (interval.estimate, interval.low, interval.high)]
    [0.2, 0.1, 0.5]
    """
    sample = np.asarray(values, dtype=np.float64)
    code = np.unique(np.asarray(clusters), return_inverse=True)[1]
    count, total = np.bincount(code), np.bincount(code, weights=sample)
    drawn = np.random.default_rng(random_state).integers(len(count), size=(n_resamples, len(count)))
    means = total[drawn].sum(axis=1) / count[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return ConfidenceInterval(float(sample.mean()), float(low), float(high))


def mean_interval(values: ArrayLike, *, confidence: float = 0.95) -> ConfidenceInterval:
    """Return the mean of values and its interval by Student's t, for one figure a set.

    Examples
    --------
    >>> from scarce.study.statistics import mean_interval
    >>> [round(end, 3) for end in mean_interval([0.1, 0.2, 0.3, 0.4])]
    [0.25, 0.045, 0.455]
    """
    sample = np.asarray(values, dtype=np.float64)
    error = sample.std(ddof=1) / np.sqrt(len(sample))
    return _student(float(sample.mean()), float(error), len(sample) - 1, confidence)


def splits_interval(
    by_set: Sequence[Sequence[float]], overlap: Sequence[float], *, confidence: float = 0.95
) -> ConfidenceInterval:
    """Return the mean over sets of the means of their splits, and an interval for these sets.

    Training rows of different splits are largely the same, so that their figures are alike, and the variance of their
    mean is larger than that of independent figures. It is corrected as Nadeau and Bengio do (Machine Learning 2003).

    Parameters
    ----------
    by_set : sequence of sequences
        The figures of the splits of each set, at least two.
    overlap : sequence of float
        For each set the test rows of a split by its training rows; 0 where every split has rows of its own.

    Examples
    --------
    >>> from scarce.study.statistics import splits_interval
    >>> [round(end, 3) for end in splits_interval([[0.1, 0.2, 0.3, 0.4]], [0.0])]
    [0.25, 0.045, 0.455]
    >>> [round(end, 3) for end in splits_interval([[0.1, 0.2, 0.3, 0.4]], [0.25])]
    [0.25, -0.041, 0.541]
    """
    means = [float(np.mean(figures)) for figures in by_set]
    squares = np.array(
        [np.var(figures, ddof=1) * (1 / len(figures) + o) for figures, o in zip(by_set, overlap, strict=True)]
    )
    # The freedom of a sum of variances, by Welch and Satterthwaite.
    parts = sum(square**2 / (len(figures) - 1) for square, figures in zip(squares, by_set, strict=True))
    freedom = squares.sum() ** 2 / parts if parts else 1.0
    return _student(float(np.mean(means)), float(np.sqrt(squares.sum())) / len(by_set), freedom, confidence)


def _student(estimate: float, error: float, freedom: float, confidence: float) -> ConfidenceInterval:
    half = float(t.ppf((1 + confidence) / 2, freedom)) * error
    return ConfidenceInterval(estimate, estimate - half, estimate + half)


def compare_pairs(
    columns: Mapping[str, ArrayLike], control: str | None = None, *, lower_is_better: bool = False
) -> list[Json]:
    """Compare every pair of methods over sets, or all others with a control.

    Returns
    -------
    list of dict
        "a" and "b", the mean "difference" of a and b, the "record" of a against b, Wilcoxon's "p", and "holm", which
        is p adjusted for all comparisons of the list.
    """
    sign = -1.0 if lower_is_better else 1.0
    names = [(control, name) for name in columns if name != control] if control else list(combinations(columns, 2))
    pairs: list[Json] = []
    for a, b in names:
        x, y = (np.asarray(columns[name], dtype=np.float64) for name in (a, b))
        record = win_tie_loss(sign * x, sign * y)
        pairs.append({"a": a, "b": b, "difference": float((x - y).mean()), "record": record, "p": wilcoxon_p(x, y)})
    for pair, p in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True):
        pair["holm"] = p
    return pairs
