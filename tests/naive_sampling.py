"""Slow, obvious twins: the resampled rows that are left without one of the given rows."""

import numpy as np


def _others(X, r, among):
    """The rows of `among` but r, by (distance to r, row)."""
    squares = {s: sum((float(a) - float(b)) ** 2 for a, b in zip(X[r], X[s], strict=True)) for s in among if s != r}
    return sorted(squares, key=lambda s: (np.sqrt(squares[s]), s))


def clean_by_editing(X, y, among, classes, k, kind_sel="all"):
    """Edited nearest neighbours: the rows of `among` that are kept."""
    kept = []
    for r in among:
        labels = [int(y[s]) for s in _others(X, r, among)[:k]]
        won = int(2 * sum(labels) > len(labels))  # of as many for as against, the lower class
        right = set(labels) <= {y[r]} if kind_sel == "all" else won == y[r]
        if right or y[r] not in classes:
            kept.append(r)
    return kept


def clean_by_links(X, y, among, classes):
    """The rows of `among` without those that form a Tomek link."""
    nearest = {r: (_others(X, r, among) or [None])[0] for r in among}
    linked = [r for r, s in nearest.items() if s is not None and y[s] != y[r] and nearest[s] == r]
    return [r for r in among if r not in linked or y[r] not in classes]


def left_out_near(rows, X, k, clean=None):
    """For each given row the distances that decide about it, among the rows left without it.

    `rows` is as the sampler has made them, before `clean` is called with the numbers of those that are left.
    """
    needed = (k + 1) // 2
    kind = np.where(rows.y == 1, 1 + rows.synthetic, 0)
    out = [], [], []
    for i, query in enumerate(X):
        left = [r for r in range(len(rows.X)) if i not in rows.parents[r]]
        left = left if clean is None else clean(left)
        for code, size, found in zip((0, 1, 2), (k - needed + 1, needed, needed), out, strict=True):
            squares = [
                sum((float(a) - float(b)) ** 2 for a, b in zip(query, rows.X[r], strict=True))
                for r in left
                if kind[r] == code
            ]
            near = [max(np.sqrt(s), 1e-300) for s in sorted(squares)[:size]]
            found.append(near + [np.inf] * (size - len(near)))
    rival, real, synthetic = map(np.array, out)
    return rival[:, -1], real, synthetic
