"""Any scikit-learn classifier under the contract: a score, an exact threshold, reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter, validate_data

from scarce._sklearn import HasMethods, routing_enabled
from scarce._typing import CV, Estimator, FloatArray, IntArray, Keywords, Label, MatrixLike, Rows, Threshold
from scarce.base import RareEventClassifier
from scarce.explanation import Unit
from scarce.objectives import FBeta

__all__ = ["CalibratedThreshold", "ClassifierWrapper", "TunedThreshold", "positive_score"]


class ClassifierWrapper(MetaEstimatorMixin, RareEventClassifier):
    """The base of methods around any scikit-learn classifier: they take the input that it takes."""

    estimator: Estimator
    estimator_: Estimator

    def _check_X(self, X: MatrixLike, *, reset: bool) -> Rows:
        if nw.dependencies.is_into_dataframe(X):
            # A frame goes to the estimator as it is: a pipeline may ask for its columns.
            return validate_data(self, X, skip_check_array=True, reset=reset)
        finite = "allow-nan" if get_tags(self.estimator).input_tags.allow_nan else True
        return validate_data(self, X, accept_sparse="csr", dtype=None, ensure_all_finite=finite, reset=reset)

    @property
    def _score_unit(self) -> Unit:
        return "probability" if hasattr(self.estimator_, "predict_proba") else "score"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.sparse = inner.sparse
        return tags


class TunedThreshold(ClassifierWrapper):
    """Give a classifier the exact threshold of an objective, chosen on honest scores.

    Unlike a grid of thresholds, every threshold between two scores is tried. `predict_proba` gives the probabilities of
    the classifier as they are; where it has none, its decisions calibrated on the scores that the threshold was chosen
    on.

    Parameters
    ----------
    estimator : classifier
        Anything with `predict_proba` or `decision_function`.
    threshold : "default", str, Objective or float, default="default"
        "default" is the F1-optimal threshold; see :class:`~scarce.base.RareEventClassifier`.
    cv : int, splitter of scikit-learn or iterable of splits, default=5
        The folds that give the honest scores; fewer than the number if a class has fewer rows. A forest fitted with
        ``oob_score=True`` needs none: its out-of-bag scores are honest, and are used where `cv` is a number and no
        `groups` are given.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted on all rows.

    See Also
    --------
    scarce.objectives : What makes one threshold better than another.
    scarce.profit.BayesProfitClassifier : Any classifier with a threshold for each row, by its gains.
    scarce.sampling.ResampledClassifier : Any classifier on resampled rows.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scarce import TunedThreshold
    >>> X, y = make_classification(2000, weights=[0.95], random_state=0)
    >>> model = TunedThreshold(LogisticRegression(), threshold="f2").fit(X, y)
    >>> bool(model.threshold_ < 0.5)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict_proba"]), HasMethods(["fit", "decision_function"])],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        estimator: Estimator,
        *,
        threshold: Threshold = "default",
        cv: CV = 5,
        pos_label: Label = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.cv = cv
        self.pos_label = pos_label

    def _fit(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        self.estimator_ = clone(self.estimator).fit(X, y, **self._fit_params(sample_weight))

    def _fit_params(self, sample_weight: FloatArray | None) -> Keywords:
        if sample_weight is None:
            return {}
        if routing_enabled():
            return dict(process_routing(self, "fit", sample_weight=sample_weight).estimator.fit)
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"{type(self.estimator).__name__} does not take sample_weight. Leave the weights out, or enable "
                "metadata routing and request them where they belong."
            )
        return {"sample_weight": sample_weight}

    def _score(self, X: Rows) -> FloatArray:
        return positive_score(self.estimator_, X)

    @property
    def _has_own_probabilities(self) -> bool:
        return hasattr(self.estimator_, "predict_proba")

    def _own_probabilities(self, X: Rows) -> FloatArray:
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    def _honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        out_of_bag = getattr(self.estimator_, "oob_decision_function_", None)
        if out_of_bag is not None and np.isfinite(out_of_bag).all():
            return np.asarray(out_of_bag[:, 1], dtype=np.float64)
        return super()._honest_scores(X, y, sample_weight)

    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        return self._best_threshold(FBeta(1), X, y, sample_weight)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata reaches the classifier."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        )

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(LogisticRegression())


class CalibratedThreshold(TunedThreshold):
    """The same, with probabilities calibrated on the honest scores that the threshold was chosen on.

    `score_samples` and the threshold are those of :class:`TunedThreshold`; `predict_proba` no longer is the
    classifier's own, which after boosting or in a forest of pure leaves need not be right on average.

    Parameters
    ----------
    estimator, threshold, cv, pos_label
        See :class:`TunedThreshold`.
    """

    @property
    def _has_own_probabilities(self) -> bool:
        return False

    def _calibrate(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        if self._kept_honest_scores is None:
            self._compute_honest_scores(X, y, sample_weight)
        super()._calibrate(X, y, sample_weight)


def positive_score(estimator: Estimator, X: MatrixLike) -> FloatArray:
    """Return the probability of class 1, or the decision where a classifier has none."""
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X)[:, 1], dtype=np.float64)
    return np.asarray(estimator.decision_function(X), dtype=np.float64)
