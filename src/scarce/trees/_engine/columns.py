"""Features as codes: what the growing kernels read instead of values.

Exact: a value's code is its rank among the distinct values of its feature, and `order` lists the rows by value.
Histogram: a value's code is its bin. In both a split is found between two codes, and the threshold comes from `values`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._sklearn import BinMapper
from scarce._typing import BoolArray, FloatArray

MAX_CATEGORIES = 255
MISSING_BIN = 255
MAX_SAMPLE = 200_000  # rows from which the edges of bins are found


class Columns(NamedTuple):
    """The coded features; one of `codes` and `bins` has no columns. A missing value is -1 or `MISSING_BIN`."""

    codes: NDArray[np.int32]  # (features, rows)
    bins: NDArray[np.uint8]  # (features, rows)
    values: FloatArray  # distinct values, or upper edges of bins, one feature after the other
    offsets: NDArray[np.int64]  # where each feature's values begin
    n_values: NDArray[np.int64]
    n_categories: NDArray[np.int64]  # 0 for a numeric feature


def encode_columns(
    X: NDArray[Any], n_categories: NDArray[np.int64], max_bins: int | None
) -> tuple[Columns, NDArray[np.int32]]:
    """Return the coded features and, for exact splits, the rows by value (else an empty array)."""
    n, d = X.shape
    if max_bins is not None:
        return _binned(X, n_categories, max_bins), np.empty((d, 0), np.int32)
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


def _binned(X: NDArray[Any], n_categories: NDArray[np.int64], max_bins: int) -> Columns:
    d = X.shape[1]
    X = X.astype(np.float64, copy=False)
    known = [np.arange(c, dtype=np.float64) if c else None for c in n_categories]
    mapper = BinMapper(
        n_bins=max_bins + 1, is_categorical=n_categories > 0, known_categories=known, subsample=None, n_threads=1
    )
    # The mapper cannot read a feature without a value: the sample has one of each, and 0 where there is none at all.
    seen = ~np.isnan(X)
    sample = X
    if len(X) > MAX_SAMPLE:
        chosen = np.random.default_rng(0).integers(len(X), size=MAX_SAMPLE)
        sample = X[np.append(chosen, seen.argmax(axis=0))]
    empty = ~seen.any(axis=0)
    if np.any(empty):
        sample = np.where(empty, 0.0, sample)
    # The mapper's own missing bin is the last of max_bins + 1; ours is always the last of 256.
    bins = np.ascontiguousarray(mapper.fit(sample).transform(X).T)
    if max_bins < MISSING_BIN:
        bins[bins == max_bins] = MISSING_BIN
    for j in np.flatnonzero(n_categories).tolist():  # there may be more categories than bins
        bins[j] = _category_codes(X[:, j]) % (MISSING_BIN + 1)  # -1 becomes the missing bin
    values = [
        np.append(t, np.inf) if not c else np.empty(0)
        for t, c in zip(mapper.bin_thresholds_, n_categories, strict=True)
    ]
    return _columns(np.empty((d, 0), np.int32), bins, values, n_categories)


def _columns(
    codes: NDArray[np.int32],
    bins: NDArray[np.uint8],
    values: Sequence[FloatArray],
    n_categories: NDArray[np.int64],
) -> Columns:
    n_values = np.array([len(v) for v in values], dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum(n_values)[:-1])).astype(np.int64)
    return Columns(codes, bins, np.concatenate(values), offsets, n_values, n_categories)


def _category_codes(column: NDArray[Any]) -> NDArray[np.int32]:
    return np.where(np.isnan(column), -1, column).astype(np.int32)


def count_categories(X: NDArray[Any], is_categorical: BoolArray, names: Sequence[str]) -> NDArray[np.int64]:
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
