"""The nearest rows of all classes, merged from the nearest of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scarce._typing import FloatArray, IntArray

# A weighted search returns less than this for a distance of 0, whatever the weight.
_ZERO = 1e-290


class Neighbors(NamedTuple):
    """The nearest rows of each query, ascending: distance (infinite where there is none), number (or -1), class."""

    distance: FloatArray
    number: IntArray
    code: IntArray

    def take(self, order: IntArray) -> Neighbors:
        """Return the neighbours of each query in another order."""
        return Neighbors(
            np.take_along_axis(self.distance, order, axis=1),
            np.take_along_axis(self.number, order, axis=1),
            np.take_along_axis(self.code, order, axis=1),
        )


def merge_by_class(found: list[tuple[FloatArray, IntArray]], codes: list[int], k: int) -> Neighbors:
    """Return the k nearest of the rows found in each class; of equal distances that of the earlier class is first."""
    distance, number = (np.concatenate(part, axis=1) for part in zip(*found, strict=True))
    code = np.repeat(codes, [part.shape[1] for part, _ in found])
    every = Neighbors(distance, number, np.broadcast_to(code, distance.shape))
    return every.take(np.argsort(distance, axis=1, kind="stable")[:, :k])


def merge_by_number(distance: FloatArray, number: IntArray) -> Neighbors:
    """Return the k nearest rows of all classes, by (distance, number), from the k nearest of each of them.

    Both arrays are of shape (n_queries, n_classes, k), as :func:`nearest_by_class` returns them.
    """
    n, n_classes, k = distance.shape
    code = np.tile(np.repeat(np.arange(n_classes), k), (n, 1))
    every = Neighbors(distance.reshape(n, -1), number.reshape(n, -1), code)
    near = every.take(np.lexsort((every.number, every.distance), axis=1)[:, :k])
    return near._replace(distance=np.where(near.distance < _ZERO, 0.0, near.distance))
