"""The readable forms of a tree: rules, reasons, text and SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from scarce._typing import BoolArray, MatrixLike
from scarce.trees._engine import Graph, LeafScores
from scarce.trees._engine.export import to_dict, to_text
from scarce.trees._engine.rules import LeafRule, compactness, explain_rows, rules
from scarce.trees._engine.sql import Coded, Column, to_sql
from scarce.trees._sql import WritesSQL

__all__ = ["ReadableTree"]


class ReadableTree(WritesSQL):
    """A fitted tree as an auditor reads it."""

    tree_: Graph
    leaf_scores_: LeafScores
    _missing: BoolArray

    @property
    def compactness_(self) -> dict[str, float]:
        """The size of the tree for a reader: the numbers of tests, of leaves and of rules."""
        return compactness(self.tree_)

    def rules(self) -> list[LeafRule]:
        """Return the rule of each final leaf, the highest score first, with its counts; print one to read it."""
        check_is_fitted(self)
        return rules(self.tree_, self._feature_names, self.leaf_scores_, missing=self._missing)

    def explain(self, X: MatrixLike) -> list[dict[str, Any]]:
        """Return for each row its score, the number of its rule and the conditions of it that the row met."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        return explain_rows(self.tree_, self._feature_names, X, self.leaf_scores_, missing=self._missing)

    def to_text(self) -> str:
        """Return the tree as text for a terminal."""
        check_is_fitted(self)
        return to_text(self.tree_, self._feature_names, self.leaf_scores_, missing=self._missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data, which JSON can hold."""
        check_is_fitted(self)
        return to_dict(self.tree_, self._feature_names, self.leaf_scores_)

    def _score_as_sql(self, columns: Sequence[Column | Coded]) -> str:
        return to_sql([(self.tree_, self.leaf_scores_)], columns)
