"""Features as codes: what the growing kernels read instead of values.

Exact: a value's code is its rank among the distinct values of its feature, and `order` lists the rows by value.
Histogram: a value's code is its bin. In both a split is found between two codes, and the threshold comes from `values`.
Few distinct values have a bin each; of many, half of the edges lie between positive rows, which are few and decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._typing import BoolArray, FloatArray

MAX_CATEGORIES = 255
MISSING_BIN = 255
MAX_SAMPLE = 200_000  # rows from which the edges of bins are found


class Columns(NamedTuple):
    """The coded features; one of `codes` and `bins` has no columns. A missing value is -1 or `MISSING_BIN`."""

    codes: NDArray[np.int32]  # (features, rows)
    bins: NDArray[np.uint8]  # (features, rows)
    values: FloatArray  # distinct values, or upper edges of bins (at last the largest value), feature by feature
    offsets: NDArray[np.int64]  # where each feature's values begin
    n_values: NDArray[np.int64]
    n_categories: NDArray[np.int64]  # 0 for a numeric feature
    by_row: NDArray[np.int32]  # (rows, features), -1 where missing, for random splits; else no rows

    def with_rows(self) -> Columns:
        """Return the columns with the codes row by row as well."""
        bins = self.bins.T.astype(np.int32)
        bins[bins == MISSING_BIN] = -1
        return self._replace(by_row=np.ascontiguousarray(bins if len(bins) else self.codes.T))


def encode_columns(
    X: NDArray[Any], n_categories: NDArray[np.int64], max_bins: int | None, positive: BoolArray | None = None
) -> tuple[Columns, NDArray[np.int32]]:
    """Return the coded features and, for exact splits, the rows by value (else an empty array)."""
    n, d = X.shape
    if max_bins is not None:
        positive = np.zeros(n, dtype=bool) if positive is None else positive
        return _binned(X, n_categories, max_bins, positive), np.empty((d, 0), np.int32)
    codes = np.empty((d, n), np.int32)
    order = np.empty((d, n), np.int32)
    values: list[FloatArray] = []
    for j in range(d):
        column = np.ascontiguousarray(X[:, j])
        if n_categories[j]:
            codes[j] = _category_codes(column)
            order[j] = np.arange(n)  # never read by value, but every row's place must hold a row
            values.append(np.empty(0))
            continue
        order[j] = np.argsort(column)
        ranked = column[order[j]]
        n_known = n - int(np.isnan(column).sum())
        starts = np.empty(n_known, dtype=bool)
        starts[:1] = True
        np.not_equal(ranked[1:n_known], ranked[: max(n_known - 1, 0)], out=starts[1:])
        codes[j, order[j, :n_known]] = np.cumsum(starts) - 1
        codes[j, order[j, n_known:]] = -1
        values.append(ranked[:n_known][starts].astype(np.float64))
    return _columns(codes, np.empty((d, 0), np.uint8), values, n_categories), order


def _binned(X: NDArray[Any], n_categories: NDArray[np.int64], max_bins: int, positive: BoolArray) -> Columns:
    n, d = X.shape
    bins = np.empty((d, n), np.uint8)
    values: list[FloatArray] = []
    chosen = slice(None) if n <= MAX_SAMPLE else np.random.default_rng(0).integers(n, size=MAX_SAMPLE)
    for j in range(d):
        column = X[:, j].astype(np.float64)
        if n_categories[j]:
            bins[j] = _category_codes(column) % (MISSING_BIN + 1)  # -1 becomes the missing bin
            values.append(np.empty(0))
            continue
        missing = np.isnan(column)
        some, known = column[chosen], column[~missing]
        edges = _edges(some[~np.isnan(some)], column[positive & ~missing], max_bins)
        bins[j] = np.searchsorted(edges, column)
        bins[j, missing] = MISSING_BIN
        values.append(np.append(edges, known.max()) if len(known) else np.empty(0))
    return _columns(np.empty((d, 0), np.int32), bins, values, n_categories)


def _edges(known: FloatArray, of_positives: FloatArray, max_bins: int) -> FloatArray:
    """Return the upper edges of all bins but the last."""
    values, counts = np.unique(known, return_counts=True)
    if len(values) > max_bins:
        n_edges = max_bins - 1
        near_positives = _even_places(*np.unique(of_positives, return_counts=True), n_edges // 2)
        others = _even_places(values, counts, n_edges - len(near_positives))
        after = np.searchsorted(values, np.union1d(near_positives, others), side="right") - 1
        after = np.unique(after[(after >= 0) & (after < len(values) - 1)])
    else:
        after = np.arange(max(len(values) - 1, 0))
    below, above = values[after], values[after + 1]
    middle = below / 2 + above / 2
    return np.where((below <= middle) & (middle < above), middle, below)


def _even_places(values: FloatArray, counts: NDArray[np.int64], n_edges: int) -> FloatArray:
    """Return the values after which edges lie, so that bins have as many rows as each other.

    A value with more rows than a bin counts as one bin, or repeated values would take the edges of others.
    """
    if len(values) - 1 <= n_edges:
        return values[:-1]
    largest = np.sort(counts)[::-1]
    rest = np.cumsum(counts[np.argsort(counts)])[::-1]  # the rows of each value and of all with fewer rows
    alone = int(np.argmax(largest * (n_edges + 1 - np.arange(len(counts))) <= rest))
    size = rest[alone] / (n_edges + 1 - alone)
    filled = np.cumsum(np.minimum(counts, size)) / size
    places = np.searchsorted(filled, np.arange(1, n_edges + 1) - 1e-9)
    return values[np.unique(places)]


def _columns(
    codes: NDArray[np.int32],
    bins: NDArray[np.uint8],
    values: Sequence[FloatArray],
    n_categories: NDArray[np.int64],
) -> Columns:
    n_values = np.array([len(v) for v in values], dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum(n_values)[:-1])).astype(np.int64)
    by_row = np.empty((0, len(values)), np.int32)
    return Columns(codes, bins, np.concatenate(values), offsets, n_values, n_categories, by_row)


def _category_codes(column: NDArray[Any]) -> NDArray[np.int32]:
    return np.where(np.isnan(column), -1, column).astype(np.int32)


def count_categories(
    X: NDArray[Any], is_categorical: BoolArray, names: Sequence[str], max_bins: int | None = None
) -> NDArray[np.int64]:
    """Return the number of categories of each categorical feature, 0 for the numeric ones; check the codes."""
    counts = np.zeros(X.shape[1], dtype=np.int64)
    for j in np.flatnonzero(is_categorical).tolist():
        known = X[~np.isnan(X[:, j]), j]
        if np.any((known < 0) | (known >= MAX_CATEGORIES) | (known != np.floor(known))):
            raise ValueError(
                f"The categorical feature {names[j]!r} must hold codes 0, 1, …, {MAX_CATEGORIES - 1}, or NaN where it "
                "is missing. Encode it, for instance with sklearn.preprocessing.OrdinalEncoder, or leave it out of "
                "categorical_features."
            )
        counts[j] = int(known.max()) + 1 if len(known) else 1
        if max_bins is not None and counts[j] > max_bins:
            raise ValueError(
                f"The categorical feature {names[j]!r} has {counts[j]} categories, more than max_bins={max_bins}: set "
                f"max_bins to {counts[j]} or more, or leave it out for exact splits."
            )
    return counts


@njit(cache=True, nogil=True)
def rows_in_order(order: Any, keep: Any, n_kept: int) -> Any:
    """Return `order` without the rows that are not kept, and with every feature's order otherwise unchanged."""
    kept = np.empty((order.shape[0], n_kept), order.dtype)
    for j in range(order.shape[0]):
        k = 0
        for i in range(order.shape[1]):
            row = order[j, i]
            if keep[row] and k < n_kept:
                kept[j, k] = row
                k += 1
    return kept
