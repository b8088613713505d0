"""The loops of γk-NN with more than two classes: votes, and the changes of labels while one γ falls."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scarce._compiling import inner
from scarce._typing import FloatArray, IntArray


@inner
def _merge(
    distance: NDArray, gamma: FloatArray, order: IntArray, out: IntArray, scaled: FloatArray, without: int
) -> None:  # pragma: no cover - compiled
    """Merge the sorted lists of the classes, times their gammas; `order` is that of classes at equal distances."""
    n_classes, k = distance.shape
    taken = np.zeros(n_classes, dtype=np.intp)
    for slot in range(k):
        best, best_distance = -1, np.inf
        for c in order:
            if c == without or taken[c] >= k:
                continue
            d = gamma[c] * distance[c, taken[c]]
            if d < best_distance:
                best, best_distance = c, d
        out[slot] = best
        scaled[slot] = best_distance
        if best >= 0:
            taken[best] += 1


@inner
def _winner(votes: IntArray, order: IntArray) -> np.intp:  # pragma: no cover - compiled
    best: np.intp = order[0]
    for c in order:
        if votes[c] > votes[best]:
            best = c
    return best


@njit(cache=True, nogil=True)
def class_votes(distance: NDArray, gamma: FloatArray, order: IntArray) -> IntArray:  # pragma: no cover - compiled
    """Count the classes among the k nearest when the distances of class c are multiplied by gamma[c].

    `distance` has shape (n_rows, n_classes, k), greater than 0, ascending along the last axis and infinite where
    a class has fewer rows.
    """
    n, n_classes, k = distance.shape
    votes = np.zeros((n, n_classes), dtype=np.intp)
    nearest = np.empty(k, dtype=np.intp)
    scaled = np.empty(k)
    for i in range(n):
        _merge(distance[i], gamma, order, nearest, scaled, -1)
        for c in nearest:
            if c >= 0:
                votes[i, c] += 1
    return votes


@njit(cache=True, nogil=True)
def label_changes(
    distance: NDArray, gamma: FloatArray, order: IntArray, swept: int, gamma_max: float
) -> tuple[IntArray, FloatArray, IntArray, IntArray]:  # pragma: no cover - compiled
    """Follow every row's label while the gamma of one class falls from `gamma_max` to 0.

    With m rows of the swept class among the k nearest, the others hold k - m slots; the m-th enters when gamma
    falls below the ratio of the (k-m+1)-th of the others to the m-th of the class. Returns the labels at
    `gamma_max`, and for each change its gamma, its row and its new label.
    """
    n, n_classes, k = distance.shape
    start = np.empty(n, dtype=np.intp)
    at = np.empty(n * k)
    row = np.empty(n * k, dtype=np.intp)
    label = np.empty(n * k, dtype=np.intp)
    count = 0
    others = np.empty(k, dtype=np.intp)
    scaled = np.empty(k)
    votes = np.empty(n_classes, dtype=np.intp)
    rank = np.empty(n_classes, dtype=np.intp)
    for place in range(n_classes):
        rank[order[place]] = place
    for i in range(n):
        _merge(distance[i], gamma, order, others, scaled, swept)
        votes[:] = 0
        for c in others:
            if c >= 0:
                votes[c] += 1
        current: np.intp = _winner(votes, order)
        start[i] = current
        for m in range(1, k + 1):
            own = distance[i, swept, m - 1]
            if np.isinf(own):
                break
            rival = scaled[k - m]
            wins_tie = others[k - m] < 0 or rank[swept] < rank[others[k - m]]
            critical = rival / own
            if critical < 1e-200:  # the rival is at the query itself
                break
            if others[k - m] >= 0:
                votes[others[k - m]] -= 1
            votes[swept] += 1
            new = _winner(votes, order)
            if new == current:
                continue
            current = new
            if critical > gamma_max or (critical == gamma_max and wins_tie):
                start[i] = current
            else:
                at[count], row[count], label[count] = critical, i, new
                count += 1
    return start, at[:count], row[:count], label[:count]


@njit(cache=True, nogil=True)
def sweep_macro_f1(
    start: IntArray,
    at: FloatArray,
    row: IntArray,
    label: IntArray,
    truth: IntArray,
    weight: FloatArray,
    n_classes: int,
) -> tuple[float, float, float]:  # pragma: no cover - compiled
    """Return the best macro-F1 over the changes (sorted by falling gamma), and the gammas around that stretch.

    The upper end is infinite where no change is best. Of equal stretches the one of largest gamma wins.
    """
    hits, called, actual = np.zeros(n_classes), np.zeros(n_classes), np.zeros(n_classes)
    labels = start.copy()
    for i in range(len(truth)):
        actual[truth[i]] += weight[i]
        called[labels[i]] += weight[i]
        if labels[i] == truth[i]:
            hits[truth[i]] += weight[i]
    best, high, low = -1.0, np.inf, 0.0
    e = 0
    upper = np.inf
    while True:
        total = 0.0
        for c in range(n_classes):
            if actual[c] + called[c] > 0:
                total += 2 * hits[c] / (actual[c] + called[c])
        value = total / n_classes
        lower = at[e] if e < len(at) else 0.0
        if value > best + 1e-12:
            best, high, low = value, upper, lower
        if e == len(at):
            return best, high, low
        upper = at[e]
        # Equal ratios of distances may differ in their last bits; there is no γ between them.
        while e < len(at) and at[e] >= upper * (1 - 1e-12):
            i = row[e]
            called[labels[i]] -= weight[i]
            if labels[i] == truth[i]:
                hits[truth[i]] -= weight[i]
            labels[i] = label[e]
            called[labels[i]] += weight[i]
            if labels[i] == truth[i]:
                hits[truth[i]] += weight[i]
            e += 1
