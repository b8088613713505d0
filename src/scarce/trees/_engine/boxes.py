"""Sets of values and boxes of them: the rows of a path, and how to describe them with fewer tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._typing import BoolArray
from scarce.trees._engine.tree import Graph

__all__ = ["MIXED", "Box", "Codes", "Interval", "Partition", "Values", "meet", "sides_of_test"]

MIXED = np.iinfo(np.int64).min  # of a node below which paths lead to several places


class Interval(NamedTuple):
    """Numbers above `low` and up to `high`, and whether a missing value is one of the set."""

    low: float = -math.inf
    high: float = math.inf
    missing: bool = True

    @property
    def is_empty(self) -> bool:
        """True if nothing is in the set."""
        return not (self.missing or self.low < self.high)

    @property
    def is_everything(self) -> bool:
        """True if all numbers and missing values are in the set."""
        return self == (-math.inf, math.inf, True)

    def meet(self, other: Interval) -> Interval:
        """Return what both have."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        # One form for sets without a number, whatever the thresholds were, so that equal sets are equal.
        return Interval(*((low, high) if low < high else (math.inf, -math.inf)), self.missing and other.missing)

    def hull(self, other: Interval) -> Interval:
        """Return the smallest interval with all of both."""
        return Interval(min(self.low, other.low), max(self.high, other.high), self.missing or other.missing)

    def join(self, other: Interval) -> Interval | None:
        """Return all of both, or None if this is no interval."""
        apart = max(self.low, other.low) > min(self.high, other.high)
        no_numbers = not (self.low < self.high and other.low < other.high)
        return self.hull(other) if no_numbers or not apart else None

    def covers(self, other: Interval) -> bool:
        """Return whether it has all of the other."""
        return self.hull(other) == self

    def looser(self) -> list[Interval]:
        """Return the sets with one bound less."""
        if not self.low < self.high:
            return []
        return [self._replace(low=-math.inf), self._replace(high=math.inf)]

    def within(self, known: Interval) -> Interval:
        """Return the simplest set that has the same values as this one among those known to be possible."""
        both = self.meet(known)
        if not both.low < both.high:
            return both
        low = -math.inf if both.low == known.low else both.low
        return Interval(low, math.inf if both.high == known.high else both.high, both.missing)

    def holds(self, x: NDArray[Any]) -> BoolArray:
        """Return for each value whether it is in the set."""
        x = x.astype(np.float64)
        numbers = (x <= self.high) & ((x > self.low) | (self.low == -math.inf))
        return np.where(np.isnan(x), self.missing, numbers)


class Codes(NamedTuple):
    """Categories as bits, of `n` known ones, and whether missing values and unknown codes are in the set."""

    bits: int
    n: int
    missing: bool = True

    @property
    def is_empty(self) -> bool:
        """True if nothing is in the set."""
        return not (self.missing or self.bits)

    @property
    def is_everything(self) -> bool:
        """True if all codes and missing values are in the set."""
        return self.missing and self.bits == (1 << self.n) - 1

    @property
    def codes(self) -> list[int]:
        """The categories."""
        return [code for code in range(self.n) if self.bits >> code & 1]

    def meet(self, other: Codes) -> Codes:
        """Return what both have."""
        return Codes(self.bits & other.bits, self.n, self.missing and other.missing)

    def hull(self, other: Codes) -> Codes:
        """Return all of both."""
        return Codes(self.bits | other.bits, self.n, self.missing or other.missing)

    def join(self, other: Codes) -> Codes:
        """Return all of both, as :meth:`Interval.join` does where it can."""
        return self.hull(other)

    def covers(self, other: Codes) -> bool:
        """Return whether it has all of the other."""
        return self.hull(other) == self

    def looser(self) -> list[Codes]:
        """Return none: a set of codes is dropped or kept."""
        return []

    def within(self, known: Codes) -> Codes:
        """Return the simplest set that has the same values as this one among those known to be possible."""
        return self.meet(known)

    def holds(self, x: NDArray[Any]) -> BoolArray:
        """Return for each value whether it is in the set."""
        with np.errstate(invalid="ignore"):
            known = (x >= 0) & (x < self.n) & (x == np.floor(x))
        chosen = np.isin(np.arange(self.n), self.codes)
        return np.where(known, chosen[np.where(known, x, 0).astype(np.int64)], self.missing)


