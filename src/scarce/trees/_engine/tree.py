"""The grown tree as plain arrays, and the functions that grow one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._typing import BoolArray, FloatArray
from scarce.trees._engine import _kernels_criteria as criteria
from scarce.trees._engine._kernels_grow import grow
from scarce.trees._engine._kernels_meta import grow_meta
from scarce.trees._engine._kernels_split import WORDS
from scarce.trees._engine._kernels_walk import BOUNDARY, NO_DISTANCE, PATH, add_scores, leaf_boxes, leaf_range, walk
from scarce.trees._engine.columns import Columns, rows_in_order

CRITERIA = {
    "gini": criteria.GINI,
    "entropy": criteria.ENTROPY,
    "ap_mean": criteria.AP_MEAN,
    "ap_max": criteria.AP_MAX,
    "weighted_error": criteria.WEIGHTED_ERROR,
    "balanced": criteria.BALANCED,
    "top_k": criteria.TOP_K,
    "newton": criteria.NEWTON,
    "profit": criteria.PROFIT,
    "profit_unweighted": criteria.PROFIT_UNWEIGHTED,
    "cost": criteria.COST,
}
TIE_BREAKS = {None: NO_DISTANCE, "path": PATH, "boundary": BOUNDARY}
HISTOGRAM_BYTES = 64 * 2**20  # for histograms of children that wait


class Rule(NamedTuple):
    """The rule by which nodes are split."""

    criterion: int
    max_depth: int
    min_samples_leaf: int
    max_features: int
    min_gain: float  # in shares of the root's weight (or in money for each unit of it)
    inherit: bool  # compare a split with the AP of the parent's split
    random: bool = False  # split each feature at one drawn threshold instead of its best


class Graph(NamedTuple):
    """A tree, or a tree of trees, as arrays; node 0 is the root.

    A leaf has feature -1, and `jump` is where it leads: to block `jump`, or to the final leaf -1 - jump.
    """

    feature: NDArray[np.int64]
    threshold: FloatArray  # x <= threshold goes left; NaN for categories
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    missing_left: BoolArray
    jump: NDArray[np.int64]
    n_rows: NDArray[np.int64]  # training rows
    sums: FloatArray  # weight, positives, earned if called positive, if negative
    subset: NDArray[np.uint64]  # the categories that go left, as bits; no rows if all features are numeric
    first: NDArray[np.int64]  # of each block, its first node
    end: NDArray[np.int64]
    side: NDArray[np.int64]  # (blocks, 2): where the better and the other side lead, as `jump`
    n_categories: NDArray[np.int64]
    low: FloatArray  # boxes of the nodes, for the distance to the boundary only
    high: FloatArray
    scale: FloatArray

    @property
    def n_leaves(self) -> int:
        """The number of final leaves."""
        return int(-self.jump[self.feature < 0].min())

    def leaf_sums(self) -> FloatArray:
        """Return the sums of each final leaf."""
        sums = np.zeros((self.n_leaves, 4))
        final = (self.feature < 0) & (self.jump < 0)
        np.add.at(sums, -1 - self.jump[final], self.sums[final])
        return sums

    def leaf_counts(self) -> NDArray[np.int64]:
        """Return the number of training rows of each final leaf."""
        final = (self.feature < 0) & (self.jump < 0)
        return np.bincount(-1 - self.jump[final], self.n_rows[final], self.n_leaves).astype(np.int64)

    def apply(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Return the final leaf of each row."""
        leaf = np.empty(len(X), np.int64)
        walk(X, self, NO_DISTANCE, leaf, np.empty(0))
        return leaf


class LeafScores(NamedTuple):
    """The score of a row: its leaf's value, plus `spread` times its place between the distances seen in training."""

    value: FloatArray
    spread: FloatArray
    low: FloatArray
    high: FloatArray
    mode: int

    def add_to(self, out: FloatArray, graph: Graph, X: NDArray[Any]) -> None:
        """Add each row's score to `out`."""
        leaf, distance = np.empty(len(X), np.int64), np.zeros(len(X))
        walk(X, graph, self.mode, leaf, distance)
        add_scores(leaf, distance, self.value, self.spread, self.low, self.high, out)


class _Draws(NamedTuple):
    """The split that was drawn for each feature of a node."""

    number: NDArray[np.uint64]
    least: NDArray[np.uint32]  # codes
    most: NDArray[np.int32]
    last: NDArray[np.uint32]  # that goes left
    threshold: FloatArray
    n_left: NDArray[np.int64]
    n_missing: NDArray[np.int64]
    sums: FloatArray  # (8, features): the sums of the left, and of missing values


