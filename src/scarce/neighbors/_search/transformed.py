"""Neighbour search with a learned distance to the rows of some classes."""

from __future__ import annotations

from collections.abc import Container

import numpy as np
from numpy.typing import NDArray

from scarce._typing import Estimator, FloatArray, IntArray
from scarce.neighbors._search.index import ClassIndex


class TransformedIndex:
    """A :class:`ClassIndex` whose distances to some classes are measured after a transform of rows and queries.

    Parameters
    ----------
    plain : ClassIndex
        The rows as they are, for the other classes.
    transform : transformer
        Fitted.
    codes : container of int
        The classes concerned.
    """

    def __init__(self, plain: ClassIndex, transform: Estimator, codes: Container[int]) -> None:
        self.plain = plain
        self.transform = transform
        self._made = [
            self._index_of(rows) if code in codes and len(rows) else None for code, rows in enumerate(plain._X)
        ]

    def _index_of(self, rows: NDArray) -> ClassIndex:
        plain = self.plain
        algorithm = "auto" if plain.algorithm == "ivf" else plain.algorithm  # exact under the learned distance
        index = ClassIndex(plain.metric, plain.p, algorithm, plain.n_jobs)
        return index.fit(self._of(rows), np.zeros(len(rows), dtype=np.intp))

    def _of(self, X: NDArray) -> NDArray:
        # A transformer may be set to return frames.
        return np.ascontiguousarray(self.transform.transform(X))

    @property
    def class_sizes(self) -> IntArray:
        """The number of rows of each class."""
        return self.plain.class_sizes

    def row(self, number: int) -> NDArray:
        """Return the features of a row, as they were before the transform."""
        return self.plain.row(number)

    def kneighbors(self, X: NDArray, code: int, k: int, skip: IntArray | None = None) -> tuple[FloatArray, IntArray]:
        """Search as :meth:`ClassIndex.kneighbors` does, by distances after the transform where it applies."""
        made = self._made[code]
        if made is None:
            return self.plain.kneighbors(X, code, k, skip)
        own = None if skip is None else self.plain.positions(code, skip)
        distance, at = made.kneighbors(self._of(X), 0, k, own)
        return distance, np.where(at >= 0, self.plain._rows[code][at], -1)

    def kth_distance(self, X: NDArray, code: int, k: int, skip: IntArray | None = None) -> FloatArray:
        """Search as :meth:`ClassIndex.kth_distance` does, by distances after the transform where it applies."""
        made = self._made[code]
        if made is None:
            return self.plain.kth_distance(X, code, k, skip)
        own = None if skip is None else self.plain.positions(code, skip)
        return made.kth_distance(self._of(X), 0, k, own)
