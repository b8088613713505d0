"""Any classifier fitted on resampled rows, with its probabilities corrected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags

from scarce._sklearn import HasMethods, StrOptions
from scarce._typing import CV, Estimator, FloatArray, IntArray, Label, MatrixLike, RandomState, Rows, Sampler, Threshold
from scarce.base import RareEventClassifier
from scarce.sampling._prior import correct_prior
from scarce.sampling._resample import SAMPLERS, resample
from scarce.tuned import TunedThreshold

__all__ = ["ResampledClassifier"]


class ResampledClassifier(TunedThreshold):
    """A classifier fitted on resampled rows, with corrected probabilities and the threshold of an objective.

    A model fitted on more positives than there really are gives every row too high a probability. Its probabilities
    are brought back to the share that positives have (:func:`~scarce.sampling.correct_prior`); they are the score and
    those of `predict_proba`. The threshold is chosen on rows that were neither fitted nor resampled.

    Parameters
    ----------
    estimator : classifier
        Anything with `predict_proba`, or with `decision_function`, whose values are then taken as they are.
    sampler : {"smote", "borderline-smote", "adasyn", "smote-enn", "smote-tomek"} or sampler, default="smote"
        See :func:`~scarce.sampling.resample`. Weights are carried through it.
    random_state : int, RandomState or None, default=None
        For a sampler by name, or one whose own is None. The estimator has its own.
    threshold : "default", str, Objective or float, default="default"
        "default" is the F1-optimal threshold; see :class:`~scarce.base.RareEventClassifier`.
    cv : int, splitter of scikit-learn or iterable of splits, default=5
        The folds that give the honest scores, with the resampling inside each; fewer than the number if a class has
        fewer rows.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted on all rows, resampled.
    prior_, resampled_prior_ : float
        The share of positives, by weight, in the rows and in the resampled rows.

    See Also
    --------
    scarce.TunedThreshold : The same threshold without resampling.
    correct_prior : The correction of the probabilities.
    SDC : A support vector machine on SMOTE's rows.

    Notes
    -----
    Honest scores come from stratified cross-fitting: to leave out one row at a time would take a fit for each.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scarce.sampling import ResampledClassifier
    >>> X, y = make_classification(2000, weights=[0.95], random_state=0)
    >>> model = ResampledClassifier(LogisticRegression(), "smote", random_state=0).fit(X, y)
    >>> corrected, uncorrected = model.score_samples(X), model.estimator_.predict_proba(X)[:, 1]
    >>> round(model.prior_, 3), round(corrected.mean(), 2), round(uncorrected.mean(), 2)
    (0.055, np.float64(0.05), np.float64(0.1))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TunedThreshold._parameter_constraints,
        "sampler": [StrOptions(set(SAMPLERS)), HasMethods(["fit_resample"])],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Estimator,
        sampler: Sampler = "smote",
        *,
        random_state: RandomState = None,
        threshold: Threshold = "default",
        cv: CV = 5,
        pos_label: Label = None,
    ) -> None:
        super().__init__(estimator, threshold=threshold, cv=cv, pos_label=pos_label)
        self.sampler = sampler
        self.random_state = random_state

    def _check_X(self, X: MatrixLike, *, reset: bool) -> Rows:
        # Synthetic rows are made of numbers, so a frame or a sparse matrix cannot go through as it is.
        return RareEventClassifier._check_X(self, X, reset=reset)

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        rows = resample(X, y, self.sampler, sample_weight=sample_weight, random_state=self.random_state)
        if len(np.unique(rows.y)) < 2:
            raise ValueError(f"sampler={self.sampler!r} left rows of one class only. Take a sampler that removes less.")
        self.estimator_ = clone(self.estimator).fit(rows.X, rows.y, **self._fit_params(rows.sample_weight))
        self.prior_ = float(np.average(y, weights=sample_weight))
        self.resampled_prior_ = float(np.average(rows.y, weights=rows.sample_weight))

    def _score(self, X: NDArray) -> FloatArray:
        score = super()._score(X)
        if not hasattr(self.estimator_, "predict_proba"):
            return score
        return correct_prior(score, self.resampled_prior_, self.prior_)

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        # A forest's out-of-bag scores are not honest here: a tree without a row may have seen rows made from it.
        return RareEventClassifier._honest_scores(self, X, y, sample_weight)

    def _own_probabilities(self, X: Rows) -> FloatArray:
        positive = self._score(X)
        return np.column_stack((1 - positive, positive))

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(LogisticRegression(), random_state=0)
        yield cls(LogisticRegression(), "adasyn", random_state=0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.input_tags.sparse = False
        return tags
