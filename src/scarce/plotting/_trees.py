"""A tree, or a tree of trees, as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from scarce._colours import GREEN, RED
from scarce._typing import Axes, Keywords
from scarce.plotting._display import check_drawable, pyplot
from scarce.trees._engine import Graph, LeafScores
from scarce.trees._engine.boxes import sides_of_test
from scarce.trees._engine.format import describe, number
from scarce.trees._engine.rules import compactness, ranked
from scarce.trees._readable import ReadableTree

__all__ = ["MetaTreeDisplay"]

# Of the Okabe-Ito palette, and of different strokes: they differ without colours too.
_ARROWS: dict[str, Keywords] = {
    "the test holds": {"color": GREEN, "linestyle": "-"},
    "it does not": {"color": RED, "linestyle": "--"},
    "either way": {"color": "black", "linestyle": "-"},
}
_WIDTH, _HEIGHT = 1.35, 0.95  # inches from one box to the next
_LARGEST = 60.0  # inches
_SLOT = 0.6  # the room of an internal leaf, which has no box: two of them are below every test


class Frame(NamedTuple):
    """The place of an internal tree: its left, lower, right and upper ends."""

    left: float
    bottom: float
    right: float
    top: float


class MetaTreeDisplay:
    """A tree of trees, with an arrow for each side of a test: a final leaf is one box, however many paths lead there.

    Each test shows the rows that reach it and how many are positive, each leaf its rule's number and its score. The
    colour is the share of positives. Frames surround the internal trees; an ordinary tree has none. Made for trees that
    can be read: the picture of a tree of trees of depth 3 fits a page, that of depth 5 does not.

    Make one with :meth:`from_estimator`; the parameters become attributes.

    Parameters
    ----------
    graph : Graph
        The tree, as the attribute `tree_` of an estimator.
    scores : LeafScores
        The scores of its leaves, as `leaf_scores_`.
    names : sequence of str
        The name of each feature.
    missing : array-like of bool, optional
        The features for which to show where a missing value goes; all if not given.

    Attributes
    ----------
    compactness : dict
        The size for a reader: the numbers of "nodes", "leaves", "rules" and "blocks", and the "mean_length" of a
        training row's path.
    boxes_ : dict of int to matplotlib Text
        By the number of its node the box of each test, and by -1 - its number that of each final leaf.
    arrows_ : dict of (int, int) to matplotlib Annotation
        By the numbers of the boxes that they join.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    scarce.trees.MetaAP : A tree of trees.
    scarce.trees.APTree : An ordinary tree.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from scarce.plotting import MetaTreeDisplay
    >>> from scarce.trees import MetaAP
    >>> X, y = make_classification(500, weights=[0.9], flip_y=0.02, random_state=0)
    >>> display = MetaTreeDisplay.from_estimator(MetaAP(max_depth=2).fit(X, y))
    >>> display.compactness["rules"] < display.compactness["leaves"]
    True
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, graph: Graph, scores: LeafScores, names: Sequence[str], *, missing: ArrayLike | None = None
    ) -> None:
        self.graph = graph
        self.scores = scores
        self.names = names
        self.missing = missing
        self.compactness = compactness(graph)

    @classmethod
    def from_estimator(
        cls,
        estimator: ReadableTree,
        *,
        feature_names: Sequence[str] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted tree.

        Parameters
        ----------
        estimator : APTree, MetaAP, TreeRank or ProfitTree
            Fitted.
        feature_names : sequence of str, optional
            The name of each feature; those of `fit` if not given.
        ax : matplotlib Axes, optional
            Where to draw; a new figure that is large enough if not given.
        **kwargs
            For the boxes' matplotlib `Text`, such as ``fontsize``.

        Returns
        -------
        display
        """
        advice = (
            "Of a pipeline give the last step, and of a forest one of its trees: "
            "MetaTreeDisplay(*forest.trees_[0], names).plot()."
        )
        check_drawable(cls, estimator, ReadableTree, advice, "a single tree, such as MetaAP or APTree")
        names = estimator._feature_names if feature_names is None else list(feature_names)
        if len(names) != estimator.n_features_in_:
            raise ValueError(f"feature_names must name all {estimator.n_features_in_} features; got {len(names)}.")
        return cls(estimator.tree_, estimator.leaf_scores_, names, missing=estimator._missing).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, cmap: Any = "YlOrRd", **kwargs: Any) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure that is large enough if not given.
        cmap : str or matplotlib Colormap, default="YlOrRd"
            The colours of the shares of positives.
        **kwargs
            For the boxes' matplotlib `Text`, such as ``fontsize``.

        Returns
        -------
        self
        """
        plt = pyplot()
        from matplotlib.cm import ScalarMappable
        from matplotlib.patches import FancyBboxPatch

        places, frames = _layout(self.graph)
        corners = [[(frame.left, frame.bottom), (frame.right, frame.top)] for frame in frames]
        around = [[(x - 0.6, y - 0.5), (x + 0.6, y + 0.5)] for x, y in places.values()]
        ends = np.array([*around, *corners]).reshape(-1, 2)
        (left, bottom), (right, top) = ends.min(axis=0) - 0.05, ends.max(axis=0) + 0.05
        if ax is None:
            size = (right - left) * _WIDTH + 1.5, (top - bottom) * _HEIGHT + 0.5
            ax = plt.subplots(figsize=np.clip(size, 5, _LARGEST), layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        shares = {box: self._share(box) for box in places}
        colors: Any = ScalarMappable(cmap=cmap)
        colors.set_clim(0, max(shares.values()) or 1)
        for i, frame in enumerate(frames if len(frames) > 1 else []):
            width, height = frame.right - frame.left, frame.top - frame.bottom
            shape = "round,pad=0,rounding_size=0.1"
            colours: Any = {"facecolor": "#f3f3f3", "edgecolor": "#bbbbbb"}
            corner = (frame.left, frame.bottom)
            ax.add_patch(FancyBboxPatch(corner, width, height, boxstyle=shape, zorder=0, **colours))
            ax.text(frame.left + 0.05, frame.top - 0.03, f"tree {i + 1}", va="top", fontsize=7, color="#666666")
        self.arrows_ = {
            (start, stop): ax.annotate(
                "",
                xy=(places[stop][0], places[stop][1] + 0.28),
                xytext=(places[start][0], places[start][1] - 0.22),
                arrowprops={"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, **_ARROWS[kind]},
                zorder=1,
            )
            for start, stop, kind in self._edges()
        }
        self.boxes_ = {}
        for box, (x, y) in places.items():
            color = colors.to_rgba(shares[box])
            dark = np.dot(color[:3], (0.299, 0.587, 0.114)) < 0.5
            style = {"fontsize": 7.0, "color": "white" if dark else "black", **kwargs}
            edge = {"facecolor": color, "edgecolor": "black", "linewidth": 1.2 if box < 0 else 0.6}
            outline = {"boxstyle": "round,pad=0.35" if box < 0 else "square,pad=0.35", **edge}
            self.boxes_[box] = ax.text(x, y, self._text(box), ha="center", va="center", bbox=outline, zorder=2, **style)
        ax.set(xlim=(left, right), ylim=(bottom, top))
        ax.set_axis_off()
        lines = [ax.plot([], [], label=kind, **style)[0] for kind, style in _ARROWS.items()]
        ax.legend(handles=lines, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
        self.figure_.colorbar(colors, ax=ax, label="share of positives in training", shrink=0.6)
        return self

    def _share(self, box: int) -> float:
        sums = self.graph.sums[box] if box >= 0 else self.graph.leaf_sums()[-1 - box]
        return float(sums[1] / sums[0])

    def _text(self, box: int) -> str:
        graph = self.graph
        if box >= 0:
            feature = graph.feature[box]
            show_missing = self.missing is None or bool(np.asarray(self.missing)[feature])
            title = describe(self.names[feature], sides_of_test(graph, box)[0], show_missing)
            rows, positives = graph.n_rows[box], graph.sums[box, 1]
        else:
            leaf = -1 - box
            value, _, order = ranked(self.scores)
            title = f"rule {order.tolist().index(leaf) + 1}: score {number(value[leaf], 3)}"
            rows, positives = graph.leaf_counts()[leaf], graph.leaf_sums()[leaf, 1]
        return f"{title}\n{rows} rows, {number(positives)} positive"

    def _edges(self) -> Iterator[tuple[int, int, str]]:
        """Yield the ends and the kind of each arrow."""
        holds, fails, either = _ARROWS
        for node in np.flatnonzero(self.graph.feature >= 0).tolist():
            left, right = (_box_of(self.graph, int(side[node])) for side in (self.graph.left, self.graph.right))
            if left == right:
                yield node, left, either
            else:
                yield node, left, holds
                yield node, right, fails


def _box_of(graph: Graph, node: int) -> int:
    """Return the box where a row at a node is drawn: a test, or -1 - a final leaf."""
    if graph.feature[node] >= 0:
        return node
    jump = int(graph.jump[node])
    return jump if jump < 0 else int(graph.first[jump])


def _layout(graph: Graph) -> tuple[dict[int, tuple[float, float]], list[Frame]]:
    """Return the place of each box, and the frame of each block."""
    places: dict[int, tuple[float, float]] = {}
    frames: dict[int, Frame] = {}

    def width(target: int) -> float:
        if target < 0:
            return 1.0
        below = sum(width(side) for side in _sides(graph, target))
        return max(below, own(target) + 0.1)

    def own(block: int) -> float:
        return _SLOT * int((graph.feature[graph.first[block] : graph.end[block]] < 0).sum())

    def put(target: int, left: float, top: float) -> None:
        if target < 0:
            places[target] = (left + 0.5, top - 0.5)
            return
        room = width(target)
        start = left + (room - own(target)) / 2
        bottom = _put_tests(graph, target, start, top - 0.6, places, _SLOT)
        frames[target] = Frame(start, bottom - 0.45, start + own(target), top)
        sides = _sides(graph, target)
        at = left + (room - sum(width(side) for side in sides)) / 2
        for side in sides:
            put(side, at, bottom - 0.85)
            at += width(side)

    if not graph.side.any():  # an ordinary tree
        _put_tests(graph, 0, 0.0, 0.0, places, 1.0, leaves=True)
        return places, []
    put(0, 0.0, 0.0)
    return places, [frames[block] for block in sorted(frames)]


def _sides(graph: Graph, block: int) -> list[int]:
    """Return where a block leads, from the best; a side that ends may lead to several leaves."""
    jumps = graph.jump[graph.first[block] : graph.end[block]]
    final = jumps[(graph.feature[graph.first[block] : graph.end[block]] < 0) & (jumps < 0)]
    leaves = (-np.unique(-final)).tolist()
    first, second = graph.side[block].tolist()
    if first >= 0:
        return [first, *([second] if second >= 0 else leaves)]
    return [*leaves, second] if second >= 0 else leaves


def _put_tests(
    graph: Graph,
    block: int,
    left: float,
    top: float,
    places: dict[int, tuple[float, float]],
    slot: float,
    *,
    leaves: bool = False,
) -> float:
    """Place the tests of a block, each above the middle of its sides; return the height of the lowest."""
    first, end = int(graph.first[block]), int(graph.end[block])
    depth = {first: 0}
    x: dict[int, float] = {}
    for node in range(first, end):
        if graph.feature[node] >= 0:
            depth[int(graph.left[node])] = depth[int(graph.right[node])] = depth[node] + 1
        else:  # nodes are in the order of a walk that goes left first
            x[node] = left + (len(x) + 0.5) * slot
    for node in range(end - 1, first - 1, -1):
        if graph.feature[node] >= 0:
            x[node] = (x[int(graph.left[node])] + x[int(graph.right[node])]) / 2
            places[node] = (x[node], top - depth[node])
        elif leaves:
            places[int(graph.jump[node])] = (x[node], top - depth[node])
    return min((top - d for node, d in depth.items() if graph.feature[node] >= 0), default=top)