class _Scratch(NamedTuple):
    """Memory of the growing kernels."""

    left: NDArray[np.uint8]
    buffer: NDArray[np.int32]
    local: FloatArray
    histograms: FloatArray
    cells: FloatArray
    leaf: NDArray[np.int64]
    rows: NDArray[np.int32]
    order: NDArray[np.int32]
    draws: _Draws


def grow_tree(
    columns: Columns, order: NDArray[np.int32], stats: FloatArray, rule: Rule, *, parameter: float = 0.0, seed: int = 0
) -> Graph:
    """Grow one tree on the rows with a positive weight; `parameter` is that of the criterion."""
    rows, order, whole = _start(order, stats, rule)
    scratch, nodes = _allocate(columns, len(stats), len(rows), rule, meta=False)
    n = grow(
        columns, rows, order, stats, whole, 0, len(rows), rule, float(parameter), np.uint64(seed), scratch, nodes,
        *_kinds(columns),
    )  # fmt: skip
    leaf = nodes.feature[:n] < 0
    nodes.jump[:n][leaf] = -1 - np.arange(leaf.sum())
    nodes.first[0], nodes.end[0] = 0, n
    nodes.side[0] = 0  # a single tree has no sides
    return _trim(nodes, n, 1)


def grow_meta_tree(
    columns: Columns,
    order: NDArray[np.int32],
    stats: FloatArray,
    rule: Rule,
    *,
    max_depth: int,
    min_split: int,
    by: int,
    merge: int,
    budget: float = 0.0,
    seed: int = 0,
) -> Graph:
    """Grow a tree of trees on the rows with a positive weight."""
    rows, kept_order, whole = _start(order, stats, rule)
    scratch, nodes = _allocate(columns, len(stats), len(rows), rule, meta=True)
    max_depth = min(max_depth, len(rows))  # each level parts rows
    # On a level of the tree of trees a row is in one block, and a block has at most the nodes of one tree.
    n_blocks = min(len(rows), 2 ** min(max_depth, 40))
    out = _nodes(min(n_blocks * len(nodes.feature), 2 * len(rows) * max_depth), n_blocks, columns)
    n, n_blocks, n_leaves = grow_meta(
        columns, rows, kept_order, stats, whole, rule, max_depth, min_split, by, merge, float(budget), np.uint64(seed),
        scratch, nodes, out, *_kinds(columns),
    )  # fmt: skip
    if n_leaves == 1:  # nothing could be split: a block of one leaf, so that every tree has a root
        return grow_tree(columns, order, stats, rule._replace(max_depth=0))
    return _trim(out, n, n_blocks)


def _start(
    order: NDArray[np.int32], stats: FloatArray, rule: Rule
) -> tuple[NDArray[np.int32], NDArray[np.int32], bool]:
    """Return the rows that count, their order if splits need it, and whether all sums of counts are exact."""
    keep = stats[:, 0] > 0
    rows = np.flatnonzero(keep).astype(np.int32)
    if rule.random:
        order = np.empty((len(order), 0), np.int32)
    elif order.shape[1]:
        order = order.copy() if len(rows) == len(keep) else rows_in_order(order, keep, len(rows))
    whole = stats.shape[1] == 2 and bool(np.all(stats == np.floor(stats)))
    return rows, order, whole


def _kinds(columns: Columns) -> tuple[bool | None, bool | None, bool | None]:
    """Return whether there are bins, categories, and codes by row: True, or None, for which numba compiles less."""
    kinds = columns.bins.shape[1] > 0, bool(np.any(columns.n_categories)), len(columns.by_row) > 0
    return kinds[0] or None, kinds[1] or None, kinds[2] or None


