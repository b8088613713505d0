"""Rules an auditor can read: each final leaf as conditions on named features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scarce._typing import BoolArray, IntArray, Json
from scarce.trees._engine.boxes import Box, Codes, Partition, Values, meet
from scarce.trees._engine.format import Categories, describe, finite, number
from scarce.trees._engine.tree import Graph, LeafScores

__all__ = ["Condition", "LeafRule", "RowRule", "compactness", "explain_rows", "ranked", "rules"]

_LISTED = 12  # alternatives of a step that a text lists


@dataclass(frozen=True)
class Condition:
    """A condition of a rule on one feature.

    Attributes
    ----------
    feature : str
        The name.
    column : int
        Its place among the features.
    values : Interval or Codes
        The values that meet the condition, exactly.
    text : str
        The same in words, with numbers of six digits.
    """

    feature: str
    column: int
    values: Values
    text: str

    def __str__(self) -> str:
        return self.text

    def holds(self, X: NDArray[Any]) -> BoolArray:
        """Return for each row whether it meets the condition."""
        return self.values.holds(X[:, self.column])

    def to_dict(self) -> Json:
        """Return plain data; no bound is None."""
        plain: Json = {"feature": self.feature, "text": self.text, "missing": self.values.missing}
        if isinstance(self.values, Codes):
            return {**plain, "codes": self.values.codes}
        low, high = self.values.low, self.values.high
        return {**plain, "above": finite(low), "up_to": finite(high)} if low < high else plain


Conjunction = tuple[Condition, ...]


@dataclass(frozen=True)
class LeafRule:
    """A final leaf: which rows are in it, how many they were in training, and their score.

    A row is in the leaf if it meets all conditions of `always`, and of each entry of `any_of` all conditions of at
    least one alternative.

    Attributes
    ----------
    number : int
        1 for the rule with the highest score.
    leaf : int
        The number of the leaf in the tree.
    always : tuple of Condition
        What every row of the leaf meets.
    any_of : tuple of tuple of tuple of Condition
        For each further step of the way, the alternatives.
    rows : int
        The training rows in the leaf.
    weight, positives : float
        Their weight, and that of the positive ones; without weights these are numbers of rows.
    score : float
        The score of the leaf.
    spread : float
        By how much the tie-break can raise the score of a row of the leaf.
    """

    number: int
    leaf: int
    always: Conjunction
    any_of: tuple[tuple[Conjunction, ...], ...]
    rows: int
    weight: float
    positives: float
    score: float
    spread: float

    @property
    def share(self) -> float:
        """The share of positives among the training rows."""
        return self.positives / self.weight

    @property
    def n_conditions(self) -> int:
        """The number of conditions to read."""
        return len(self.always) + sum(len(each) for step in self.any_of for each in step)

    def holds(self, X: ArrayLike) -> BoolArray:
        """Return for each row whether it is in the leaf."""
        X = np.asarray(X)
        found = _all(self.always, X)
        for step in self.any_of:
            found &= np.logical_or.reduce([_all(each, X) for each in step], axis=0) if step else False
        return found

    def to_dict(self) -> Json:
        """Return the rule as plain data."""
        return {
            "number": self.number,
            "always": [condition.to_dict() for condition in self.always],
            "any_of": [[[condition.to_dict() for condition in each] for each in step] for step in self.any_of],
            "rows": self.rows,
            "weight": self.weight,
            "positives": self.positives,
            "share": self.share,
            "score": self.score,
            "spread": self.spread,
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        score = number(self.score) + (f" to {number(self.score + self.spread)}" if self.spread else "")
        weighted = "" if self.weight == self.rows else f" of weight {number(self.weight)}"
        share = f"{number(self.positives)} positive ({self.share:.1%})"
        yield f"Rule {self.number}: score {score}, {self.rows} rows{weighted}, {share}"
        if not self.always and not self.any_of:
            yield "  every row"
        for i, condition in enumerate(self.always):
            yield f"  {'and ' if i else ''}{condition}"
        for i, step in enumerate(self.any_of):
            yield f"  {'and any of' if i or self.always else 'any of'}"
            for each in step[:_LISTED]:
                yield f"    • {_text(each)}"
            if len(step) > _LISTED:
                yield f"    • … and {len(step) - _LISTED} more"


@dataclass(frozen=True)
class RowRule:
    """The part of a rule that puts one row into its leaf.

    Attributes
    ----------
    number : int
        That of the rule in :func:`rules`.
    conditions : tuple of Condition
        What the row meets, and no row of another leaf.
    rows : int
        The training rows in the leaf.
    share : float
        The share of positives among them, by weight.
    """

    number: int
    conditions: Conjunction
    rows: int
    share: float

    def __str__(self) -> str:
        return f"{_text(self.conditions)} (rule {self.number}: {self.share:.1%} of {self.rows} training rows positive)"


def rules(
    graph: Graph,
    names: Sequence[str],
    scores: LeafScores,
    *,
    missing: ArrayLike | None = None,
    categories: Categories = None,
) -> list[LeafRule]:
    """Return the rule of each final leaf, the highest score first.

    A leaf of a tree of trees is reached by many paths: their number is the product of the numbers of paths through the
    trees on the way. A rule therefore keeps the trees apart: in each of them a row must meet one of some alternatives.
    So it is no longer than the trees, and still exact. Within a tree, touching intervals are put together; tests that
    keep no row out, given the trees before, are dropped, and so are alternatives that contradict the rest of the rule;
    conditions that all alternatives share are listed once.

    Parameters
    ----------
    graph : Graph
        A tree or a tree of trees.
    names : sequence of str
        The name of each feature.
    scores : LeafScores
        The scores of the leaves.
    missing : array-like of bool of shape (n_features,), optional
        The features that had missing values in training. Texts show for these alone what happens to a missing value;
        of all features if not given.
    categories : sequence of (sequence or None), optional
        Of each feature the names of its codes, which texts show instead of them.

    Returns
    -------
    list of LeafRule
    """
    partition = Partition(graph)
    show = _show_missing(names, missing)
    value, spread, order = ranked(scores)
    sums, counts = graph.leaf_sums(), graph.leaf_counts()
    found = []
    for place, leaf in enumerate(order.tolist()):
        always, any_of = _factored(partition.steps(leaf))
        rule = LeafRule(
            number=place + 1,
            leaf=leaf,
            always=_conditions(always, names, show, categories),
            any_of=tuple(tuple(_conditions(box, names, show, categories) for box in step) for step in any_of),
            rows=int(counts[leaf]),
            weight=float(sums[leaf, 0]),
            positives=float(sums[leaf, 1]),
            score=float(value[leaf]),
            spread=float(spread[leaf]),
        )
        found.append(rule)
    return found


def explain_rows(
    graph: Graph,
    names: Sequence[str],
    X: NDArray[Any],
    scores: LeafScores,
    *,
    missing: ArrayLike | None = None,
    categories: Categories = None,
) -> list[RowRule]:
    """Return for each row why it is in its leaf: conditions that it meets and that no row of another leaf meets.

    They are those of the row's own path, without the tests that could have come out otherwise and led to the same leaf.
    Parameters are as in :func:`rules`.
    """
    partition = Partition(graph)
    show = _show_missing(names, missing)
    place = np.argsort(ranked(scores)[2])
    sums, counts = graph.leaf_sums(), graph.leaf_counts()
    paths, path_of = np.unique(_ends_of_paths(graph, partition, X), axis=0, return_inverse=True)
    by_path = []
    for path in paths.tolist():
        box: Box = {}
        for node in path:
            if node >= 0:
                box = meet(box, partition.loose_box(node)) or {}
        leaf = -1 - partition.target[[node for node in path if node >= 0][-1]]
        rule = RowRule(
            number=int(place[leaf]) + 1,
            conditions=_conditions(box, names, show, categories),
            rows=int(counts[leaf]),
            share=float(sums[leaf, 1] / sums[leaf, 0]),
        )
        by_path.append(rule)
    return [by_path[path] for path in path_of.ravel().tolist()]


def compactness(graph: Graph) -> dict[str, float]:
    """Return the size of a tree for a reader.

    "nodes" counts tests, "leaves" the ends of paths, "rules" the final leaves, which several paths may reach, "blocks"
    the internal trees, and "mean_length" is the mean number of tests that a training row passes.
    """
    inner = graph.feature >= 0
    return {
        "nodes": int(inner.sum()),
        "leaves": int((~inner).sum()),
        "rules": graph.n_leaves,
        "blocks": len(graph.first),
        "mean_length": float(graph.n_rows[inner].sum() / graph.n_rows[0]),
    }


def ranked(scores: LeafScores) -> tuple[NDArray[Any], NDArray[Any], IntArray]:
    """Return each leaf's score, the spread of the tie-break, and the leaves from the highest score."""
    spread = np.where(scores.high > scores.low, scores.spread, 0.0)
    return scores.value, spread, np.argsort(-scores.value, kind="stable")


