"""A tree as text and as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scarce.trees._engine._kernels_split import WORDS
from scarce.trees._engine.boxes import Codes, Values, sides_of_test
from scarce.trees._engine.format import describe, finite, number
from scarce.trees._engine.tree import TIE_BREAKS, Graph, LeafScores, with_boxes

__all__ = ["from_dict", "to_dict", "to_text"]

_FORMAT = 1


def to_text(
    graph: Graph,
    names: Sequence[str],
    scores: LeafScores | None = None,
    *,
    missing: ArrayLike | None = None,
    width: int = 80,
) -> str:
    """Draw a tree, or one after the other the trees of a tree of trees.

    A missing value goes to the side marked "(or missing)".

    Parameters
    ----------
    graph : Graph
        A tree or a tree of trees.
    names : sequence of str
        The name of each feature.
    scores : LeafScores, optional
        The leaves' scores, to be shown.
    missing : array-like of bool of shape (n_features,), optional
        The features for which the text shows where a missing value goes; all if not given.
    width : int, default=80
        The longest line. Longer ones are shortened: first the condition, then the end.
    """
    show = np.ones(len(names), dtype=bool) if missing is None else np.asarray(missing, dtype=bool)
    return "\n".join(
        _shortened(_shortened(head, width - len(tail)) + tail, width)
        for head, tail in _lines(graph, names, scores, show)
    )


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 12)] + "…"


def _lines(
    graph: Graph, names: Sequence[str], scores: LeafScores | None, show: NDArray[np.bool_]
) -> Iterator[tuple[str, str]]:
    """Yield the lines, each as a head that may be shortened and a tail that must be seen."""
    for block, first in enumerate(graph.first.tolist()):
        if len(graph.first) > 1:
            yield f"Tree {block + 1}", f": {_counts(graph, first)}"
        stack = [(first, 0, "")]
        while stack:
            node, depth, condition = stack.pop()
            ends = graph.feature[node] < 0
            tail = f": {_end(graph, node, scores)}" if ends else ""
            if condition or ends:
                yield "|   " * (depth - 1) + "|-- " * (depth > 0) + condition, tail if condition else tail[2:]
            if not ends:
                name, show_missing = names[graph.feature[node]], bool(show[graph.feature[node]])
                left, right = (describe(name, values, show_missing) for values in sides_of_test(graph, node))
                stack += [(int(graph.right[node]), depth + 1, right), (int(graph.left[node]), depth + 1, left)]


def _counts(graph: Graph, node: int) -> str:
    weight, positives = graph.sums[node, :2].tolist()
    weighted = "" if weight == graph.n_rows[node] else f" of weight {number(weight)}"
    return f"{graph.n_rows[node]} rows{weighted}, {number(positives)} positive"


def _end(graph: Graph, node: int, scores: LeafScores | None) -> str:
    jump = int(graph.jump[node])
    if jump >= 0:
        return f"to tree {jump + 1} [{_counts(graph, node)}]"
    score = "" if scores is None else f", score {number(scores.value[-1 - jump])}"
    return f"leaf {-jump}{score} [{_counts(graph, node)}]"


def to_dict(graph: Graph, names: Sequence[str], scores: LeafScores | None = None) -> dict[str, Any]:
    """Return a tree as lists, numbers and texts that any JSON reader takes; :func:`from_dict` brings it back.

    Nodes are numbered in their order. A node has either a test, or "to_block" or "leaf" where its rows go on. What is
    "up_to" a number goes left, or what is one of the "codes"; "up_to" None sends every known value left.
    """
    blocks = [
        [_node_to_dict(graph, names, node) for node in range(first, end)]
        for first, end in zip(graph.first.tolist(), graph.end.tolist(), strict=True)
    ]
    data: dict[str, Any] = {
        "format": _FORMAT,
        "features": list(names),
        "n_categories": graph.n_categories.tolist(),
        "blocks": blocks,
        "sides": graph.side.tolist(),
    }
    if len(graph.scale):
        data["scale"] = graph.scale.tolist()
    if scores is not None:
        data["scores"] = {
            "value": scores.value.tolist(),
            "spread": scores.spread.tolist(),
            "low": [finite(x) for x in scores.low.tolist()],
            "high": [finite(x) for x in scores.high.tolist()],
            "tie_break": next(name for name, mode in TIE_BREAKS.items() if mode == scores.mode),
        }
    return data


def _node_to_dict(graph: Graph, names: Sequence[str], node: int) -> dict[str, Any]:
    plain: dict[str, Any] = {"rows": int(graph.n_rows[node]), "sums": graph.sums[node].tolist()}
    feature, jump = int(graph.feature[node]), int(graph.jump[node])
    if feature < 0:
        return {**plain, **({"to_block": jump} if jump >= 0 else {"leaf": -1 - jump})}
    left: Values = sides_of_test(graph, node)[0]
    return {
        **plain,
        "feature": names[feature],
        **({"codes": left.codes} if isinstance(left, Codes) else {"up_to": finite(float(graph.threshold[node]))}),
        "missing": "left" if left.missing else "right",
        "left": int(graph.left[node]),
        "right": int(graph.right[node]),
    }


def from_dict(data: Mapping[str, Any]) -> tuple[Graph, list[str], LeafScores | None]:
    """Return the tree, the names of its features and its scores from what :func:`to_dict` gave."""
    if data.get("format") != _FORMAT:
        raise ValueError(f"This is not a tree of format {_FORMAT}, as to_dict gives it; got {data.get('format')!r}.")
    names = list(data["features"])
    nodes = [node for block in data["blocks"] for node in block]
    sizes = np.array([len(block) for block in data["blocks"]], dtype=np.int64)
    end = np.cumsum(sizes)
    n_categories = np.array(data["n_categories"], dtype=np.int64)
    feature = np.array([names.index(node["feature"]) if "feature" in node else -1 for node in nodes], dtype=np.int64)
    empty = np.empty((0, 0))
    graph = Graph(
        feature=feature,
        threshold=np.array([_threshold(node) for node in nodes]),
        left=np.array([node.get("left", -1) for node in nodes], dtype=np.int64),
        right=np.array([node.get("right", -1) for node in nodes], dtype=np.int64),
        missing_left=np.array([node.get("missing") == "left" for node in nodes], dtype=np.bool_),
        jump=np.array([node.get("to_block", -1 - node.get("leaf", 0)) for node in nodes], dtype=np.int64),
        n_rows=np.array([node["rows"] for node in nodes], dtype=np.int64),
        sums=np.array([node["sums"] for node in nodes], dtype=np.float64),
        subset=np.array([_words(node) for node in nodes if n_categories.any()], dtype=np.uint64).reshape(-1, WORDS),
        first=end - sizes,
        end=end,
        side=np.array(data["sides"], dtype=np.int64).reshape(-1, 2),
        n_categories=n_categories,
        low=empty,
        high=empty,
        scale=np.empty(0),
    )
    if "scale" in data:
        graph = with_boxes(graph, np.array(data["scale"], dtype=np.float64))
    return graph, names, _scores(data.get("scores"))


def _threshold(node: Mapping[str, Any]) -> float:
    if "feature" not in node:
        return 0.0
    if "codes" in node:
        return math.nan
    return math.inf if node["up_to"] is None else float(node["up_to"])


def _words(node: Mapping[str, Any]) -> list[int]:
    bits = sum(1 << code for code in node.get("codes", ()))
    return [bits >> 64 * i & (2**64 - 1) for i in range(WORDS)]


def _scores(data: Mapping[str, Any] | None) -> LeafScores | None:
    if data is None:
        return None
    # A leaf without rows has no smallest and no largest distance.
    least = [math.inf if x is None else x for x in data["low"]]
    most = [-math.inf if x is None else x for x in data["high"]]
    value, spread, low, high = np.array([data["value"], data["spread"], least, most], dtype=np.float64)
    return LeafScores(value, spread, low, high, TIE_BREAKS[data["tie_break"]])
