"""Searches by scikit-learn: trees, and metrics other than the Euclidean one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from scarce._typing import FloatArray, IntArray, Metric
from scarce.neighbors._search._kernels_index import nearest_exactly
from scarce.neighbors._search.nearest_tiles import check_size

__all__ = ["ScikitSearch"]

# MB that scikit-learn may fill with distances where a metric has no kernel of its own; its default is 1,024.
_WORKING_MEMORY = 64

_forked = False


def _note_fork() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):  # there is none on Windows, which does not fork
    os.register_at_fork(after_in_child=_note_fork)


@contextmanager
def _own_threads() -> Iterator[None]:
    """Keep OpenMP to one thread in a forked process, which has none of its parent's and would wait for them forever."""
    if not _forked:
        yield
        return
    with threadpool_limits(1, user_api="openmp"):
        yield


class ScikitSearch:
    """Rows in an engine of scikit-learn's ``NearestNeighbors``.

    Euclidean distances are measured again by their differences. Which of several rows that are equally far is found
    last is the choice of the engine.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The rows, known by their position here.
    metric, p, algorithm, n_jobs
        As in ``NearestNeighbors``.
    """

    def __init__(self, rows: NDArray, metric: Metric, p: float, algorithm: str, n_jobs: int | None) -> None:
        self._X = rows
        self._engine = NearestNeighbors(algorithm=algorithm, metric=metric, p=p, n_jobs=n_jobs).fit(rows)

    def kneighbors(self, X: NDArray, k: int, skip: IntArray) -> tuple[FloatArray, IntArray]:
        """Return distances and positions of the k nearest rows, without the row `skip`."""
        check_size(X)
        width = min(len(self._X), k + bool((skip >= 0).any()))
        with config_context(working_memory=_WORKING_MEMORY), _own_threads():
            distance, found = self._engine.kneighbors(X, n_neighbors=width)
        if self._engine.effective_metric_ == "euclidean":
            return nearest_exactly(X, self._X, found, skip, k)
        return _drop(distance.astype(np.float64), found, skip, k)


def _drop(distance: FloatArray, found: IntArray, own: IntArray, k: int) -> tuple[FloatArray, IntArray]:
    """Leave out the row itself, or, where it was not found, the last; order by (distance, row); pad to k."""
    distance = np.where(found == own[:, None], np.inf, distance)
    order = np.lexsort((found, distance), axis=1)[:, :k]
    distance = np.take_along_axis(distance, order, axis=1)
    found = np.where(np.isinf(distance), -1, np.take_along_axis(found, order, axis=1))
    short = k - distance.shape[1]
    if short > 0:
        distance = np.pad(distance, ((0, 0), (0, short)), constant_values=np.inf)
        found = np.pad(found, ((0, 0), (0, short)), constant_values=-1)
    return distance, found
