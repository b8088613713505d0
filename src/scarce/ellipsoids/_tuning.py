"""The choice of mu and lam on rows that the ellipsoids have not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from scarce._typing import FloatArray, Fold, IntArray
from scarce.ellipsoids._ellipsoids import answers_of_pairs
from scarce.objectives import FBeta

__all__ = ["best_pair_by_score", "best_pairs_by_rule", "split"]


# The values of the thesis. Of pairs that are equally good the first is taken: the rounder and smaller ellipsoids.
MU_GRID = (0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 2.0, 10.0)
LAM_GRID = (1e2, 1e1, 1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# Of these, for a score that changes little from one to the next.
COARSE_MU_GRID = (0.75, 2.0, 10.0)
COARSE_LAM_GRID = (1e0, 1e-1, 1e-2, 1e-3, 1e-4)


def split(X: FloatArray, y: IntArray, n_folds: int, groups: IntArray | None = None) -> Iterator[Fold]:
    """Yield the training and test rows of stratified folds, which do not depend on the order of the rows.

    Rows of one group are on the same side.
    """
    if groups is not None:
        yield from StratifiedGroupKFold(n_folds, shuffle=True, random_state=0).split(X, y, groups)
        return
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    order = np.lexsort((y, np.einsum("ij,j->i", X, direction)))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(order, y[order]):
        yield np.sort(order[train]), np.sort(order[test])


def best_pair_by_score(
    X: FloatArray,
    y: IntArray,
    weight: FloatArray | None,
    splits: Sequence[Fold],
    *,
    n_local: int,
    n_candidates: int,
    n_near: int,
    beta: float,
    n_jobs: int | None,
) -> tuple[float, float, float]:
    """Return the mu and lam whose cross-validated scores have the highest F_beta, and the threshold."""
    mu, lam = _pairs(COARSE_MU_GRID, COARSE_LAM_GRID)
    scores = np.empty((len(mu), len(y)))
    for train, test in splits:
        positives, negatives = X[train[y[train] == 1]], X[train[y[train] == 0]]
        answers, _ = answers_of_pairs(X[test], positives, negatives, n_local, n_candidates, mu, lam, n_near, n_jobs)
        scores[:, test] = answers.mean(axis=2)
    found = [FBeta(beta).best_threshold(score, y, weight) for score in scores]
    best = int(np.argmax([one.value for one in found]))
    return float(mu[best]), float(lam[best]), found[best].threshold


def best_pairs_by_rule(
    X: FloatArray,
    y: IntArray,
    weight: FloatArray | None,
    splits: Sequence[Fold],
    *,
    n_local: int,
    n_candidates: int,
    beta: float,
    per_center: bool,
    n_jobs: int | None,
) -> tuple[FloatArray, FloatArray]:
    """Return the mu and lam of each positive row with which the thesis's rule has the highest F_beta in two splits.

    Every positive row is a centre in one fold, with half of the negatives, and answers for the rows of the other.
    For one pair for all, all answers count together. With one for each, TP and FP are sums over the ellipsoids,
    since each row asks one of them; so F, a ratio of sums, is maximised exactly by Dinkelbach's iteration: for the
    F reached so far, each ellipsoid on its own takes the pair that gains most against it.
    """
    mu, lam = _pairs(MU_GRID, LAM_GRID)
    weight = np.ones(len(y)) if weight is None else weight
    place = np.cumsum(y) - 1  # of a positive row among the positive rows
    tp, fp = np.zeros(len(mu)), np.zeros(len(mu))
    own_tp, own_fp = np.zeros((y.sum(), len(mu))), np.zeros((y.sum(), len(mu)))
    for train, test in splits:
        positives, negatives = train[y[train] == 1], train[y[train] == 0]
        positive, candidates = answers_of_pairs(
            X[test], X[positives], X[negatives], n_local, n_candidates, mu, lam, 0, n_jobs
        )
        good, bad = weight[test] * y[test], weight[test] * (1 - y[test])
        called = positive.any(axis=2)
        tp += called @ good
        fp += called @ bad
        centres = place[positives[candidates[:, 0]]]
        np.add.at(own_tp, centres, (positive[:, :, 0] * good).T)
        np.add.at(own_fp, centres, (positive[:, :, 0] * bad).T)
    total = float(weight @ y)
    best = int(_f(tp, fp, total, beta).argmax())
    chosen = np.full(len(own_tp), best)
    if per_center:
        chosen = _dinkelbach(own_tp, own_fp, total, beta, best)
    return mu[chosen], lam[chosen]


def _pairs(mu: tuple[float, ...], lam: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
    """Return all pairs, those that differ in mu alone beside each other."""
    L, M = np.meshgrid(lam, mu, indexing="ij")
    return M.ravel(), L.ravel()


def _f(tp: FloatArray, fp: FloatArray, total: float, beta: float) -> FloatArray:
    return (1 + beta**2) * tp / (tp + fp + beta**2 * total)


def _dinkelbach(tp: FloatArray, fp: FloatArray, total: float, beta: float, start: int) -> IntArray:
    """Return for each row of the tables the column whose sums over the rows have the highest F.

    A row for which no column is better than `start` keeps that.
    """
    rows = np.arange(len(tp))
    chosen = np.full(len(tp), start)
    reached = -1.0
    while (f := float(_f(tp[rows, chosen].sum(), fp[rows, chosen].sum(), total, beta))) > reached:
        reached = f
        gain = (1 + beta**2) * tp - f * (tp + fp)
        better = gain.argmax(axis=1)
        chosen = np.where(gain[rows, better] > gain[:, start], better, start)
    return chosen
