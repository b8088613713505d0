"""The template of every classifier: one score, any objective."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from scarce._explains import Explains
from scarce._honest import takes_times
from scarce._probabilities import Probabilities
from scarce._sklearn import check_sample_weight
from scarce._sweep import gains_at
from scarce._typing import CV, FloatArray, GainsLike, IntArray, Labels, MatrixLike, Rows
from scarce.objectives import Budget, Objective, Profit, get_objective

__all__ = ["RareEventClassifier"]


class RareEventClassifier(Explains, ClassifierMixin, BaseEstimator):
    """A classifier that scores rows and puts the threshold where an objective is best.

    A method implements `_fit`, `_score` and `_default_threshold`; `_leave_one_out` or `_honest_scores` where it has
    something better than cross-fitting, and `_explain` where it knows more than its score. All else is here: the
    positive class, the threshold, predictions and probabilities.

    Parameters
    ----------
    pos_label : label, default=None
        The class to find. None is the rarer class; of two equally frequent ones the larger label.
    threshold : "default", str, Objective or float, default="default"
        The score above which a row is called positive. "default" is the method's own rule; a name such as "f1" or an
        object such as ``Budget(rows=200)`` chooses the threshold that is best for that objective on honest scores of
        the training rows, which are scores by a model that did not see the row; a float is the threshold itself.
    calibration : {"auto", "honest"} or None, default="auto"
        The way from scores to the probabilities of `predict_proba`. "honest": a curve fitted on honest scores, isotonic
        with 100 rows of each class, else Platt's sigmoid. "auto": the same where such scores take no further fit, since
        they are leave-one-out or out-of-bag scores or those on which the threshold was chosen; else as None. None: the
        score squeezed into (0, 1) with 1/2 at the threshold, which is no probability. A wrapper has no such parameter:
        it passes the probabilities of its estimator through.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    pos_label_ : label
        The class that high scores stand for; None with more than two classes.
    threshold_ : float
        A row is called positive if its score is greater; None with more than two classes.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Probabilities._parameter_constraints,
        "pos_label": [str, Real, "boolean", None],
        "threshold": [str, Objective, Real],
    }
    _multi_class: ClassVar[bool] = False

    # For a method to implement ----------------------------------------------------------------------------

    def _gains_to_learn(self, gains: ArrayLike | None, n_samples: int) -> FloatArray | None:
        """Return what the method learns from gains: those of each row, or None if it learns from classes alone.

        See :class:`~scarce.profit.ProfitClassifier`, which finds them in `_metadata` while it learns.
        """
        return None

    # For users to call ------------------------------------------------------------------------------------

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        gains: GainsLike | None = None,
        period: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the method, choose the threshold and calibrate the probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts, in the objective and wherever else the method says so.
        gains : array-like of shape (n_samples, 4) or (4,), or Gains, optional
            What each outcome (tp, fp, tn, fn) of a row earns, for ``threshold=Profit()`` and for the methods that learn
            from gains; to these, without gains, a right decision earns 1 and a wrong one nothing.
            :class:`~scarce.profit.Gains` are evaluated on `X` as it is given.
        period : array-like of shape (n_samples,), optional
            The day, week or month of each row, for ``threshold=Budget(rows=k)`` with a budget for each, and the times
            of a `cv` that splits by them, such as :class:`~scarce.model_selection.DelayedTimeSplit`.
        groups : array-like of shape (n_samples,), optional
            The card, customer or company of each row. Honest scores are then those of models that saw no row of its
            group, and ``threshold=Budget(rows=k, distinct=True)`` counts groups.

        Returns
        -------
        self
        """
        table = None if gains is None else gains_at(gains, X)
        X, target, weight = self._start(X, y, sample_weight)
        learned = self._gains_to_learn(table, len(target))
        # A method that learns from gains uses them; of the objectives Profit alone takes them too.
        gains_of_threshold = table if learned is None or isinstance(self.threshold, Profit) else None
        with self._keeping(target, period, groups, learned):
            self._fit(X, target, weight)
            self._keep_usual(X)
            self.threshold_ = self._choose_threshold(X, target, weight, gains_of_threshold, period)
            self._calibrate(X, target, weight)
        return self

    def honest_scores(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        gains: GainsLike | None = None,
        period: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        cv: CV = None,
    ) -> FloatArray:
        """Return scores of the given rows, each by a model fitted on the others.

        Any objective can be optimised on them, without a fit for each: ``FBeta(2).best_threshold(scores, y)``.
        The estimator itself is not changed. Gains matter only to the methods that learn from them.

        Parameters
        ----------
        X, y, sample_weight, gains, period, groups
            As for `fit`.
        cv : int, splitter of scikit-learn or iterable of splits, default=None
            The splits to use instead of the method's own way. `groups` are handed to it, and `period` as its `times`
            where it takes them. A row that is tested several times has the mean of its scores; one that is never
            tested, such as the earliest in a split by time, has NaN.
        """
        table = None if gains is None else gains_at(gains, X)
        model = clone(self)
        X, target, weight = model._start(X, y, sample_weight)
        if len(model.classes_) > 2:
            raise ValueError("honest_scores is defined for two classes. " + ONE_VS_REST)
        with model._keeping(target, period, groups, model._gains_to_learn(table, len(target)), cv):
            model._fit(X, target, weight)
            return model._compute_honest_scores(X, target, weight)

    def score_samples(self, X: MatrixLike) -> FloatArray:
        """Return the score of each row: finite, higher for more likely positive.

        With more than two classes, one column for each.
        """
        check_is_fitted(self)
        return np.asarray(self._score(self._check_X(X, reset=False)), dtype=np.float64)

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return how far each row is beyond the threshold, in favour of ``classes_[1]``, as scikit-learn asks.

        This is ``score_samples(X) - threshold_`` where ``classes_[1]`` is the positive class, else its
        negative. With more than two classes, one column for each.
        """
        score = self.score_samples(X)
        if self.threshold_ is None:
            return score
        margin = score - self.threshold_
        if self.pos_label_ == self.classes_[1]:
            return margin
        # A row on the threshold is negative, which is classes_[1] here, so 0 must become greater than 0.
        return np.where(margin > 0, -margin, np.maximum(-margin, np.nextafter(0, 1)))

    def predict(self, X: MatrixLike) -> Labels:
        """Return the class of each row."""
        decision = self.decision_function(X)
        if decision.ndim == 2:
            return self.classes_[decision.argmax(axis=1)]
        return self.classes_[(decision > 0).astype(np.intp)]

    # Validation and threshold -----------------------------------------------------------------------------

    def _start(
        self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Rows, IntArray, FloatArray | None]:
        """Validate the input and learn the classes; return the rows, the target codes and the weights."""
        self._validate_params()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X = self._check_X(X, reset=True)
        labels = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_consistent_length(X, labels)
        check_classification_targets(labels)
        self.classes_, code = np.unique(labels, return_inverse=True)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least two classes; y has only one class, {self.classes_[0]!r}."
            )
        if len(self.classes_) > 2:
            self._check_multi_class(labels)
            self.pos_label_ = None
            return X, code, weight
        self.pos_label_ = self.classes_[self._positive_code(np.bincount(code))]
        return X, (labels == self.pos_label_).astype(np.intp), weight

    def _positive_code(self, counts: IntArray) -> int:
        if self.pos_label is None:
            return int(counts[1] <= counts[0])
        found = np.flatnonzero(self.classes_ == self.pos_label)
        if not len(found):
            raise ValueError(f"pos_label={self.pos_label!r} is not in y, which has {self.classes_.tolist()}.")
        return int(found[0])

    def _check_multi_class(self, y: Labels) -> None:
        if not self._multi_class:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}. The type of the target is "
                f"{type_of_target(y)}. " + ONE_VS_REST
            )
        if self.threshold != "default" or self.pos_label is not None:
            raise ValueError(
                f"threshold and pos_label are defined for two classes; y has {len(self.classes_)}. " + ONE_VS_REST
            )

    def _choose_threshold(
        self,
        X: Rows,
        y: IntArray,
        weight: FloatArray | None,
        gains: ArrayLike | None,
        period: ArrayLike | None,
    ) -> float | None:
        if isinstance(self.threshold, Objective) or (isinstance(self.threshold, str) and self.threshold != "default"):
            objective = get_objective(self.threshold)
            if isinstance(objective, Budget) or not takes_times(self._given_cv):
                return self._best_threshold(objective, X, y, weight, gains=gains, period=period)
            return self._best_threshold(objective, X, y, weight, gains=gains)
        if gains is not None or (period is not None and not takes_times(self._given_cv)):
            raise ValueError(
                f"gains and period are used by threshold=Profit() and threshold=Budget(rows=k), not by "
                f"threshold={self.threshold!r}. Leave them out, or change the threshold."
            )
        if len(self.classes_) > 2:
            return None
        return self._default_threshold(X, y, weight) if isinstance(self.threshold, str) else float(self.threshold)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multi_class
        return tags


ONE_VS_REST = "Wrap the estimator in sklearn.multiclass.OneVsRestClassifier for one score for each class."
