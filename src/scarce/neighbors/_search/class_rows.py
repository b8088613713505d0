"""Rows that come and go, class by class, with the nearest of each within its class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import gen_even_slices

from scarce._typing import FloatArray, IntArray, Keywords, Rows
from scarce.neighbors._search._kernels_class_rows import BLOCK, count_beyond, insert, leave_out, nearest
from scarce.neighbors._search.cells import FEW, RowCells

# A relative distance beyond all others: of a class that has no row, or whose rows are all equal and elsewhere.
_FAR = 1e300
# So many queries pay for the cells in which they are searched.
_MANY = 1_000


class Spread(NamedTuple):
    """The distances within a class: the vectors as columns, sorted by their first entry, and their mean."""

    vectors: FloatArray
    mean: float

    @classmethod
    def of(cls, vectors: FloatArray) -> Spread:
        """Sort the vectors. The mean is that of sorted numbers, so that it does not depend on the order of arrival."""
        order = np.argsort(vectors[0])
        return cls(np.ascontiguousarray(vectors[:, order]), float(np.sort(vectors, axis=None).mean()))

    def beside(self, distance: FloatArray) -> tuple[IntArray, FloatArray]:
        """Compare columns of distances: count the vectors that are greater or equal, and take relative distances."""
        return count_beyond(self.vectors, distance), _relative(distance, self.mean)


class ClassFit(NamedTuple):
    """The fit of rows to classes, which are the columns.

    `counts` are the vectors of the class that are greater than that of the row, plus those that are greater or equal:
    at most twice `sizes`. `ratio` is the mean distance beside the mean distance within the class.
    """

    counts: IntArray
    ratio: FloatArray
    sizes: IntArray


def _relative(distance: FloatArray, mean: float | FloatArray) -> FloatArray:
    """Return the means of columns of distances beside the mean within a class.

    Rounded to 12 digits, so that a tie does not hang on the last bit.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ratio = np.nan_to_num(distance.mean(axis=0) / mean, nan=0.0, posinf=_FAR)
    mantissa, exponent = np.frexp(np.minimum(ratio, _FAR))
    return np.ldexp(np.rint(mantissa * 2**40), exponent - 40)