def _show_missing(names: Sequence[str], missing: ArrayLike | None) -> BoolArray:
    return np.ones(len(names), dtype=bool) if missing is None else np.asarray(missing, dtype=bool)


def _factored(steps: list[list[Box]]) -> tuple[Box, list[list[Box]]]:
    """Return what holds always, and the steps with what they add to it."""
    always: Box = {}
    while True:
        before = always
        remaining = []
        for i, step in enumerate(steps):
            others = steps[:i] + steps[i + 1 :]
            kept = [box for box in step if _possible(box, always, others)]
            shared = [f for f in kept[0] if all(box.get(f) == kept[0][f] for box in kept)] if kept else []
            always = meet(always, {f: kept[0][f] for f in shared}) or always
            kept = _distinct(_within(box, always) for box in kept)
            if all(kept) or not kept:  # an alternative without conditions makes the step true
                remaining.append(kept)
            steps = [*steps[:i], kept, *steps[i + 1 :]]
        steps = remaining
        if always == before:
            return always, steps


def _possible(box: Box, always: Box, steps: Iterable[list[Box]]) -> bool:
    """Return whether a row can be in the box, meet what holds always, and one alternative of every step."""
    inside = meet(always, box)
    return inside is not None and all(any(meet(inside, each) is not None for each in step) for step in steps)


