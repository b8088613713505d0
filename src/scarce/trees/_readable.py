"""The readable forms of a tree: rules, reasons, text and SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from scarce._typing import BoolArray, Cell, IntArray, Json, Keywords, Rows
from scarce.explanation import Explanation
from scarce.trees._engine import Graph, LeafScores
from scarce.trees._engine.export import to_dict, to_text
from scarce.trees._engine.rules import LeafRule, compactness, explain_rows, rules
from scarce.trees._engine.shap import tree_effects
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

    def rules(self, *, categories: Mapping[str, Sequence[Cell]] | None = None) -> list[LeafRule]:
        """Return the rule of each final leaf, the highest score first, with its counts; print one to read it.

        Parameters
        ----------
        categories : mapping of str to sequence, optional
            By the name of a feature that holds codes, the names of the codes 0, 1, …, which the texts then show:
            ``category_names(pipeline)``, or ``dict(zip(encoder.feature_names_in_, encoder.categories_))``.
        """
        check_is_fitted(self)
        return rules(self.tree_, self._feature_names, self.leaf_scores_, **self._shown(categories))

    def _explain(self, X: Rows, code: IntArray | None, **known: Any) -> Explanation:
        value = self.leaf_scores_.value
        effects, base_value = tree_effects(self.tree_, value, X)
        # The place of a row within its leaf is due to no feature.
        within = known["score"] - value[self.tree_.apply(X)]
        return Explanation.from_effects(X, effects, base_value + within, **known)

    def _rules_of_rows(self, X: Rows, categories: Mapping[str, Sequence[Cell]] | None) -> list[str]:
        shown = self._shown(categories)
        return [str(rule) for rule in explain_rows(self.tree_, self._feature_names, X, self.leaf_scores_, **shown)]

    @property
    def _needs_background(self) -> bool:
        return False

    def to_text(self, *, categories: Mapping[str, Sequence[Cell]] | None = None) -> str:
        """Return the tree as text for a terminal; `categories` are as for `rules`."""
        check_is_fitted(self)
        return to_text(self.tree_, self._feature_names, self.leaf_scores_, **self._shown(categories))

    def _shown(self, categories: Mapping[str, Sequence[Cell]] | None) -> Keywords:
        """Return what texts show of missing values and categories, by the place of the feature."""
        names = self._feature_names
        # An encoder lists a missing value, NaN, as the last category, but does not give it that code.
        given = {name: [each for each in known if each == each] for name, known in (categories or {}).items()}
        for name, known in given.items():
            if name not in names:
                raise ValueError(f"categories names {name!r}, which is not a feature. The features are {names[:20]}.")
            n_codes = int(self.tree_.n_categories[names.index(name)])
            if len(known) < n_codes:
                raise ValueError(f"categories has {len(known)} names for {name!r}, which has {n_codes} codes.")
        return {"missing": self._missing, "categories": [given.get(name) for name in names]}

    def to_dict(self) -> Json:
        """Return the tree as plain data, which JSON can hold."""
        check_is_fitted(self)
        return to_dict(self.tree_, self._feature_names, self.leaf_scores_)

    def _score_as_sql(self, columns: Sequence[Column | Coded]) -> str:
        return to_sql([(self.tree_, self.leaf_scores_)], columns)