Values = Interval | Codes
Box = dict[int, Any]  # of each tested feature its Values; the first tested comes first


def meet(a: Box, b: Box) -> Box | None:
    """Return what both boxes have, None if that is nothing."""
    both = dict(a)
    for feature, values in b.items():
        both[feature] = values.meet(both[feature]) if feature in both else values
        if both[feature].is_empty:
            return None
    return both


def covers(a: Box, b: Box) -> bool:
    """Return whether box `a` has all of box `b`."""
    return all(feature in b and values.covers(b[feature]) for feature, values in a.items())


def hull(boxes: Sequence[Box]) -> Box:
    """Return the smallest box with all of some boxes."""
    common = [f for f in boxes[0] if all(f in box for box in boxes)] if boxes else []
    return {f: reduce(lambda a, b: a.hull(b), (box[f] for box in boxes)) for f in common}


def join(boxes: Iterable[Box]) -> list[Box]:
    """Put together boxes that differ in one feature, as long as the result is a box of exactly the same rows."""
    found = list(boxes)
    while True:
        joined: list[Box] = []
        where: dict[Any, int] = {}  # by a feature and the rest of the box
        for box in found:
            keys = [(f, frozenset(item for item in box.items() if item[0] != f)) for f in box]
            for feature, key in zip(box, keys, strict=True):
                at = where.get((feature, key))
                both = None if at is None or feature not in joined[at] else joined[at][feature].join(box[feature])
                if at is not None and both is not None and _without(joined[at], feature) == _without(box, feature):
                    joined[at] = {**joined[at], feature: both}
                    if both.is_everything:
                        del joined[at][feature]
                    break
            else:
                where.update(((f, key), len(joined)) for f, key in keys)
                joined.append(box)
        if len(joined) == len(found):
            return joined
        found = joined


def _without(box: Box, feature: int) -> Box:
    return {f: values for f, values in box.items() if f != feature}


