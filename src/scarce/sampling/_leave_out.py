"""Resampled rows as they are without one of the given rows and without all rows made from it."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from scarce._typing import BoolArray, Estimator, FloatArray, IntArray
from scarce.neighbors import ClassIndex
from scarce.sampling._resample import State, imblearn

# Takes resampled rows and given rows by number, in arrays of one shape; returns which are there without the given row.
There = Callable[[IntArray, IntArray], BoolArray]

# Rows to look at beyond those asked for, and how many times as many where these are not enough.
_SPARE = 16
_WIDER = 4
# The most that one block of a search may return, in pairs of a distance and a row.
_PAIRS = 1_000_000


def leave_one_out(steps: list[tuple[Estimator, State]], n_jobs: int | None) -> tuple[State, There] | None:
    """Return rows, and which of them a sampler would have left had a given row not been there.

    That row is gone, and the rows made from it. Rows made from others stay as they were drawn, and where rows are
    cleaned, they are cleaned anew. None if this is not known: a sampler does not report from which rows it makes
    others, or removes rows for a reason that is not known here.
    """
    over, under = imblearn().over_sampling, imblearn().under_sampling
    known = over.SMOTE, over.BorderlineSMOTE, over.ADASYN, over.RandomOverSampler, under.RandomUnderSampler
    *before, (last, rows) = steps
    cleaner = _cleaner(last, before[-1][1], len(steps[0][1].X), n_jobs)
    if any(type(step) not in known for step, _ in steps[1 : len(before) if cleaner else None]):
        return None
    if cleaner is None:
        return rows, lambda row, given: (rows.parents[row] != given[..., None]).all(axis=-1)
    keeps, ever = cleaner
    some = State._make(column[ever] for column in before[-1][1])
    return some, lambda row, given: (some.parents[row] != given[..., None]).all(axis=-1) & keeps(ever[row], given)


def nearest_there(index: ClassIndex, X: NDArray, code: int, k: int, there: There) -> FloatArray:
    """Return the distances of each given row to the k nearest of a kind that are there without it, ascending."""
    nearest = np.full((len(X), k), np.inf)
    width, todo = k + _SPARE, np.arange(len(X))
    while len(todo):
        short = [todo[:0]]
        for part in _blocks(todo, width):
            distance, row = index.kneighbors(X[part], code, width)
            gone = (row < 0) | ~there(row, np.broadcast_to(part[:, None], row.shape))
            distance[gone] = np.inf
            nearest[part] = np.sort(distance, axis=1)[:, :k]
            # A row in place -1 means that all were looked at.
            short.append(part[((~gone).sum(axis=1) < k) & (row[:, -1] >= 0)])
        width, todo = _WIDER * width, np.concatenate(short)
    return nearest


def _blocks(rows: IntArray, width: int) -> list[IntArray]:
    return np.array_split(rows, -(-len(rows) * width // _PAIRS))


def _cleaner(step: Estimator, rows: State, n_given: int, n_jobs: int | None) -> tuple[There, IntArray] | None:
    """Return which rows edited nearest neighbours or the removal of Tomek links keep, and the rows they ever keep.

    None for any other step.
    """
    under = imblearn().under_sampling
    if type(step) is under.TomekLinks:
        near = _Neighborhoods(rows, n_given, 1, n_jobs)
    elif type(step) is under.EditedNearestNeighbours and isinstance(step.n_neighbors, Integral):
        near = _Neighborhoods(rows, n_given, int(step.n_neighbors), n_jobs)
    else:
        return None
    spared = ~np.isin(rows.y, list(step.sampling_strategy_))

    def kept_by_editing(row: IntArray, given: IntArray) -> BoolArray:
        around = near.of(row, given)
        agree = (around < 0) | (rows.y[around] == rows.y[row][..., None])
        if step.kind_sel == "all":
            return spared[row] | agree.all(axis=-1)
        positive = (around >= 0) & (rows.y[around] == 1)
        # Of as many for as against, the lower class wins.
        return spared[row] | ((2 * positive.sum(axis=-1) > (around >= 0).sum(axis=-1)) == (rows.y[row] == 1))

    def kept_by_links(row: IntArray, given: IntArray) -> BoolArray:
        nearest = near.of(row, given)[..., 0]
        linked = (rows.y[nearest] != rows.y[row]) & (near.of(nearest, given)[..., 0] == row)
        return spared[row] | (nearest < 0) | ~linked

    keeps = kept_by_links if type(step) is under.TomekLinks else kept_by_editing
    ever = keeps(np.arange(len(rows.X)), np.full(len(rows.X), -1))
    row, given = near.changed
    ever[row[keeps(row, given)]] = True
    return keeps, np.flatnonzero(ever)


class _Neighborhoods:
    """The k nearest rows of each row, with any given row and the rows made from it left out.

    Only a given row that is a parent of one of the k nearest matters. So of each row the k nearest are kept, and those
    without each of these parents. Of equally far rows the earlier one is nearer.
    """

    def __init__(self, rows: State, n_given: int, k: int, n_jobs: int | None) -> None:
        n = len(rows.X)
        index = ClassIndex(n_jobs=n_jobs).fit(rows.X, np.zeros(n, dtype=np.intp))
        self._base = n_given + 1  # a given row of -1, which is none, has keys of its own
        self._nearest = np.full((n, k), -1, dtype=np.intp)
        keys, nearest = [np.empty(0, dtype=np.intp)], [self._nearest[:0]]
        width, todo = k + _SPARE, np.arange(n)
        while len(todo):
            short = [todo[:0]]
            for part in _blocks(todo, width):
                distance, row = index.kneighbors(rows.X[part], 0, width, skip=part)
                # Which of the rows at the last distance were found is left to chance.
                sure = distance < distance[:, -1:]
                row = np.where(sure, row, -1)
                first, seen = row[:, :k], distance[:, -1] == np.inf
                parents = np.where(first[:, :, None] >= 0, rows.parents[first], -1).reshape(len(part), -1)
                found = np.stack([_without(row, rows.parents, given, k) for given in parents.T], axis=1)
                enough = seen | ((first[:, -1] >= 0) & (found[:, :, -1] >= 0).all(axis=1))
                self._nearest[part] = first
                done, left_out = part[enough], parents[enough]
                keys.append((done[:, None] * self._base + left_out)[left_out >= 0])
                nearest.append(found[enough][left_out >= 0])
                short.append(part[~enough])
            width, todo = _WIDER * width, np.concatenate(short)
        self._keys, first = np.unique(np.concatenate(keys), return_index=True)
        self._without = np.concatenate(nearest)[first]

    @property
    def changed(self) -> tuple[IntArray, IntArray]:
        """The rows, and for each a given one without which others are around it."""
        return self._keys // self._base, self._keys % self._base

    def of(self, row: IntArray, given: IntArray) -> IntArray:
        """Return the rows around a row without a given one, of shape (..., k); -1 where there are no more."""
        key = row * self._base + given
        at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where((self._keys[at] == key)[..., None], self._without[at], self._nearest[row])


def _without(row: IntArray, parents: IntArray, given: IntArray, k: int) -> IntArray:
    """Return the first k rows of each line that do not come from a given one, and -1 where there are fewer."""
    found = np.empty((len(row), k), dtype=np.intp)
    short = np.arange(len(row))
    # Where many rows are equally far the lines are long, and mostly their beginning is enough.
    for width in sorted({k + _SPARE, row.shape[1]}):
        line = row[short, :width]
        there = (line >= 0) & (parents[line] != given[short, None, None]).all(axis=-1)
        order = np.argsort(~there, axis=1, kind="stable")[:, :k]
        line, there = (np.take_along_axis(a, order, axis=1) for a in (line, there))
        found[short] = np.where(there, line, -1)
        short = short[found[short, -1] < 0]
    return found
