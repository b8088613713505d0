"""Approximate Euclidean search: only the cells of rows that are nearest to a query are looked into."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from scarce._extras import require
from scarce._typing import FloatArray, IntArray
from scarce.neighbors._search._kernels_nearest import TILE, nearest_of_cells
from scarce.neighbors._search.nearest_tiles import NearestTiles, Tiles, check_size, in_threads

__all__ = ["InvertedFile", "choose_probes", "make_cells"]

# The least number of cells.
_CELLS = 64
# Rounds of k-means, and rows of it for each cell.
_ROUNDS = 10
_ROWS_PER_CELL = 64
# Queries of one thread at a time: many, so that several share a fetched cell.
_BLOCK = 2048
# The largest share of the cells to look into; with more, measuring all rows takes no longer.
_MOST = 0.5


def make_cells(rows: NDArray) -> tuple[FloatArray, IntArray]:
    """Return the centres of about √n cells, by k-means, and the cell of each row."""
    n = len(rows)
    n_cells = max(_CELLS, round(n**0.5))
    if n < n_cells:
        raise ValueError(
            f"algorithm='ivf' needs at least {n_cells} rows in the largest class, which has {n}; use algorithm='auto'."
        )
    faiss = require("faiss", "algorithm='ivf'")
    low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
    middle, extent = low / 2 + high / 2, float((high / 2 - low / 2).max()) or 1.0
    near_one = np.ascontiguousarray((rows - middle) / extent, dtype=np.float32)
    # One thread: the same bits for any number of cores, and no threads that a forked process would wait for.
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        means = faiss.Kmeans(
            rows.shape[1],
            n_cells,
            niter=_ROUNDS,
            seed=0,
            min_points_per_centroid=1,
            max_points_per_centroid=_ROWS_PER_CELL,
        )
        means.train(near_one)
        cell = means.index.search(near_one, 1)[1][:, 0].astype(np.intp)
    finally:
        faiss.omp_set_num_threads(threads)
    return means.centroids.astype(np.float64) * extent + middle, cell


def choose_probes(
    rows: NDArray, cells: tuple[FloatArray, IntArray], queries: NDArray, own: IntArray, k: int, recall: float
) -> tuple[int, float]:
    """Return the number of cells to look into for a recall of the k-th distance, and the recall that is reached.

    The number is chosen on the first half of the queries, with two standard errors to spare, and the recall is measured
    on the other half. `own` has the position of each query among the rows, or -1.
    """
    centroids, cell = cells
    found = NearestTiles(rows).kneighbors(queries, min(k, len(rows)), own)[1]
    extent = max(float(np.abs(queries - centroids[0]).max()), float(np.abs(centroids - centroids[0]).max())) or 1.0
    apart = cdist((queries - centroids[0]) / extent, (centroids - centroids[0]) / extent)
    needed = np.ones(len(queries), dtype=np.intp)
    for row in found.T:
        to_cell = apart[np.arange(len(queries)), cell[row]]
        needed = np.where(row >= 0, np.maximum(needed, (apart <= to_cell[:, None]).sum(axis=1)), needed)
    for_choice, for_check = np.sort(needed[::2]), needed[1::2]
    spare = 2 * np.sqrt(recall * (1 - recall) / len(for_choice))
    n_probes = int(for_choice[min(int(np.ceil((recall + spare) * len(for_choice))), len(for_choice)) - 1])
    most = int(_MOST * len(centroids))
    if n_probes > most:
        raise ValueError(
            f"No search of up to {most} of the {len(centroids)} cells reaches recall={recall:g}; it needs {n_probes}: "
            "lower recall, or use algorithm='auto', which is exact."
        )
    return n_probes, float((for_check <= n_probes).mean())


class InvertedFile:
    """Rows in cells, of which a search looks into the nearest.

    What is found there is measured as exactly as in :class:`NearestTiles`, and is the same for any batch and number of
    threads.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The rows, known by their position here. They are not copied.
    cells : pair of ndarrays
        As from :func:`make_cells`.
    n_probes : int
        How many cells to look into.
    """

    def __init__(self, rows: NDArray, cells: tuple[FloatArray, IntArray], n_probes: int) -> None:
        centroids, cell = cells
        self.n_probes = n_probes
        self._centroids = NearestTiles(centroids)
        sizes = np.bincount(cell, minlength=len(centroids))
        self._first_tile = np.append(0, np.cumsum(-(-sizes // TILE)))
        order = np.argsort(cell, kind="stable")
        shift = self._first_tile[:-1] * TILE - (np.cumsum(sizes) - sizes)
        places = np.full((self._first_tile[-1], TILE), -1, dtype=np.intp)
        places.reshape(-1)[np.arange(len(cell)) + shift[cell[order]]] = order
        self._tiles = Tiles.of(rows, lambda norm: places)

    def kneighbors(self, X: NDArray, k: int, skip: IntArray) -> tuple[FloatArray, IntArray]:
        """Return distances and positions of the k nearest rows of the cells looked into, without the row `skip`."""
        check_size(X)
        X = np.ascontiguousarray(X, dtype=np.float64)
        return in_threads(lambda part: self._search(X[part], k, skip[part]), len(X), _BLOCK)

    def _search(self, X: FloatArray, k: int, skip: IntArray) -> tuple[FloatArray, IntArray]:
        cells = self._centroids.kneighbors(X, self.n_probes, np.full(len(X), -1, dtype=np.intp))[1]
        # First each query's nearest cell, which leaves few rows of the others to be measured again.
        nearest, others = cells[:, 0], cells[:, 1:].ravel()
        first = np.argsort(nearest, kind="stable")
        then = np.argsort(others, kind="stable")
        visitor = np.concatenate((first, then // max(self.n_probes - 1, 1)))
        visited = np.concatenate((nearest[first], others[then]))
        return nearest_of_cells(X, *self._tiles, skip, k, self._first_tile, visitor, visited)