class Partition:
    """The tests of a graph as sets, and for each side of a block its rows in few boxes.

    Parameters
    ----------
    graph : Graph
        A tree or a tree of trees.
    """

    def __init__(self, graph: Graph) -> None:
        self.feature = graph.feature.tolist()
        self.children = list(zip(graph.left.tolist(), graph.right.tolist(), strict=True))
        self.first = graph.first.tolist()
        self.end = graph.end.tolist()
        self.sets = [sides_of_test(graph, node) for node in range(len(self.feature))]
        self.target = graph.jump.tolist()  # where all paths below a node lead, as `jump`
        for node in range(len(self.feature) - 1, -1, -1):  # children come after their parents
            if self.feature[node] >= 0:
                left, right = (self.target[child] for child in self.children[node])
                self.target[node] = left if left == right else MIXED
        self.parent: dict[int, int] = {}  # of a block or a final leaf, as `jump`, the block that leads there
        self.known: dict[int, Box] = {0: {}}  # of a block, a box with all rows that enter it
        self.ends: dict[int, dict[int, Box]] = {}  # by target: nodes below which all paths lead there, and their boxes
        for block in range(len(self.first)):
            for target, ends in self._boxes(block).items():
                self.ends[target] = ends
                self.parent[target] = block
                if target >= 0:
                    cells = (meet(self.known[block], box) for box in ends.values())
                    self.known[target] = hull([cell for cell in cells if cell is not None])
        self._sides: dict[int, list[Box]] = {}
        self._loose: dict[int, Box] = {}

    def _boxes(self, block: int) -> dict[int, dict[int, Box]]:
        boxes: dict[int, Box] = {self.first[block]: {}}
        ends: dict[int, dict[int, Box]] = {}
        for node in range(self.first[block], self.end[block]):
            if node not in boxes:
                continue
            box = boxes.pop(node)
            if self.target[node] != MIXED:
                ends.setdefault(self.target[node], {})[node] = box
                continue
            feature = self.feature[node]
            for child, values in zip(self.children[node], self.sets[node], strict=True):
                part = meet(box, {feature: values})
                if part is not None:
                    boxes[child] = part
        return ends

    def steps(self, leaf: int) -> list[list[Box]]:
        """Return what leads to a final leaf: of each block on the way some boxes, in one of which the row must be."""
        target, found = -1 - leaf, []
        while target != 0:  # the first block is the target of none
            if target not in self._sides:
                self._sides[target] = self._alternatives(target)
            found.append(self._sides[target])
            target = self.parent[target]
        return found[::-1]

    def _alternatives(self, target: int) -> list[Box]:
        cells = join(self.ends[target].values())
        loose = [self._loosen(target, cell, alone=len(cells) == 1) for cell in cells]
        inside = [meet(cell, self.known[self.parent[target]]) for cell in cells]
        return _fewest(loose, [cell for cell in inside if cell is not None])

    def loose_box(self, node: int) -> Box:
        """Return a box around an end of a block's paths in which all rows that enter the block go to one place."""
        if node not in self._loose:
            target = self.target[node]
            ends = self.ends[target]
            self._loose[node] = self._loosen(target, ends[node], alone=len(ends) == 1)
        return self._loose[node]

    def _loosen(self, target: int, box: Box, *, alone: bool) -> Box:
        """Drop tests, the last ones first, as long as no row of another side gets in."""
        if alone and not self.known[self.parent[target]]:
            return box  # each test keeps others out
        for feature in list(box)[::-1]:
            rest = _without(box, feature)
            if not self._reaches_others(target, rest):
                box = rest
                continue
            for values in box[feature].looser():
                wider = {**box, feature: values.hull(box[feature])}  # the other bound may be gone already
                if wider != box and not self._reaches_others(target, wider):
                    box = wider
        return box

    def _reaches_others(self, target: int, box: Box) -> bool:
        block = self.parent[target]
        start = meet(box, self.known[block])
        stack = [] if start is None else [(self.first[block], start)]
        while stack:
            node, inside = stack.pop()
            if self.target[node] == target:
                continue
            if self.target[node] != MIXED:
                return True
            feature = self.feature[node]
            for child, values in zip(self.children[node], self.sets[node], strict=True):
                part = values if feature not in inside else inside[feature].meet(values)
                if not part.is_empty:
                    stack.append((child, {**inside, feature: part}))
        return False


def sides_of_test(graph: Graph, node: int) -> tuple[Values, ...]:
    """Return the values that go left and those that go right at a node; nothing for a leaf."""
    feature = int(graph.feature[node])
    if feature < 0:
        return ()
    missing, n = bool(graph.missing_left[node]), int(graph.n_categories[feature])
    if not n:
        threshold = float(graph.threshold[node])
        numbers = Interval()
        below, above = Interval(-math.inf, threshold, missing), Interval(threshold, math.inf, not missing)
        return numbers.meet(below), numbers.meet(above)
    bits = sum(int(word) << 64 * i for i, word in enumerate(graph.subset[node])) & ((1 << n) - 1)
    return Codes(bits, n, missing), Codes(~bits & ((1 << n) - 1), n, not missing)


def _fewest(boxes: Sequence[Box], cells: Sequence[Box]) -> list[Box]:
    """Choose boxes, one after the other, until each cell is within one of them."""
    found: list[Box] = []
    inside = [{i for i, cell in enumerate(cells) if covers(box, cell)} for box in boxes]
    open_ = set(range(len(cells)))
    while open_:
        best = max(range(len(boxes)), key=lambda i: (len(inside[i] & open_), -len(boxes[i])))
        found.append(boxes[best])
        open_ -= inside[best]
    return found
