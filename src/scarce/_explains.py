"""Explanations of scores: the part of the template that all methods share, and occlusion for those without a way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from scarce._probabilities import Probabilities
from scarce._sklearn import safe_indexing
from scarce._typing import Cell, IntArray, MatrixLike, Rows
from scarce._values import as_values, usual_values, with_names
from scarce.explanation import Explanation, Unit
from scarce.occlusion import usual_rows

__all__ = ["Explains"]

_BACKGROUND = 30
_SUMMARISED = 1000  # enough for a median, and nothing beside a fit


class Explains(Probabilities):
    """The part of the template that explains scores.

    A method that knows more than its score implements `_explain`.
    """

    # Learned by `fit`: a usual value of each feature, and usual rows.
    _usual: NDArray[Any] | None = None
    _background: Rows

    def _explain(self, X: Rows, code: IntArray | None, **known: Any) -> Explanation:
        """Explain the scores of validated rows.

        `code` has the column of scores to explain for each row; it is None with two classes. `known` are the fields
        of the explanation that do not depend on the method.
        """
        return Explanation.from_occlusion(self._score, X, self._background, code=code, **known)

    def _rules_of_rows(self, X: Rows, categories: Mapping[str, Sequence[Cell]] | None) -> Sequence[str]:
        """Return for each row the rule that it meets, if the method has rules."""
        return ()

    @property
    def _needs_background(self) -> bool:
        """True if usual rows are kept, for occlusion."""
        return True

    @property
    def _score_unit(self) -> Unit:
        return "score"

    def _keep_usual(self, X: Rows) -> None:
        """Keep what explanations compare with."""
        sample = usual_rows(X, _BACKGROUND if issparse(X) else _SUMMARISED)
        self._usual = usual_values(sample)
        if self._needs_background:
            self._background = safe_indexing(sample, np.arange(min(_BACKGROUND, sample.shape[0])))

    def explain(self, X: MatrixLike, *, categories: Mapping[str, Sequence[Cell]] | None = None) -> Explanation:
        """Return the reasons for the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.
        categories : mapping of str to sequence, optional
            By the name of a feature that holds codes, the names of the codes 0, 1, …, which values and rules then show:
            ``dict(zip(encoder.feature_names_in_, encoder.categories_))``.

        Returns
        -------
        Explanation
            For the positive class, or with several classes for the predicted one. The page on the contract has a table
            of the fields that each method fills, and how.
        """
        check_is_fitted(self)
        rows = self._check_X(X, reset=False)
        score = np.asarray(self._score(rows), dtype=np.float64)
        numbers, code = np.arange(len(score)), None
        # A stream may have brought one class so far.
        label = self.pos_label_ if len(self.classes_) > 1 else self.classes_[0]
        if score.ndim == 2:
            code = score.argmax(axis=1)
            label, score = self.classes_[code], score[numbers, code]
        rules = self._rules_of_rows(rows, categories)
        return self._explain(
            rows,
            code,
            score=score,
            label=label,
            features=self._feature_names,
            values=with_names(as_values(X), self._feature_names, categories),
            unit=self._score_unit,
            probability=self.predict_proba(X)[numbers, np.searchsorted(self.classes_, label)],
            usual=with_names(self._usual, self._feature_names, categories),
            **({"rule": rules} if rules else {}),
        )
