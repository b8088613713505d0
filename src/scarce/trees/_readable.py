"""The readable forms of a tree: rules, reasons, text and SQL."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from scarce._typing import BoolArray, IntArray, Rows
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation
from scarce.trees._engine import Graph, LeafScores
from scarce.trees._engine.export import to_dict, to_text
from scarce.trees._engine.rules import LeafRule, compactness, explain_rows, rules
from scarce.trees._engine.shap import tree_effects
from scarce.trees._engine.sql import to_sql

__all__ = ["ReadableTree"]


class ReadableTree(RareEventClassifier):
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

    def _explain(self, X: Rows, code: IntArray | None, **known: Any) -> Explanation:
        value = self.leaf_scores_.value
        effects, base_value = tree_effects(self.tree_, value, X)
        # The place of a row within its leaf is due to no feature.
        within = known["score"] - value[self.tree_.apply(X)]
        found = explain_rows(self.tree_, self._feature_names, X, self.leaf_scores_, missing=self._missing)
        return Explanation.from_effects(X, effects, base_value + within, rule=[str(rule) for rule in found], **known)

    @property
    def _needs_background(self) -> bool:
        return False

    def to_text(self) -> str:
        """Return the tree as text for a terminal."""
        check_is_fitted(self)
        return to_text(self.tree_, self._feature_names, self.leaf_scores_, missing=self._missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data, which JSON can hold."""
        check_is_fitted(self)
        return to_dict(self.tree_, self._feature_names, self.leaf_scores_)

    def to_sql(self, quote: str = '"') -> str:
        """Return the score as one SQL expression over columns named as the features.

        DuckDB evaluates it to the same numbers, bit for bit. A missing value is NULL.

        Parameters
        ----------
        quote : str, default='"'
            Put around the names of columns.
        """
        check_is_fitted(self)
        return to_sql([(self.tree_, self.leaf_scores_)], self._feature_names, quote=quote)
