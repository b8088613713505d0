"""The value of an objective at every threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from scarce._colours import BLACK, BLUE, GREEN, PINK, RED
from scarce._typing import Axes, Estimator, FloatArray, Keywords, MatrixLike, Number
from scarce.base import RareEventClassifier
from scarce.neighbors import GammaKNN
from scarce.objectives import Budget, FBeta, Objective, PrecisionAtLeast, Profit, RecallAtLeast, get_objective
from scarce.plotting._display import OF_PIPELINE, AxesDisplay, check_drawable, last_step, pyplot

__all__ = ["GammaPathDisplay", "ThresholdCurveDisplay", "name_of"]


_CURVE = BLUE
_MARKS = ((RED, "o"), (BLACK, "s"), (GREEN, "^"), (PINK, "D"))


class Mark(NamedTuple):
    """A threshold to point out: its place on the axis, and its value."""

    at: float
    value: float


class ThresholdCurveDisplay(AxesDisplay):
    """The value of an objective at every threshold of a score, exactly.

    Make one with :meth:`from_estimator`, :meth:`from_training` or :meth:`from_scores`. The parameters are attributes.

    Parameters
    ----------
    edges : ndarray of shape (n_thresholds + 1,)
        The thresholds where a prediction changes, ascending, between the two ends of the axis.
    values : ndarray of shape (n_thresholds,)
        The value of the objective from each edge, included, to the next; NaN where it allows no threshold.
    marks : dict of str to (at, value)
        The thresholds to point out, by name: their places on the axis and their values.
    objective_name : str
        The label of the value axis.

    Attributes
    ----------
    line_ : matplotlib StepPatch
        The curve.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    GammaPathDisplay : The same against the γ of γk-NN.
    ProfitCurveDisplay : The profit at every threshold, beside other rules.
    scarce.objectives.Objective.curve : The numbers that are drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scarce import TunedThreshold
    >>> from scarce.plotting import ThresholdCurveDisplay
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = TunedThreshold(LogisticRegression(), threshold="f2").fit(X[:500], y[:500])
    >>> display = ThresholdCurveDisplay.from_estimator(model, X[500:], y[500:], objective="f2")
    >>> bool(display.marks["in use"].value <= display.values.max())
    True
    >>> display = ThresholdCurveDisplay.from_training(model, X[:500], y[:500], objective="f2", ax=display.ax_)
    >>> bool(display.marks["in use"].value == display.values.max())
    True
    >>> plt.close(display.figure_)
    """

    # The estimators it is for, the ends of their scores, and the name and symbol of the axis.
    _draws: ClassVar[type[Any]] = RareEventClassifier
    _bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    _axis_name: ClassVar[str] = "Threshold on the score"
    _symbol: ClassVar[str] = "threshold"

    def __init__(
        self, edges: FloatArray, values: FloatArray, *, marks: Mapping[str, tuple[float, float]], objective_name: str
    ) -> None:
        self.edges = edges
        self.values = values
        self.marks = {name: Mark(*mark) for name, mark in marks.items()}
        self.objective_name = objective_name

    @classmethod
    def from_estimator(
        cls,
        estimator: RareEventClassifier,
        X: MatrixLike,
        y: ArrayLike,
        *,
        objective: str | Objective = "f1",
        sample_weight: ArrayLike | None = None,
        gains: ArrayLike | None = None,
        period: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a fitted estimator on test rows; nothing is fitted.

        Parameters
        ----------
        estimator : RareEventClassifier, or a pipeline that ends in one
            Fitted. The threshold that it uses is marked.
        X, y : array-like
            Rows that it was not fitted on, and their classes. For those that it was, see :meth:`from_training`.
        objective : str or Objective, default="f1"
            What to draw: a name or an object of :mod:`scarce.objectives`. It need not be the one that chose the
            threshold.
        sample_weight, gains, period : array-like, optional
            Of these rows, as in the estimator's `fit`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `stairs`, such as ``color`` or ``label``.

        Returns
        -------
        display
        """
        model = last_step(estimator)
        check_drawable(cls, model, cls._draws, OF_PIPELINE)
        return cls.from_scores(
            estimator.score_samples(X),
            column_or_1d(y) == model.pos_label_,
            objective=objective,
            thresholds=cls._thresholds_of(model),
            sample_weight=sample_weight,
            gains=gains,
            period=period,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_training(
        cls,
        estimator: RareEventClassifier,
        X: MatrixLike,
        y: ArrayLike,
        *,
        objective: str | Objective = "f1",
        sample_weight: ArrayLike | None = None,
        gains: ArrayLike | None = None,
        period: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a fitted estimator from the honest scores of its training rows.

        Each row is scored by a model that did not see it, for which copies of the estimator may have to be fitted.
        This is the curve on which an objective chose the threshold. The estimator itself is not changed.

        Parameters
        ----------
        estimator : RareEventClassifier
            Fitted. The threshold that it uses is marked.
        X, y : array-like
            The rows it was fitted on, and their classes.
        objective, sample_weight, gains, period, ax, **kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        display
        """
        check_drawable(cls, estimator, cls._draws, OF_PIPELINE)
        display = cls._of_scores(
            estimator.honest_scores(X, y, sample_weight, gains),
            column_or_1d(y) == estimator.pos_label_,
            get_objective(objective),
            cls._thresholds_of(estimator),
            {"sample_weight": sample_weight, "gains": gains, "period": period},
        )
        display.objective_name += " on honest scores"
        return display.plot(ax, **kwargs)

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        y: ArrayLike,
        *,
        objective: str | Objective = "f1",
        thresholds: Mapping[str, float] | None = None,
        sample_weight: ArrayLike | None = None,
        gains: ArrayLike | None = None,
        period: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of given scores.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Higher means more likely positive. Of rows that the model did not see, if the curve is to be believed.
        y : array-like of shape (n_samples,)
            The truth: booleans, 0 and 1, or -1 and 1.
        thresholds : mapping of str to float, optional
            Thresholds of the score to mark, by name; the best one if not given.
        objective, sample_weight, gains, period, ax, **kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        display
        """
        columns = {"sample_weight": sample_weight, "gains": gains, "period": period}
        return cls._of_scores(scores, y, get_objective(objective), thresholds, columns).plot(ax, **kwargs)

    @classmethod
    def _of_scores(
        cls,
        scores: ArrayLike,
        y: ArrayLike,
        objective: Objective,
        thresholds: Mapping[str, float] | None,
        columns: Keywords,
    ) -> Self:
        pyplot()
        values = objective.curve(scores, y, **columns).value[::-1]
        distinct = np.unique(column_or_1d(scores).astype(np.float64))
        low, high = cls._bounds
        if distinct[0] < low or distinct[-1] > high:
            raise ValueError(f"{cls.__name__} needs scores between {low:g} and {high:g}.")
        if thresholds is None:
            thresholds = {"best": objective.best_threshold(scores, y, **columns).threshold}
        # A row whose score equals the threshold is negative, so a new value holds from the score itself onwards.
        marks = {
            name: (float(cls._on_axis(threshold)), float(values[np.searchsorted(distinct, threshold, side="right")]))
            for name, threshold in thresholds.items()
        }
        edges = cls._on_axis(np.concatenate(([low], distinct, [high])))
        return cls(edges, values, marks=marks, objective_name=name_of(objective))

    def _draw(self, **kwargs: Any) -> None:
        left, right = self._limits()
        # An axis may end at infinity, where nothing can be drawn.
        edges = np.clip(self.edges, left, max(right, self.edges[np.isfinite(self.edges)].max()))
        style = {"color": _CURVE, "linewidth": 1.5, **kwargs}
        self.line_ = self.ax_.stairs(self.values, edges, baseline=None, **style)
        for (name, mark), (color, marker) in zip(self.marks.items(), _MARKS * len(self.marks), strict=False):
            at = np.clip(mark.at, left, right)
            worth = "not allowed" if np.isnan(mark.value) else f"{mark.value:.3g}"
            label = f"{self._symbol} = {mark.at:.3g} ({name}): {worth}"
            self.ax_.axvline(at, color=color, linestyle=":", linewidth=1)
            self.ax_.plot(at, mark.value, color=color, marker=marker, linestyle=":", label=label, clip_on=False)
        self.ax_.set(xlabel=self._axis_name, ylabel=self.objective_name, xlim=(left, right))
        if not (self.values < 0).any():
            self.ax_.set_ylim(bottom=0)
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend(framealpha=1)

    @classmethod
    def _thresholds_of(cls, estimator: Estimator) -> dict[str, float]:
        return {"in use": estimator.threshold_}

    @staticmethod
    def _on_axis(threshold: Number) -> Number:
        return threshold

    def _limits(self) -> tuple[float, float]:
        """Return the ends of the axis: all scores, and a little beyond where every row is called the same."""
        low, high = self.edges[1], self.edges[-2]
        margin = 0.05 * (high - low) or 1.0
        return low - margin, high + margin


class GammaPathDisplay(ThresholdCurveDisplay):
    """The value of an objective at every γ of γk-NN, exactly and from one neighbour search.

    The γ in use is marked, and so is γ = 1, which is the plain k-NN vote. Make one with :meth:`from_estimator` for test
    rows, with :meth:`from_training` for the rows on which γ was chosen, or with :meth:`from_scores`; the parameters
    become attributes.

    Parameters
    ----------
    edges : ndarray of shape (n_thresholds + 1,)
        The γ where a prediction changes, ascending, from 0 to infinity.
    values : ndarray of shape (n_thresholds,)
        The value of the objective from each edge to the next; NaN where it allows no threshold.
    marks : dict of str to (at, value)
        The γ to point out, by name, and their values.
    objective_name : str
        The label of the value axis.

    Attributes
    ----------
    line_, ax_, figure_
        As for :class:`ThresholdCurveDisplay`.

    See Also
    --------
    GammaPlaneDisplay : The same over two γ, of real and of synthetic positives.
    scarce.neighbors.GammaKNN : The method that is drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from scarce.neighbors import GammaKNN
    >>> from scarce.plotting import GammaPathDisplay
    >>> X, y = make_classification(1000, weights=[0.95], flip_y=0.02, random_state=0)
    >>> model = GammaKNN().fit(X, y)
    >>> display = GammaPathDisplay.from_training(model, X, y)
    >>> bool(display.marks["in use"].at == model.gamma_)
    True
    >>> plt.close(display.figure_)
    """

    _draws = GammaKNN
    _bounds = (0.0, 1.0)
    _axis_name = "γ, the factor on distances to positive rows"
    _symbol = "γ"

    @classmethod
    def _thresholds_of(cls, estimator: Estimator) -> dict[str, float]:
        return {**super()._thresholds_of(estimator), "plain k-NN": estimator._threshold_of(1.0)}

    @staticmethod
    def _on_axis(threshold: Number) -> Number:
        capped = np.minimum(threshold, 1.0)  # no score is beyond 1, which is positive at every γ
        with np.errstate(divide="ignore"):
            return capped / (1.0 - capped)

    def _limits(self) -> tuple[float, float]:
        marked = [mark.at for mark in self.marks.values() if np.isfinite(mark.at)]
        return 0.0, 1.25 * max(1.0, *marked)


def name_of(objective: Objective) -> str:
    """Return the name of the values of an objective."""
    match objective:
        case FBeta():
            return f"F{objective.beta:g}"
        case PrecisionAtLeast():
            return f"Recall at a precision ≥ {objective.precision:g}"
        case RecallAtLeast():
            return f"Precision at a recall ≥ {objective.recall:g}"
        case Budget():
            limit = f"{objective.share:g} of all" if objective.rows is None else f"{objective.rows:,}"
            return f"Recall within a budget of {limit} {'groups' if objective.distinct else 'rows'}"
        case Profit():  # not its table of gains
            return "Profit"
    return repr(objective).removesuffix("()")
