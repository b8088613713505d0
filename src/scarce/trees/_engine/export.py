"""A tree as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from scarce._typing import BoolArray, Cell, Json
from scarce.trees._engine.boxes import Codes, Values, sides_of_test
from scarce.trees._engine.format import Categories, describe, finite, number
from scarce.trees._engine.tree import TIE_BREAKS, Graph, LeafScores

__all__ = ["to_dict", "to_text"]

_FORMAT = 1


def to_text(
    graph: Graph,
    names: Sequence[str],
    scores: LeafScores,
    *,
    missing: ArrayLike | None = None,
    categories: Categories = None,
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
    scores : LeafScores
        The scores of the leaves.
    missing : array-like of bool of shape (n_features,), optional
        The features for which the text shows where a missing value goes; all if not given.
    categories : sequence of (sequence or None), optional
        Of each feature the names of its codes, to be shown instead of them.
    width : int, default=80
        The longest line. Longer ones are shortened: first the condition, then the end.
    """
    show = np.ones(len(names), dtype=bool) if missing is None else np.asarray(missing, dtype=bool)
    return "\n".join(
        _shortened(_shortened(head, width - len(tail)) + tail, width)
        for head, tail in _lines(graph, names, scores, show, categories or [None] * len(names))
    )


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 12)] + "…"


def _lines(
    graph: Graph,
    names: Sequence[str],
    scores: LeafScores,
    show: BoolArray,
    categories: Sequence[Sequence[Cell] | None],
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
                feature = int(graph.feature[node])
                left, right = (
                    describe(names[feature], values, bool(show[feature]), categories[feature])
                    for values in sides_of_test(graph, node)
                )
                stack += [(int(graph.right[node]), depth + 1, right), (int(graph.left[node]), depth + 1, left)]


def _counts(graph: Graph, node: int) -> str:
    weight, positives = graph.sums[node, :2].tolist()
    weighted = "" if weight == graph.n_rows[node] else f" of weight {number(weight)}"
    return f"{graph.n_rows[node]} rows{weighted}, {number(positives)} positive"


def _end(graph: Graph, node: int, scores: LeafScores) -> str:
    jump = int(graph.jump[node])
    if jump >= 0:
        return f"to tree {jump + 1} [{_counts(graph, node)}]"
    return f"leaf {-jump}, score {number(scores.value[-1 - jump])} [{_counts(graph, node)}]"


def to_dict(graph: Graph, names: Sequence[str], scores: LeafScores) -> Json:
    """Return a tree as lists, numbers and texts that any JSON reader takes.

    Nodes are numbered in their order. A node has either a test, or "to_block" or "leaf" where its rows go on. What is
    "up_to" a number goes left, or what is one of the "codes"; "up_to" None sends every known value left.
    """
    blocks = [
        [_node_to_dict(graph, names, node) for node in range(first, end)]
        for first, end in zip(graph.first.tolist(), graph.end.tolist(), strict=True)
    ]
    data: Json = {
        "format": _FORMAT,
        "features": list(names),
        "n_categories": graph.n_categories.tolist(),
        "blocks": blocks,
        "sides": graph.side.tolist(),
        "scores": {
            "value": scores.value.tolist(),
            "spread": scores.spread.tolist(),
            "low": [finite(x) for x in scores.low.tolist()],
            "high": [finite(x) for x in scores.high.tolist()],
            "tie_break": next(name for name, mode in TIE_BREAKS.items() if mode == scores.mode),
        },
    }
    if len(graph.scale):
        data["scale"] = graph.scale.tolist()
    return data


def _node_to_dict(graph: Graph, names: Sequence[str], node: int) -> Json:
    plain: Json = {"rows": int(graph.n_rows[node]), "sums": graph.sums[node].tolist()}
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
