"""Slow, obvious versions of the losses of metric learning, written from their formulas."""

import numpy as np


def square(a, b, factor=None):
    """The squared distance of two rows, after a map if there is one."""
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    mapped = difference if factor is None else factor @ difference
    return float(sum(value * value for value in mapped))


def nearest(X, i, among, k, factor=None):
    """The k nearest of some rows to row i, itself left out."""
    others = [j for j in among if j != i]
    return sorted(others, key=lambda j: (square(X[i], X[j], factor), j))[:k]


def rows_of(y, code):
    return [i for i in range(len(y)) if y[i] == code]


def lmnn_loss(factor, X, y, k, mu):
    """The loss of LMNN over every triplet there is, divided by the number of rows."""
    total = 0.0
    for i in range(len(X)):
        for j in nearest(X, i, rows_of(y, y[i]), k):
            near = square(X[i], X[j], factor)
            total += (1 - mu) * near
            for other in range(len(X)):
                if y[other] != y[i]:
                    total += mu * max(0.0, 1 + near - square(X[i], X[other], factor))
    return total / len(X)


def mlfp_loss(weights, X, y, k, margin, mu):
    factor = np.diag(weights)
    missing = {0: [], 1: []}
    for i in range(len(X)):
        for positive in nearest(X, i, rows_of(y, 1), k):
            for negative in nearest(X, i, rows_of(y, 0), k):
                behind = square(X[i], X[positive], factor) - square(X[i], X[negative])
                missing[y[i]].append(max(0.0, margin + (behind if y[i] == 1 else -behind)))
    means = sum(np.mean(values) / 2 for values in missing.values() if values)
    return means + mu * np.sum((factor @ factor - np.eye(len(weights))) ** 2)


def iml_loss(factor, X, y, k, margin, lam):
    total = 0.0
    for i in range(len(X)):
        weight = np.mean(np.asarray(y) != y[i])
        for j in nearest(X, i, rows_of(y, y[i]), k):
            total += weight * max(0.0, square(X[i], X[j], factor) - 1)
        for j in nearest(X, i, rows_of(y, 1 - y[i]), k, factor):
            total += weight * max(0.0, 1 + margin - square(X[i], X[j], factor))
    return total + lam * np.sum((factor.T @ factor - np.eye(X.shape[1])) ** 2)


def mixed_distances(X, y, query, factor, transformed):
    """The distance of a query to every row, after the map where the row is of one of the given classes."""
    factors = [factor if code in transformed else None for code in y]
    return np.array([np.sqrt(square(query, row, own)) for row, own in zip(X, factors, strict=True)])


def critical_score(distance, y, k, skip=None):
    """d⁻ / (d⁻ + d⁺) of the two distances that decide the vote of γk-NN, ties to the positives."""
    j = (k + 1) // 2
    near = {code: sorted(distance[i] for i in rows_of(y, code) if i != skip) for code in (0, 1)}
    positive = near[1][j - 1] if len(near[1]) >= j else np.inf
    negative = near[0][k - j] if len(near[0]) >= k - j + 1 else np.inf
    if positive == negative:
        return 0.5
    if np.isinf(positive) or np.isinf(negative):
        return float(np.isinf(negative))
    return negative / (negative + positive)