def _allocate(columns: Columns, n: int, n_kept: int, rule: Rule, meta: bool) -> tuple[_Scratch, Graph]:
    d = len(columns.n_categories)
    binned = columns.bins.shape[1] > 0
    wide = rule.criterion >= criteria.PROFIT
    sorted_, histograms = not binned and not rule.random, binned and not rule.random
    slots = min(24, rule.max_depth, HISTOGRAM_BYTES // (d * 256 * 5 * 8)) if rule.max_features >= d else 0
    scratch = _Scratch(
        left=np.empty(n, np.uint8),
        buffer=np.empty(n_kept, np.int32),
        local=np.empty((0 if sorted_ else n_kept, 4 if wide else 2)),
        histograms=np.empty((slots + 1 if histograms else 1, d if histograms else 0, 256, 5)),
        cells=np.empty((257, 5)),
        leaf=np.empty(n, np.int64),
        rows=np.empty(n_kept if meta else 0, np.int32),
        order=np.empty((d, n_kept if meta and sorted_ else 0), np.int32),
        draws=_Draws(
            number=np.empty(d, np.uint64),
            least=np.empty(d, np.uint32),
            most=np.empty(d, np.int32),
            last=np.empty(d, np.uint32),
            threshold=np.full(d, np.inf),
            n_left=np.empty(d, np.int64),
            n_missing=np.empty(d, np.int64),
            sums=np.empty((8, d)),
        ),
    )
    return scratch, _nodes(min(max(2 * n_kept, 2), 2 ** (min(rule.max_depth, 40) + 1)) - 1, 1, columns)


def _nodes(room: int, n_blocks: int, columns: Columns) -> Graph:
    """Return a graph with room for nodes and blocks; memory is taken only where it is written."""
    none = np.empty((0, 0))
    return Graph(
        feature=np.empty(room, np.int64),
        threshold=np.empty(room),
        left=np.empty(room, np.int64),
        right=np.empty(room, np.int64),
        missing_left=np.empty(room, np.bool_),
        jump=np.zeros(room, np.int64),
        n_rows=np.empty(room, np.int64),
        sums=np.empty((room, 4)),
        subset=np.zeros((room if np.any(columns.n_categories) else 0, WORDS), np.uint64),
        first=np.empty(n_blocks, np.int64),
        end=np.empty(n_blocks, np.int64),
        side=np.empty((n_blocks, 2), np.int64),
        n_categories=columns.n_categories,
        low=none,
        high=none,
        scale=np.empty(0),
    )


def _trim(graph: Graph, n: int, n_blocks: int) -> Graph:
    """Return the graph without the room that was not used."""
    nodes = ("feature", "threshold", "left", "right", "missing_left", "jump", "n_rows", "sums", "subset")
    trimmed = {name: getattr(graph, name)[:n].copy() for name in nodes}
    trimmed |= {name: getattr(graph, name)[:n_blocks].copy() for name in ("first", "end", "side")}
    return graph._replace(**trimmed)


def refine_leaves(graph: Graph, prior: float) -> tuple[Graph, FloatArray]:
    """Return a tree of trees whose final leaves are the leaves of the last trees, and the precision of each.

    The precision is smoothed: the share of positives after one more row with the share `prior`, so that of two pure
    leaves the larger is first. Within a merged leaf the best are first, and equal ones stay merged. A side that ends
    leads to the first of its leaves.
    """
    ends = np.flatnonzero((graph.feature < 0) & (graph.jump < 0))
    merged = -1 - graph.jump[ends]
    share = (graph.sums[ends, 1] + prior) / (graph.sums[ends, 0] + 1)
    order = np.lexsort((-share, merged))
    new = (np.diff(merged[order], prepend=-1) != 0) | (np.diff(share[order], prepend=np.nan) != 0)
    refined = np.cumsum(new) - 1
    jump, side = graph.jump.copy(), graph.side.copy()
    jump[ends[order]] = -1 - refined
    first = refined[np.searchsorted(merged[order], -1 - side[side < 0])]
    side[side < 0] = -1 - first
    return graph._replace(jump=jump, side=side), share[order][new]


def with_boxes(graph: Graph, scale: FloatArray) -> Graph:
    """Return the graph with the boxes of its nodes, which the distance to the boundary needs."""
    shape = (len(graph.feature), len(scale))
    low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
    leaf_boxes(graph, low, high)
    return graph._replace(low=low, high=high, scale=scale)


def path_distances(graph: Graph, X: NDArray[Any]) -> FloatArray:
    """Return the smallest distance of each row to a threshold on its path, signed by the majority of its leaf."""
    leaf, distance = np.empty(len(X), np.int64), np.zeros(len(X))
    walk(X, graph, PATH, leaf, distance)
    return distance


def leaf_scores(
    graph: Graph, value: FloatArray, spread: FloatArray, X: NDArray[Any], weight: FloatArray, tie_break: str | None
) -> LeafScores:
    """Return the leaf scores, with the range of the distances of training rows in each leaf."""
    mode = TIE_BREAKS[tie_break]
    low, high = np.zeros(len(value)), np.zeros(len(value))
    if mode == NO_DISTANCE:
        return LeafScores(value, np.zeros(len(value)), low, high, mode)
    leaf, distance = np.empty(len(X), np.int64), np.zeros(len(X))
    walk(X, graph, mode, leaf, distance)
    leaf_range(leaf, distance, weight, low, high)
    return LeafScores(value, spread, low, high, mode)