class ClassRows:
    """Rows of one class, with the k + 1 nearest of each within the class.

    Adding a row measures it against all others once, and changes the lists that it belongs in. Removing a row searches
    anew for those rows that had it in their lists. Nothing else is copied: the arrays have room to spare, and grow by
    doubling. The result is that of adding the remaining rows at once, in any order.

    Parameters
    ----------
    n_features : int
        The number of features.
    k : int
        How many neighbours are asked for. One more is kept, for when one is left out.
    """

    def __init__(self, n_features: int, k: int) -> None:
        self.n = 0
        self.spread: Spread | None = None  # of the vectors, until they change
        self._cells: RowCells | None = None  # of the rows, until they change
        self._blocks = np.zeros((0, n_features, BLOCK))
        self._number = np.zeros(0, dtype=np.intp)
        self._weight = np.zeros(0)
        self._distance = np.zeros((k + 1, 0))  # squared
        self._neighbor = np.zeros((k + 1, 0), dtype=np.intp)

    @property
    def number(self) -> IntArray:
        """The number of each row in the order of arrival."""
        return self._number[: self.n]

    @property
    def weight(self) -> FloatArray:
        """The weight of each row."""
        return self._weight[: self.n]

    @property
    def distance(self) -> FloatArray:
        """The distances of each row to its k + 1 nearest, by column; infinite where there are fewer."""
        return np.sqrt(self._distance[:, : self.n])

    @property
    def neighbor(self) -> IntArray:
        """The places of these nearest, or -1."""
        return np.ascontiguousarray(self._neighbor[:, : self.n])

    @property
    def vectors(self) -> FloatArray:
        """The distances of each row to its k nearest, by column, or to all others where there are fewer."""
        return self.distance[: min(len(self._distance), self.n) - 1]

    def rows(self, places: slice | Sequence[int] | IntArray = slice(None)) -> FloatArray:
        """Return the features of some rows, by default of all."""
        places = np.arange(self.n)[places]
        return np.ascontiguousarray(self._blocks[places // BLOCK, :, places % BLOCK])

    def kneighbors(self, X: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """Return for each row of X, by column, the distances to the k nearest of the class, and their places."""
        distance, place = self._search(X, np.full(len(X), -1, dtype=np.intp), k)
        return np.sqrt(distance), place

    def _search(self, X: FloatArray, skip: IntArray, k: int, threads: int = 1) -> tuple[FloatArray, IntArray]:
        if self._cells is None or k > FEW:
            return nearest(X, self._blocks, self.n, self._number, skip, k)
        squared, place = self._cells.squared_kneighbors(X, k, skip, threads=threads)
        return np.ascontiguousarray(squared.T), np.ascontiguousarray(place.T)

    def prepare(self, n_queries: int) -> bool:
        """Put the rows into cells, if that pays for a number of searches; return whether they are in cells."""
        # Cells order equally near rows by their places, so these must be in the order of arrival.
        if self._cells is None and n_queries >= _MANY and (np.diff(self.number) > 0).all():
            rows = self.rows()
            self._cells = RowCells(rows) if RowCells.suits(rows) else None
        return self._cells is not None

    def add(self, X: FloatArray, number: IntArray, weight: FloatArray, threads: int = 1) -> None:
        """Add rows."""
        start, stop = self.n, self.n + len(X)
        self._reserve(stop)
        self._write(np.arange(start, stop), X)
        self._number[start:stop] = number
        self._weight[start:stop] = weight
        self._distance[:, start:stop] = np.inf
        self._neighbor[:, start:stop] = -1
        self.n = stop
        self.spread = self._cells = None
        k = len(self._distance)
        if start == 0 and k <= FEW and self.prepare(stop):
            self._distance[:, :stop], self._neighbor[:, :stop] = self._search(X, np.arange(stop), k, threads)
            return
        insert(X, self._blocks, start, self._number, self._distance, self._neighbor)

    def remove(self, places: IntArray) -> None:
        """Remove rows; the last ones take their places."""
        left = self.n - len(places)
        stays = np.ones(self.n, dtype=bool)
        stays[places] = False
        gaps, movers = np.flatnonzero(~stays[:left]), left + np.flatnonzero(stays[left:])
        self._write(gaps, self.rows(movers))
        # Forgotten rows must not be found in memory or in a file.
        self._write(np.arange(left, self.n), 0.0)
        for array in (self._number, self._weight, self._distance, self._neighbor):
            array[..., gaps] = array[..., movers]
            array[..., left : self.n] = 0

        moved_to = np.append(np.arange(self.n), -1)  # no neighbour stays no neighbour
        moved_to[places] = -1
        moved_to[movers] = gaps
        before = self._neighbor[:, :left]
        after = moved_to[before]
        incomplete = np.flatnonzero(((after < 0) & (before >= 0)).any(axis=0))
        self._neighbor[:, :left] = after
        self.n = left
        self.spread = self._cells = None
        found = self._search(self.rows(incomplete), incomplete, len(self._distance))
        self._distance[:, incomplete], self._neighbor[:, incomplete] = found

    def _write(self, places: IntArray, X: Rows) -> None:
        self._blocks[places // BLOCK, :, places % BLOCK] = X

    def _reserve(self, n: int) -> None:
        room = len(self._number)
        if n <= room:
            return
        more = -(-max(n, 2 * room) // BLOCK) * BLOCK - room
        self._blocks = np.concatenate((self._blocks, np.zeros((more // BLOCK, *self._blocks.shape[1:]))))
        self._number, self._weight, self._distance, self._neighbor = (
            np.concatenate((array, np.zeros((*array.shape[:-1], more), dtype=array.dtype)), axis=-1)
            for array in (self._number, self._weight, self._distance, self._neighbor)
        )

    def __getstate__(self) -> Keywords:
        # Without the room to spare.
        blocks = -(-self.n // BLOCK)
        lists = {
            name: np.ascontiguousarray(array[..., : blocks * BLOCK])
            for name, array in self.__dict__.items()
            if name not in ("n", "spread", "_cells", "_blocks")
        }
        return {"n": self.n, "spread": None, "_cells": None, "_blocks": self._blocks[:blocks], **lists}


class RowsByClass:
    """The rows of all classes, known by the codes 0, 1, … of their classes and by their numbers.

    Parameters
    ----------
    n_features, k : int
        As for :class:`ClassRows`.
    n_classes : int
        The number of classes at the beginning.
    """

    def __init__(self, n_features: int, k: int, n_classes: int) -> None:
        self.n_features = n_features
        self.k = k
        self.classes = [ClassRows(n_features, k) for _ in range(n_classes)]

    @property
    def sizes(self) -> IntArray:
        """The number of rows of each class."""
        return np.array([own.n for own in self.classes], dtype=np.intp)

    @property
    def number(self) -> IntArray:
        """The numbers of the rows, class by class."""
        return np.concatenate([np.zeros(0, dtype=np.intp), *(own.number for own in self.classes)])

    def new_class(self, code: int) -> None:
        """Give a new class this code; those from there on move up."""
        self.classes.insert(code, ClassRows(self.n_features, self.k))

    def drop_empty(self) -> None:
        """Remove the classes without rows; those after them move down."""
        self.classes = [own for own in self.classes if own.n]

    def add(
        self,
        X: NDArray,
        code: IntArray,
        number: IntArray,
        weight: FloatArray,
        limit: int | None,
        n_jobs: int | None = None,
    ) -> None:
        """Add rows; of each class keep the latest `limit`."""
        X = np.ascontiguousarray(X, dtype=np.float64)
        for at, own in enumerate(self.classes):
            mine = np.flatnonzero(code == at)
            if limit is not None:
                mine = mine[-limit:]
                excess = own.n + len(mine) - limit
                if excess > 0:
                    own.remove(np.argsort(own.number)[:excess])
            if len(mine):
                own.add(X[mine], number[mine], weight[mine], effective_n_jobs(n_jobs))
        self._forget_spreads_of_one()

    def remove(self, number: IntArray) -> None:
        """Remove rows by their numbers."""
        for own in self.classes:
            places = np.flatnonzero(np.isin(own.number, number))
            if len(places):
                own.remove(places)
        self._forget_spreads_of_one()

    def _forget_spreads_of_one(self) -> None:
        for own in self.classes:
            if own.n == 1:
                own.spread = None  # it depends on the other classes

    def in_order(self) -> tuple[IntArray, FloatArray]:
        """Return the codes and the weights of all rows, in the order of arrival."""
        order = np.argsort(self.number)
        weight = np.concatenate([own.weight for own in self.classes])
        return np.repeat(np.arange(len(self.classes)), self.sizes)[order], weight[order]

    def spread(self, code: int) -> Spread:
        """Return how far the rows of a class are apart; for a single row, how far the next of another class is."""
        own = self.classes[code]
        if own.spread is None:
            own.spread = Spread.of(own.vectors) if own.n > 1 else self._spread_of_one(code)
        return own.spread

    def _spread_of_one(self, code: int) -> Spread:
        outside = self._outside(code, 0)
        # The only row of all has no usual distance: every row fits it, and relative distances are the distances.
        return Spread.of(np.array([[outside[0][0]]])) if outside else Spread(np.array([[np.inf]]), 1.0)

    def _outside(self, code: int, place: int) -> list[tuple[float, int, int]]:
        """Return the two rows of other classes that are nearest to a row: their distances, codes and places."""
        row = self.classes[code].rows([place])
        found = []
        for other, rows in enumerate(self.classes):
            if other != code:
                distance, places = rows.kneighbors(row, min(2, rows.n))
                found += [(float(d), other, int(p)) for d, p in zip(distance[:, 0], places[:, 0], strict=True)]
        return sorted(found)[:2]

    def compare(self, X: NDArray, n_jobs: int | None) -> ClassFit:
        """Compare rows with all classes."""
        X = np.ascontiguousarray(X, dtype=np.float64)
        counts, ratio = zip(*(self._beside(code, X, n_jobs) for code in range(len(self.classes))), strict=True)
        return ClassFit(np.column_stack(counts), np.column_stack(ratio), self.sizes)

    def _beside(self, code: int, X: FloatArray, n_jobs: int | None) -> tuple[IntArray, FloatArray]:
        own, spread = self.classes[code], self.spread(code)
        own.prepare(len(X))

        def part(rows: slice) -> tuple[IntArray, FloatArray]:
            return spread.beside(own.kneighbors(X[rows], len(spread.vectors))[0])

        jobs = effective_n_jobs(n_jobs)
        if jobs == 1:
            return part(slice(None))
        found = Parallel(jobs, prefer="threads")(delayed(part)(rows) for rows in gen_even_slices(len(X), jobs))
        counts, ratio = zip(*found, strict=True)
        return np.concatenate(counts), np.concatenate(ratio)

    def leave_one_out(self, n_jobs: int | None) -> ClassFit:
        """Compare each row, in the order of arrival, with all classes as they would be without it."""
        n_classes, sizes = len(self.classes), self.sizes
        counts, ratio = np.empty((sizes.sum(), n_classes), dtype=np.intp), np.empty((sizes.sum(), n_classes))
        starts = np.cumsum([0, *sizes])
        for code in range(n_classes):
            rows, X = slice(starts[code], starts[code + 1]), self.classes[code].rows()
            for other in range(n_classes):
                found = self._without(code) if other == code else self._beside(other, X, n_jobs)
                counts[rows, other], ratio[rows, other] = found
        for code in np.flatnonzero(sizes == 1).tolist():
            # Without the row whose distance stands for those within the class, that of the next one does.
            (d, other, place), *rest = self._outside(code, 0)
            spread = Spread.of(np.array([[rest[0][0] if rest else np.inf]]))
            gone = starts[other] + place
            counts[[gone], code], ratio[[gone], code] = spread.beside(np.array([[d]]))
        order = np.argsort(self.number)
        left = sizes - np.repeat(np.eye(n_classes, dtype=np.intp), sizes, axis=0)
        return ClassFit(counts[order], ratio[order], left[order])

    def _without(self, code: int) -> tuple[IntArray, FloatArray]:
        """Compare each row of a class with its class without it."""
        own = self.classes[code]
        n, distance, neighbor = own.n, own.distance, own.neighbor
        if n > self.k + 1:
            spread = self.spread(code)
            counts = count_beyond(spread.vectors, distance[:-1])
            totals = np.full(n, spread.mean * spread.vectors.size)
            leave_out(distance, neighbor, np.argsort(own.number), counts, totals)
            return counts, _relative(distance[:-1], np.maximum(totals, 0.0) / ((n - 1) * self.k))
        counts, ratio = np.zeros(n, dtype=np.intp), np.full(n, _FAR)
        for row in range(n) if n > 1 else ():
            if n == 2:
                vectors = np.array([[self._outside(code, 1 - row)[0][0]]])
            else:
                others = np.arange(n) != row
                left = (neighbor[:, others] != row) & (neighbor[:, others] >= 0)
                vectors = distance[:, others].T[left.T].reshape(n - 1, n - 2).T
            counts[[row]], ratio[[row]] = Spread.of(vectors).beside(distance[: len(vectors), [row]])
        return counts, ratio
