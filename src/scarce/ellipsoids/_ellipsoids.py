"""Ellipsoids around positive rows: their shapes, the rows within, and the scores of other rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import gen_even_slices

from scarce._typing import FloatArray, IntArray
from scarce.ellipsoids._kernels_mean import mean_on_grid, mean_rows
from scarce.ellipsoids._kernels_rule import fit_ellipsoids, members, nearest, rule_on_grid, score_rows

__all__ = ["Ellipsoids", "answers_of_pairs"]


class Ellipsoids:
    """One ellipsoid around each positive row, which keeps the local negatives out as far as it pays.

    Parameters
    ----------
    positives : ndarray of shape (n_centers, n_features)
        The centres.
    negatives : ndarray of shape (n_negatives, n_features)
        The other rows.
    n_local : int
        How many of the nearest negatives shape an ellipsoid.
    mu, lam : ndarray of shape (n_centers,)
        The cost of a small radius and of a shape other than a ball, where the farthest local negative is at
        distance 1.
    n_near : int
        How many of the negatives nearest to a row its score compares with the centres; 0 is the rule of the thesis.
    n_jobs : int or None
        How many threads share the centres, and the rows to be scored. The result is the same to the last bit.

    Attributes
    ----------
    rows : ndarray
        All rows, the centres first.
    radius, reach : ndarray of shape (n_centers,)
        R and B: the squared radius of each ellipsoid, and the squared distance to its farthest local negative.
    risk : ndarray of shape (n_centers,)
        The mean of [R - d²]₊ over the local negatives, in units of B.
    """

    def __init__(
        self,
        positives: FloatArray,
        negatives: FloatArray,
        n_local: int,
        mu: FloatArray,
        lam: FloatArray,
        n_near: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.rows = np.concatenate((positives, negatives))
        self.n_near = n_near
        p, explicit = len(positives), _explicit(positives, negatives, n_local)

        def fit(part: slice) -> tuple[Any, ...]:
            local = _near_negatives(positives[part], p, negatives, n_local)
            weight, metric, found = fit_ellipsoids(self.rows, part.start, local, mu[part], lam[part], explicit)
            inside = members(self.rows, p, part.start, local, weight, metric, found[:, 0], found[:, 1])
            return local, weight, metric, found, *inside

        parts = _in_threads(fit, p, n_jobs)
        self.local, self.weight, self.metric, found, counts, self.inside = (np.concatenate(x) for x in parts)
        self.radius, self.reach, self.risk = np.ascontiguousarray(found.T)
        self.indptr = np.concatenate(([0], np.cumsum(counts)))

    def score(self, X: FloatArray, n_candidates: int, n_jobs: int | None = None) -> tuple[FloatArray, IntArray]:
        """Return the score of each row by each of its nearest ellipsoids, and the numbers of these."""
        p = len(self.local)
        fitted = self.rows, self.local, self.weight, self.metric, self.radius

        def score(part: slice) -> tuple[Any, ...]:
            asked = nearest(X[part], self.rows[:p], min(n_candidates, p))
            if not self.n_near:
                return score_rows(X[part], asked, *fitted, self.indptr, self.inside), asked
            return mean_rows(X[part], asked, _near_negatives(X[part], p, self.rows[p:], self.n_near), *fitted), asked

        scores, asked = (np.concatenate(x) for x in _in_threads(score, len(X), n_jobs))
        return scores, asked

    def stretch(self, center: int) -> FloatArray:
        """Return A of shape (n, n_features) with M = I + A'A for the metric M of an ellipsoid."""
        kept = self.weight[center] > 0
        difference = self.rows[self.local[center][kept]] - self.rows[center]
        return np.sqrt(self.weight[center][kept])[:, None] * difference

    def within(self, center: int) -> IntArray:
        """Return the rows within an ellipsoid, the centre among them, by their number in `rows`."""
        return self.inside[self.indptr[center] : self.indptr[center + 1]]

    def squared_distances(self, x: FloatArray, numbers: IntArray, center: int) -> FloatArray:
        """Return the squared distances from x to some of the rows under the metric of an ellipsoid."""
        difference = self.rows[numbers] - x
        return (difference**2).sum(axis=1) + ((difference @ self.stretch(center).T) ** 2).sum(axis=1)

    def contain(self, X: FloatArray) -> NDArray[np.bool_]:
        """Return for each row and each ellipsoid whether the row lies within it."""
        found = np.zeros((len(X), len(self.local)), dtype=np.bool_)
        for center in range(len(self.local)):
            difference = X - self.rows[center]
            squared = (difference**2).sum(axis=1) + ((difference @ self.stretch(center).T) ** 2).sum(axis=1)
            found[:, center] = squared <= self.radius[center]
        return found

    def effects(self, X: FloatArray, asked: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return what each feature adds to the mean score by the ellipsoids asked, and the base value of each row.

        With a and b the squared distances to the centre and to a negative row, (b - a) / (b + a) is a sum over the
        features. R is no sum: of (R - a) / (R + a) the part R / (R + a) goes into the base value.
        """
        near = _near_negatives(X, len(self.local), self.rows[len(self.local) :], self.n_near)
        out, base = np.zeros(X.shape), np.zeros(len(X))
        for i, x in enumerate(X):
            for c in asked[i].tolist():
                own, *others = self._parts(x, np.append(c, near[i]), c)
                border = self.radius[c] + own.sum()
                if border > 0:
                    base[i] += self.radius[c] / border
                    out[i] -= own / border
                for other in others:
                    total = own.sum() + other.sum()
                    if total > 0:
                        out[i] += (other - own) / total
        size = asked.shape[1] * (1 + near.shape[1])
        return out / size, base / size

    def _parts(self, x: FloatArray, numbers: IntArray, center: int) -> FloatArray:
        """Return the part of each feature in the squared distances from x to some of the rows."""
        difference, stretch = self.rows[numbers] - x, self.stretch(center)
        return difference * (difference + (difference @ stretch.T) @ stretch)


def _near_negatives(X: FloatArray, p: int, negatives: FloatArray, size: int) -> IntArray:
    """Return the nearest negatives of each row, numbered after p positive rows; all, if there are fewer."""
    return p + nearest(X, negatives, min(size, len(negatives)))


def answers_of_pairs(
    X: FloatArray,
    positives: FloatArray,
    negatives: FloatArray,
    n_local: int,
    n_candidates: int,
    mu: FloatArray,
    lam: FloatArray,
    n_near: int,
    n_jobs: int | None,
) -> tuple[NDArray[Any], IntArray]:
    """Score each row of X by each of its nearest ellipsoids, for each pair of mu and lam.

    Returns
    -------
    answers : ndarray of shape (n_pairs, n_samples, n_candidates)
        The scores; without negatives near the row, `n_near` = 0, whether a row is positive by the rule of the thesis.
    candidates : ndarray of shape (n_samples, n_candidates)
        These ellipsoids, by the number of their centre, the nearest first.
    """
    candidates = nearest(X, positives, min(n_candidates, len(positives)))
    flat = candidates.ravel()
    order = np.argsort(flat, kind="stable")
    p, slots = len(positives), candidates.shape[1]
    indptr = np.searchsorted(flat[order], np.arange(p + 1))
    rows, explicit = np.concatenate((positives, negatives)), _explicit(positives, negatives, n_local)
    answers: NDArray[Any] = np.zeros((len(mu), len(flat)), dtype=np.float64 if n_near else np.bool_)
    near = np.empty((len(X), 0), dtype=np.intp)
    if n_near:
        parts = _in_threads(lambda part: (_near_negatives(X[part], p, negatives, n_near),), len(X), n_jobs)
        near = np.concatenate(parts[0])

    def answer(part: slice) -> tuple[()]:
        local = _near_negatives(positives[part], p, negatives, n_local)
        if not n_near:
            rule_on_grid(X, order, indptr, slots, rows, p, part.start, local, mu, lam, explicit, answers)
        else:
            mean_on_grid(X, order, indptr, slots, near, rows, part.start, local, mu, lam, explicit, answers)
        return ()

    _in_threads(answer, p, n_jobs)
    return answers.reshape(len(mu), *candidates.shape), candidates


def _explicit(positives: FloatArray, negatives: FloatArray, n_local: int) -> bool:
    """Return whether M is small enough to be stored: no larger than the local negatives it is made of."""
    return positives.shape[1] <= min(n_local, len(negatives))


def _in_threads(call: Callable[[slice], tuple[Any, ...]], size: int, n_jobs: int | None) -> list[tuple[Any, ...]]:
    """Call for consecutive parts of 0 to size, and return for each place of the answers those of all parts."""
    # Parts differ in work, so that there are more of them than threads.
    jobs = effective_n_jobs(n_jobs)
    parts = gen_even_slices(size, 1 if jobs == 1 else min(size, 4 * jobs))
    return list(zip(*Parallel(jobs, prefer="threads")(delayed(call)(part) for part in parts), strict=True))
