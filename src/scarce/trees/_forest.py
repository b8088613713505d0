"""Bagging of the engine's trees: features are coded and sorted once for all trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils import gen_even_slices

from scarce._sklearn import Interval
from scarce._typing import FloatArray, IntArray, Rows
from scarce.explanation import Explanation
from scarce.trees._base import GrownTree, TreeClassifier, TreeData, budget_threshold
from scarce.trees._engine._kernels_walk import NO_DISTANCE
from scarce.trees._engine.shap import Effects, forest_effects
from scarce.trees._engine.sql import Coded, Column, to_sql
from scarce.trees._packed import PackedTrees, packed
from scarce.trees._sql import WritesSQL

__all__ = ["BLOCK", "TreeForest", "lacks_class"]

BLOCK = 16_384  # rows scored at a time: what a tree writes stays in the cache


class TreeForest(WritesSQL, TreeClassifier):
    """Trees grown on rows drawn with replacement.

    Honest scores are out-of-bag, NaN for a row that every tree has drawn, which happens with few trees.
    """

    n_estimators: int
    max_samples: float
    n_jobs: int | None
    trees_: list[GrownTree]
    _nodes: PackedTrees | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClassifier._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Real, 0, 1, closed="right")],
        "n_jobs": [Integral, None],
    }

    _tree_class: ClassVar[type[TreeClassifier]]

    def _tree(self) -> TreeClassifier:
        """Return the tree that the forest repeats, unfitted, with the parameters that both have."""
        tree = self._tree_class()
        own = self.get_params(deep=False)
        tree.set_params(**{name: own[name] for name in tree.get_params(deep=False) if name in own})
        tree.n_features_in_ = self.n_features_in_
        return tree

    def _grow(self, data: TreeData, seed: int, number: int = 0) -> GrownTree:
        """Grow the tree of a number, whose bag and draws follow from the seed."""
        return self._tree()._grow(self._bag(data, seed), seed)

    def _bag(self, data: TreeData, seed: int) -> TreeData:
        return data._replace(stats=data.stats * self._in_bag(len(data.stats), seed)[:, None])

    def _in_bag(self, n: int, seed: int) -> FloatArray:
        """Return how often each row was drawn for the tree of a seed."""
        drawn = np.random.default_rng(seed).integers(n, size=max(1, round(self.max_samples * n)))
        return np.bincount(drawn, minlength=n).astype(np.float64)

    def _fit(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        self._fit_trees(self._prepare(X, y, sample_weight))
        plain = all(tree.scores.mode == NO_DISTANCE for tree in self.trees_)
        self._nodes = packed(self.trees_) if plain else None  # a place within a leaf takes a walk of each tree

    def _fit_trees(self, data: TreeData) -> None:
        self._tree_seeds = self._seeds(self.n_estimators)
        # Kernels release the interpreter's lock, so threads suffice and the codes are shared.
        self.trees_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._grow)(data, seed, number) for number, seed in enumerate(self._tree_seeds)
        )

    def _score(self, X: Rows) -> FloatArray:
        return self._in_blocks(self._block_score, X)

    def _in_blocks(self, score: Callable[[Rows], FloatArray], X: Rows) -> FloatArray:
        """Score block by block, so that the answer depends neither on the batch nor on the number of threads."""
        if len(X) <= BLOCK:
            return score(X)  # one row must not wait for threads to be prepared
        blocks = [X[start : start + BLOCK] for start in range(0, len(X), BLOCK)]
        return np.concatenate(Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(score)(b) for b in blocks))

    def _block_score(self, X: Rows) -> FloatArray:
        if self._nodes is not None:
            return self._nodes.add_up(X) / len(self.trees_)
        total = np.zeros(len(X))
        for tree in self.trees_:
            tree.scores.add_to(total, tree.graph, X)
        return total / len(self.trees_)

    def _honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        scores = self._out_of_bag(X)
        if lacks_class(y, scores):
            return super()._honest_scores(X, y, sample_weight)
        return scores

    def _cheap_honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray | None:
        return self._out_of_bag(X)

    def _out_of_bag(
        self,
        X: Rows,
        output: Callable[[GrownTree, Rows], FloatArray] | None = None,
        shape: tuple[int, ...] = (),
    ) -> FloatArray:
        """Return for each training row the mean output of the trees that did not draw it; NaN where there are none.

        The output of a tree for rows is their scores, or an array of the given `shape` for each row.
        """
        total, times = np.zeros((len(X), *shape)), np.zeros((len(X), *(1 for _ in shape)))
        for number, (tree, seed) in enumerate(zip(self.trees_, self._tree_seeds, strict=True)):
            out = np.flatnonzero(self._in_bag(len(X), seed) == 0)
            if not len(out):
                continue
            if output is not None:
                total[out] += output(tree, X[out])
            else:
                total[out] += tree.score(X[out]) if self._nodes is None else self._nodes.tree(number).add_up(X[out])
            times[out] += 1
        return np.divide(total, times, out=np.full(total.shape, np.nan), where=times > 0)

    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        honest = np.bincount(y).min() > 1
        scores = self._compute_honest_scores(X, y, sample_weight) if honest else self._score(X)
        tested = np.isfinite(scores)
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        tested_weight = weight[tested]
        # What the rows without a score would have of the budget is left out with them.
        budget = self._budget(y, weight) * tested_weight.sum() / weight.sum()
        return budget_threshold(scores[tested], budget, tested_weight)

    def _explain(self, X: Rows, code: IntArray | None, **known: Any) -> Explanation:
        n_parts = min(len(X), 4 * effective_n_jobs(self.n_jobs))
        # Rows are explained one by one, so that the parts do not change the answer.
        parts = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._leaf_effects)(X[part]) for part in gen_even_slices(len(X), n_parts)
        )
        effects = np.concatenate([part.effects for part in parts])
        # The places of a row within its leaves are due to no feature.
        within = known["score"] - self._in_blocks(self._leaf_score, X)
        return Explanation.from_effects(X, effects, parts[0].base_value + within, **known)

    @property
    def _needs_background(self) -> bool:
        return False

    def _leaf_effects(self, X: Rows) -> Effects:
        """Return the effects of the features on :meth:`_leaf_score`."""
        return forest_effects([(tree.graph, tree.scores.value) for tree in self.trees_], X)

    def _leaf_score(self, X: Rows) -> FloatArray:
        """Return the score without the places of rows within leaves."""
        if self._nodes is not None:
            return self._block_score(X)
        return np.mean([tree.scores.value[tree.graph.apply(X)] for tree in self.trees_], axis=0)

    def _score_as_sql(self, columns: Sequence[Column | Coded]) -> str:
        return to_sql(self.trees_, columns)


def lacks_class(y: IntArray, scores: FloatArray) -> bool:
    """Return whether all rows of a class are without a score, as with very few rows or trees that drew them all."""
    return len(np.unique(y[np.isfinite(scores)])) < 2
