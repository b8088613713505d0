"""The score of a tree or a forest as one SQL expression."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from scarce._typing import Cell
from scarce.trees._engine._kernels_walk import BOUNDARY, PATH, majority
from scarce.trees._engine.boxes import MIXED, Box, Codes, Interval, Partition, Values
from scarce.trees._engine.tree import Graph, LeafScores

__all__ = ["Coded", "Column", "double", "literal", "quoted", "to_sql"]


class Column(NamedTuple):
    """The value of a feature as an expression; a missing value is NULL."""

    text: str

    def condition(self, values: Values) -> str:
        """Return the condition that a known value is in a set; it is not true for NULL."""
        if isinstance(values, Codes):
            return f"{self.text} IN ({', '.join(map(str, values.codes))})" if values.bits else "FALSE"
        if not values.low < values.high:
            return "FALSE"
        if math.isfinite(values.low):
            return f"{self.text} > {double(values.low)}"
        return f"{self.text} <= {double(values.high)}" if math.isfinite(values.high) else f"{self.text} IS NOT NULL"


class Coded(NamedTuple):
    """The code of a category: tests are written on the categories, so that they are short and can be read."""

    source: str  # the column of categories
    codes: dict[Cell, float]
    missing: float = math.nan  # the codes of a missing category and of one that is not listed; NaN for none
    unknown: float = math.nan

    @property
    def text(self) -> str:
        """The code as an expression."""
        # Without a case of its own a missing category would have the code of an unknown one.
        cases = [f"WHEN {self.source} IS NULL THEN {double(self.missing)}"]
        cases += [f"WHEN {self.source} = {literal(name)} THEN {double(code)}" for name, code in self.codes.items()]
        return f"CASE {' '.join(cases)} ELSE {double(self.unknown)} END"

    def condition(self, values: Values) -> str:
        """Return the condition that the code is in a set; it is not true for a missing code."""
        inside = {name: _has(values, code) for name, code in self.codes.items()}
        chosen = ", ".join(literal(name) for name, is_in in inside.items() if is_in)
        others = ", ".join(literal(name) for name, is_in in inside.items() if not is_in)
        if _has(values, self.unknown):
            known = f"{self.source} NOT IN ({others})" if others else f"{self.source} IS NOT NULL"
        else:
            known = f"{self.source} IN ({chosen})" if chosen else "FALSE"
        return f"({known} OR {self.source} IS NULL)" if _has(values, self.missing) else known


def _has(values: Values, code: float) -> bool:
    return not math.isnan(code) and bool(values.holds(np.array([code]))[0])


def to_sql(trees: Iterable[tuple[Graph, LeafScores]], columns: Sequence[Column | Coded], *, mean: bool = True) -> str:
    """Return the mean or the sum of trees as one SQL expression, which DuckDB evaluates to the same numbers.

    The expression has each test once, or twice: a tree of trees does not repeat a tree that many leaves lead to. Every
    number is written as a DOUBLE that reads back to the same bits, and the operations and their order are those of the
    trees, so that the scores are equal bit for bit. A column of type FLOAT is compared as a DOUBLE, as the trees
    compare ``float32``; give both the same numbers. A missing value is NULL; turn NaN into NULL before.

    DuckDB plans an expression in a time that grows with the square of its length, whatever the number of rows: some
    seconds for a hundred trees of trees of depth 3.

    Parameters
    ----------
    trees : iterable of (Graph, LeafScores)
        One tree, or those of a forest: ``[(model.tree_, model.leaf_scores_)]`` or ``model.trees_``.
    columns : sequence of Column or Coded
        The expression of each feature.
    mean : bool, default=True
        Whether to divide by the number of trees.
    """
    scores = [_Tree(graph, leaves, columns).score(0) for graph, leaves in trees]
    if len(scores) == 1:
        return scores[0]
    total = "\n+ ".join(scores)
    return f"({total}) / {double(len(scores))}" if mean else total


class _Tree:
    """The expressions of one tree or tree of trees."""

    def __init__(self, graph: Graph, scores: LeafScores, columns: Sequence[Column | Coded]) -> None:
        if scores.mode == BOUNDARY:
            raise ValueError(
                'to_sql cannot express tie_break="boundary", the distance to all leaves of the other label. Fit the '
                'model with tie_break="path" or tie_break=None.'
            )
        self.graph = graph
        self.scores = scores
        self.columns = columns
        self.partition = Partition(graph)

    def score(self, block: int) -> str:
        """Return the score of the rows that enter a block."""
        targets = [target for target, parent in self.partition.parent.items() if parent == block]
        blocks = [target for target in targets if target >= 0]
        if len(blocks) == 2:
            first, second = blocks
            side = self._nested(block, {first: "TRUE", second: "FALSE"})
            return f"CASE WHEN {side} THEN {self.score(first)} ELSE {self.score(second)} END"
        here = self._nested(block, dict.fromkeys(blocks, "NULL"))
        return f"COALESCE({here}, {self.score(blocks[0])})" if blocks else here

    def _nested(self, block: int, of_block: dict[int, str]) -> str:
        """Return the tests of a block, with the expressions of the blocks that follow and the scores of its leaves."""
        partition = self.partition
        first, end = partition.first[block], partition.end[block]
        boxes: dict[int, Box] = {first: {}}
        for node in range(first, end):
            feature = partition.feature[node]
            for child, values in zip(partition.children[node], partition.sets[node], strict=False):
                before = boxes[node].get(feature)
                boxes[child] = {**boxes[node], feature: values if before is None else before.meet(values)}
        text: dict[int, str] = {}
        for node in range(end - 1, first - 1, -1):  # children come after their parents
            target = partition.target[node]
            if target in of_block:
                text[node] = of_block[target]
            elif target != MIXED and self.scores.mode != PATH:
                text[node] = double(self.scores.value[-1 - target])
            elif partition.feature[node] < 0:
                text[node] = self._leaf(node, -1 - target, boxes[node])
            else:
                left, right = (text[child] for child in partition.children[node])
                text[node] = self._choice(node, left, right)
        return text[first]

    def _choice(self, node: int, left: str, right: str) -> str:
        """Return a CASE whose condition is true for one side and false or unknown for the other, and for NULL."""
        partition = self.partition
        column = self.columns[partition.feature[node]]
        sides = sorted(zip(partition.sets[node], (left, right), strict=True), key=lambda side: side[0].missing)
        (known, then), (_, otherwise) = sides
        return f"CASE WHEN {column.condition(known)} THEN {then} ELSE {otherwise} END"

    def _leaf(self, node: int, leaf: int, box: Box) -> str:
        value, spread = float(self.scores.value[leaf]), float(self.scores.spread[leaf])
        low, high = float(self.scores.low[leaf]), float(self.scores.high[leaf])
        width = high - low
        if not width > 0:
            return double(value)
        sign = majority(*self.graph.sums[node, :2])
        # Of the thresholds on the way the nearest are the ends of the interval in which the value is.
        gaps = [
            gap
            for feature, values in box.items()
            if isinstance(values, Interval)
            for gap in (
                f"{self.columns[feature].text} - {double(values.low)}" if math.isfinite(values.low) else "",
                f"{double(values.high)} - {self.columns[feature].text}" if math.isfinite(values.high) else "",
            )
            if gap
        ]
        distance = "0e0"
        if gaps and sign:
            nearest = f"LEAST({', '.join(gaps)})" if len(gaps) > 1 else gaps[0]
            distance = f"COALESCE({nearest}, 0e0)"  # NULL if all values on the way are missing
            distance = f"-{distance}" if sign < 0 else distance
        place = f"LEAST(GREATEST(({distance} - {double(low)}) / {double(width)}, 0e0), 1e0)"
        return f"{double(value)} + {double(spread)} * {place}"


def quoted(name: str, quote: str = '"') -> str:
    """Return the name of a column between quotes, which are doubled inside of it."""
    return f"{quote}{name.replace(quote, 2 * quote) if quote else name}{quote}"


def double(x: float) -> str:
    """Return a literal that SQL reads as a DOUBLE of the same bits, NULL for NaN."""
    if math.isnan(x):
        return "NULL"
    if math.isinf(x):
        return f"CAST('{'-' if x < 0 else ''}Infinity' AS DOUBLE)"
    text = repr(float(x))
    text = text if "e" in text else f"{text.removesuffix('.0')}e0"  # without an exponent it would be a DECIMAL
    return f"({text})" if x < 0 else text


def literal(value: Cell) -> str:
    """Return a text, a number or a truth value as SQL; other kinds are refused."""
    if isinstance(value, str) and "\0" not in value:
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool | np.bool_):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return double(float(value))
    raise ValueError(f"{value!r} is not a text, a number or a truth value.")
