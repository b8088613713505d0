"""The Bayes rule for gains, on calibrated probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from scarce._sklearn import HasMethods, StrOptions
from scarce._typing import CV, Estimator, FloatArray, GainsLike, IntArray, Label, Labels, MatrixLike, Rows, Threshold
from scarce.explanation import Unit
from scarce.objectives import Profit
from scarce.profit._base import ProfitClassifier, gains_of_rows
from scarce.profit._gains import bayes_threshold, gain_of_flagging
from scarce.tuned import TunedThreshold

__all__ = ["BayesProfitClassifier"]

# The share of a score that is the classifier's own: rows of equal calibrated probability stay ranked.
_OWN_SHARE = 1e-6


class BayesProfitClassifier(ProfitClassifier, TunedThreshold):
    """Calibrate any classifier, then decide each row by its own gains.

    A row is called positive where that is expected to earn more: ``p (tp - fn) > (1 - p) (tn - fp)``, which is
    ``p > s`` with the row's own threshold s (:func:`~scarce.profit.bayes_threshold`). No method for profit can do
    better with the right probabilities, so this is the baseline of each.

    Parameters
    ----------
    estimator : classifier
        Anything with `predict_proba` or `decision_function`.
    calibration : {"isotonic", "sigmoid"} or None, default="isotonic"
        The map from scores to probabilities: an increasing step function; a logistic curve, which needs fewer
        positives; or none, for a classifier that is calibrated. Fitted on scores of rows by models that did not
        see them.
    cv : int, splitter of scikit-learn or iterable of splits, default=5
        The folds that give these scores; fewer than the number if a class has fewer rows. A forest fitted with
        ``oob_score=True`` needs none, unless a splitter or `groups` are given.
    threshold : "default", str, Objective or float, default="default"
        "default" is the rule above, and one threshold for all rows where `predict` is not given their gains: the most
        profitable one on honest scores. Anything else is one threshold for all rows; see
        :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted on all rows.
    calibrator_ : regressor
        From scores to probabilities; None without calibration.

    See Also
    --------
    scarce.TunedThreshold : The same wrapper with one threshold for all rows.
    scarce.trees.ProfitForest : A forest that learns from gains.
    scarce.boosting.ProfitBoosting : Boosted trees that learn from gains.

    Notes
    -----
    `score_samples` is the calibrated probability (to 1e-6, see below), and so is `predict_proba`. Since an isotonic
    calibration gives the same probability to many rows, a millionth of the score is the classifier's own, so that rows
    of equal probability stay ranked.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scarce.metrics import profit_score
    >>> from scarce.profit import BayesProfitClassifier, Gains
    >>> X, y = make_classification(4000, weights=[0.95], random_state=0)
    >>> amount = np.random.default_rng(0).lognormal(3, 2, len(X))
    >>> gains = Gains(fn=-amount, fp=-5)(X)
    >>> model = BayesProfitClassifier(LogisticRegression()).fit(X[:2000], y[:2000], gains=gains[:2000])
    >>> by_row, one_threshold = model.predict(X[2000:], gains=gains[2000:]), model.predict(X[2000:])
    >>> profit_score(y[2000:], by_row, gains[2000:]) > profit_score(y[2000:], one_threshold, gains[2000:])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TunedThreshold._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict_proba"]), HasMethods(["fit", "decision_function"])],
        "calibration": [StrOptions({"isotonic", "sigmoid"}), None],
    }

    def __init__(
        self,
        estimator: Estimator,
        calibration: str | None = "isotonic",
        *,
        cv: CV = 5,
        threshold: Threshold = "default",
        pos_label: Label = None,
    ) -> None:
        self.estimator = estimator
        self.calibration = calibration
        self.cv = cv
        self.threshold = threshold
        self.pos_label = pos_label

    def _fit(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> None:
        plain = TunedThreshold(self.estimator, cv=self.cv)
        plain._fit(X, y, sample_weight)
        self.estimator_ = plain.estimator_
        self.calibrator_ = None
        self._is_probability = hasattr(self.estimator_, "predict_proba")
        self._out_of_fold = None
        if self.calibration is not None:
            plain._metadata = self._metadata._replace(cv=None)
            self._out_of_fold = plain._compute_honest_scores(X, y, sample_weight)
            self.calibrator_ = self._calibrator(self._out_of_fold, y, sample_weight)

    def _calibrator(self, scores: FloatArray, y: IntArray, sample_weight: FloatArray | None) -> Estimator:
        tested = np.isfinite(scores)  # a split by time never tests the earliest rows
        scores, y, sample_weight = scores[tested], y[tested], None if sample_weight is None else sample_weight[tested]
        if len(np.unique(y)) < 2:
            raise ValueError(
                "The splits of cv test rows of one class only, which calibrates nothing. Use other splits."
            )
        if self.calibration == "isotonic":
            return IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, y, sample_weight)
        return LogisticRegression(C=np.inf).fit(self._log_odds(scores)[:, None], y, sample_weight)

    def _log_odds(self, scores: FloatArray) -> FloatArray:
        return logit(np.clip(scores, 1e-9, 1 - 1e-9)) if self._is_probability else scores

    def _calibrated(self, calibrator: Estimator, scores: FloatArray) -> FloatArray:
        own = scores if self._is_probability else expit(scores)
        if calibrator is None:
            return own
        if self.calibration == "isotonic":
            probability = calibrator.predict(scores)
        else:
            probability = calibrator.predict_proba(self._log_odds(scores)[:, None])[:, 1]
        return (1 - _OWN_SHARE) * probability + _OWN_SHARE * own

    def _score(self, X: Rows) -> FloatArray:
        return self._calibrated(self.calibrator_, super()._score(X))

    @property
    def _score_unit(self) -> Unit:
        return "probability"

    @property
    def _has_own_probabilities(self) -> bool:
        return True

    def _own_probabilities(self, X: Rows) -> FloatArray:
        positive = self._score(X)
        return np.column_stack((1 - positive, positive))

    def _honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        scores = self._out_of_fold
        if scores is None:
            return super()._honest_scores(X, y, sample_weight)
        # The scores are honest already; the calibration of a row must not know its class either.
        honest = np.empty(len(y))
        for train, test in self._splits(y):
            weight = None if sample_weight is None else sample_weight[train]
            honest[test] = self._calibrated(self._calibrator(scores[train], y[train], weight), scores[test])
        return honest

    def _default_threshold(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> float:
        gains = self._gains
        if (gains == gains[0]).all():
            return float(bayes_threshold(gains[:1])[0])
        return self._best_threshold(Profit(), X, y, sample_weight, gains=gains)

    def expected_gain(self, X: MatrixLike, gains: GainsLike) -> FloatArray:
        """Return the expected gain of calling each row positive instead of negative: the worth of a check."""
        probability = self.score_samples(X)
        return gain_of_flagging(gains_of_rows(gains, X, len(probability)), probability)

    def predict(self, X: MatrixLike, gains: GainsLike | None = None) -> Labels:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.
        gains : array-like of shape (n_samples, 4) or (4,), or Gains, optional
            What each outcome (tp, fp, tn, fn) of these rows earns, for a decision row by row; one threshold for all
            rows if not given.
        """
        if gains is None:
            return super().predict(X)
        if self.threshold != "default":
            raise ValueError(
                f"threshold={self.threshold!r} is one threshold for all rows, whatever their gains. Leave the gains "
                "out of predict, or set threshold='default' for a decision row by row."
            )
        positive = self.expected_gain(X, gains) > 0
        negative = self.classes_[self.classes_ != self.pos_label_][0]
        return np.where(positive, self.pos_label_, negative).astype(self.classes_.dtype)

    def _predict_for_profit(self, X: Rows, gains: Any) -> NDArray[Any]:
        return self.predict(X, gains if self.threshold == "default" else None)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(LogisticRegression())
        yield cls(LogisticRegression(), calibration="sigmoid")