def _within(box: Box, always: Box) -> Box:
    """Return the box without what holds always."""
    short = {f: values.within(always[f]) if f in always else values for f, values in box.items()}
    return {f: values for f, values in short.items() if f not in always or not values.covers(always[f])}


def _distinct(boxes: Iterable[Box]) -> list[Box]:
    found: list[Box] = []
    for box in boxes:
        if box not in found:
            found.append(box)
    return found


def _ends_of_paths(graph: Graph, partition: Partition, X: NDArray[Any]) -> NDArray[np.int64]:
    """Return for each row, block after block, the node below which all leads to one place; -1 after the last."""
    target = np.array(partition.target)
    node, row = np.zeros(len(X), np.int64), np.arange(len(X))
    ends: list[NDArray[np.int64]] = []
    while len(row):
        while True:
            inner = np.flatnonzero(~np.isin(target[node], list(partition.ends)))
            if not len(inner):
                break
            at = node[inner]
            feature = graph.feature[at]
            node[inner] = np.where(_go_left(graph, at, X[row[inner], feature]), graph.left[at], graph.right[at])
        column = np.full(len(X), -1)
        column[row] = node
        ends.append(column)
        on = target[node] >= 0
        row, node = row[on], graph.first[target[node[on]]]
    return np.column_stack(ends) if ends else np.empty((0, 1), np.int64)


def _go_left(graph: Graph, node: NDArray[np.int64], x: NDArray[Any]) -> BoolArray:
    n = graph.n_categories[graph.feature[node]]
    with np.errstate(invalid="ignore"):
        known = np.where(n > 0, (x >= 0) & (x < n) & (x == np.floor(x)), ~np.isnan(x))
        left = x <= graph.threshold[node]
    if len(graph.subset):
        code = np.where(known & (n > 0), x, 0).astype(np.int64)
        bit = graph.subset[node, code >> 6] >> (code & 63).astype(np.uint64) & np.uint64(1)
        left = np.where(n > 0, bit != 0, left)
    return np.where(known, left, graph.missing_left[node])


def _conditions(box: Box, names: Sequence[str], show: BoolArray, categories: Categories) -> Conjunction:
    known = categories or [None] * len(names)
    return tuple(
        Condition(names[f], f, values, describe(names[f], values, bool(show[f]), known[f])) for f, values in box.items()
    )


def _all(conditions: Conjunction, X: NDArray[Any]) -> BoolArray:
    return np.logical_and.reduce([np.ones(len(X), dtype=bool), *(condition.holds(X) for condition in conditions)])


def _text(conditions: Conjunction) -> str:
    return " and ".join(map(str, conditions)) or "every row"
