"""Precision and recall at every threshold, and precision among the first k rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import precision_recall_curve
from sklearn.utils import check_consistent_length

from scarce._colours import BLACK, BLUE, RED
from scarce._typing import Axes, BoolArray, Estimator, FloatArray, IntArray, Keywords, Label, MatrixLike
from scarce.metrics._checks import check_column, check_labels
from scarce.plotting._display import AxesDisplay, pyplot, score_rows

__all__ = ["PrecisionAtKDisplay", "PrecisionRecallThresholdDisplay"]

_PRECISION, _RECALL, _MARK = BLUE, RED, BLACK


class PrecisionRecallThresholdDisplay(AxesDisplay):
    """Precision and recall at every threshold of a score, with the threshold in use marked.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`; the parameters become attributes. For precision
    against recall see scikit-learn's ``PrecisionRecallDisplay``.

    Parameters
    ----------
    edges : ndarray of shape (n_thresholds,)
        The distinct scores, ascending: the thresholds where a prediction changes.
    precision, recall : ndarray of shape (n_thresholds + 1,)
        Their values below the first edge, from each edge, included, to the next, and from the last. No row is called
        positive there, and the precision is NaN.
    threshold : float, optional
        The threshold to mark.

    Attributes
    ----------
    lines_ : pair of matplotlib StepPatch
        The curves of precision and recall.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    ThresholdCurveDisplay : One objective at every threshold.
    PrecisionAtKDisplay : The precision among the first k rows.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from scarce.neighbors import GammaKNN
    >>> from scarce.plotting import PrecisionRecallThresholdDisplay
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = GammaKNN().fit(X[:500], y[:500])
    >>> display = PrecisionRecallThresholdDisplay.from_estimator(model, X[500:], y[500:])
    >>> precision, recall = display.at(model.threshold_)
    >>> round(recall, 3)
    0.8
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, edges: FloatArray, precision: FloatArray, recall: FloatArray, *, threshold: float | None = None
    ) -> None:
        self.edges = edges
        self.precision = precision
        self.recall = recall
        self.threshold = threshold

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curves of a fitted classifier on test rows; nothing is fitted.

        Parameters
        ----------
        estimator : classifier or pipeline
            Fitted, of this library or of scikit-learn. The threshold that it uses is marked.
        X, y : array-like
            Rows that it was not fitted on, and their classes.
        sample_weight : array-like, optional
            The weights of these rows.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `stairs`, such as ``linewidth``.

        Returns
        -------
        display
        """
        found = score_rows(estimator, X)
        return cls.from_predictions(
            y,
            found.scores,
            threshold=found.threshold,
            pos_label=found.pos_label,
            sample_weight=sample_weight,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        threshold: float | None = None,
        pos_label: Label = None,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curves of given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The truth: two labels at most.
        y_score : array-like of shape (n_samples,)
            Higher means more likely positive. Of rows that the model did not see, if the curves are to be believed.
        threshold : float, optional
            The threshold to mark: a row is called positive if its score is greater.
        pos_label : label, optional
            The positive label; needed unless the labels are 0 and 1, -1 and 1, or booleans.
        sample_weight, ax, **kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        display
        """
        pyplot()
        truth, score = _checked(y_true, y_score, pos_label)
        precision, recall, edges = precision_recall_curve(truth, score, sample_weight=sample_weight)
        # Where no row is called positive scikit-learn has 1.
        precision = np.append(precision[:-1], np.nan)
        return cls(edges.astype(np.float64), precision, recall, threshold=threshold).plot(ax, **kwargs)

    def at(self, threshold: float) -> tuple[float, float]:
        """Return precision and recall at a threshold."""
        step = np.searchsorted(self.edges, threshold, side="right")
        return float(self.precision[step]), float(self.recall[step])

    def _draw(self, **kwargs: Any) -> None:
        low, high = self.edges[0], self.edges[-1]
        margin = 0.05 * (high - low) or 1.0
        left, right = low - margin, high + margin
        steps = np.concatenate(([left], self.edges, [right]))
        threshold = np.nan if self.threshold is None else self.threshold
        self.lines_ = tuple(
            self._line(*each, steps, threshold, kwargs)
            for each in (
                ("Precision", self.precision, _PRECISION, "-", "o"),
                ("Recall", self.recall, _RECALL, "--", "s"),
            )
        )
        if self.threshold is not None:
            shown = np.clip(threshold, left, right)
            self.ax_.axvline(shown, color=_MARK, linestyle=":", linewidth=1, label=f"Threshold in use: {threshold:.3g}")
        self.ax_.set(xlabel="Threshold on the score", ylabel="Precision, recall", xlim=(left, right), ylim=(0, 1.02))
        _legend_above(self.ax_)

    def _line(
        self,
        name: str,
        values: FloatArray,
        color: str,
        dashes: str,
        marker: str,
        steps: FloatArray,
        threshold: float,
        style: Keywords,
    ) -> Any:
        known = np.isfinite(values)  # the precision ends where no row is called positive
        if not np.isnan(threshold):
            value = values[np.searchsorted(self.edges, threshold, side="right")]
            name = f"{name}: {_share(value)}"
            shown = np.clip(threshold, steps[0], steps[-1])
            self.ax_.plot(shown, value, color=color, marker=marker, markeredgecolor=_MARK, clip_on=False, zorder=3)
        style = {"color": color, "linestyle": dashes, "linewidth": 1.5, **style}
        return self.ax_.stairs(values[known], steps[: known.sum() + 1], baseline=None, label=name, **style)


class PrecisionAtKDisplay(AxesDisplay):
    """The precision among the first k rows, for every k.

    Rows of equal score are counted fairly: the precision is the expected one over their orders. Make one with
    :meth:`from_estimator` or :meth:`from_predictions`; the parameters become attributes. Several models can be drawn on
    the same axes.

    Parameters
    ----------
    k : ndarray of shape (n_samples,)
        1, 2, …, all rows.
    precision : ndarray of shape (n_samples,)
        The share of positives among the first k rows.
    rate : float
        The share of positives among all rows.
    marked : int, optional
        A k to mark, such as the number of rows that can be checked.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    scarce.metrics.precision_at_k : One of the numbers that are drawn.
    PrecisionRecallThresholdDisplay : Precision and recall at every threshold.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from scarce.neighbors import GammaKNN
    >>> from scarce.plotting import PrecisionAtKDisplay
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = GammaKNN().fit(X[:500], y[:500])
    >>> display = PrecisionAtKDisplay.from_estimator(model, X[500:], y[500:], k=20, label="γk-NN")
    >>> float(display.precision[19])
    0.95
    >>> plt.close(display.figure_)
    """

    def __init__(self, k: IntArray, precision: FloatArray, *, rate: float, marked: int | None = None) -> None:
        self.k = k
        self.precision = precision
        self.rate = rate
        self.marked = marked

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        k: int | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier on test rows; nothing is fitted.

        Parameters
        ----------
        estimator : classifier or pipeline
            Fitted, of this library or of scikit-learn.
        X, y : array-like
            Rows that it was not fitted on, and their classes.
        k : int, optional
            The number of rows to mark. If it is not given, the number of rows that the estimator calls positive.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `plot`, such as ``color`` or ``label``.

        Returns
        -------
        display
        """
        found = score_rows(estimator, X)
        flagged = int((found.scores > found.threshold).sum())
        marked = k if k is not None else flagged or None
        return cls.from_predictions(y, found.scores, k=marked, pos_label=found.pos_label, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        k: int | None = None,
        pos_label: Label = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The truth: two labels at most.
        y_score : array-like of shape (n_samples,)
            Higher means more likely positive. Of rows that the model did not see, if the curve is to be believed.
        k : int, optional
            The number of rows to mark.
        pos_label : label, optional
            The positive label; needed unless the labels are 0 and 1, -1 and 1, or booleans.
        ax, **kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        display
        """
        pyplot()
        truth, score = _checked(y_true, y_score, pos_label)
        if k is not None and not 1 <= k <= len(score):
            raise ValueError(f"k={k} must be a number of rows: 1 to {len(score)}.")
        _, level = np.unique(-score, return_inverse=True)
        ends, found = np.cumsum(np.bincount(level)), np.cumsum(np.bincount(level, truth))
        numbers = np.arange(1, len(score) + 1)
        # Within rows of equal score the expected number of positives grows evenly.
        expected = np.interp(numbers, np.append(0, ends), np.append(0.0, found))
        return cls(numbers, expected / numbers, rate=float(truth.mean()), marked=k).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        if not self.ax_.lines:  # the first of several curves
            label = f"All rows: {_share(self.rate)}"
            self.ax_.axhline(self.rate, color=_MARK, linestyle=":", linewidth=1, label=label)
        style = {"linewidth": 1.5, **kwargs}
        if self.marked is not None:
            worth = f"first {self.marked:,}: {_share(self.precision[self.marked - 1])}"
            style["label"] = f"{style['label']}, {worth}" if "label" in style else worth.capitalize()
        [self.line_] = self.ax_.plot(self.k, self.precision, **style)
        if self.marked is not None:
            at = self.marked, self.precision[self.marked - 1]
            self.ax_.plot(*at, color=self.line_.get_color(), marker="o", markeredgecolor=_MARK)
        self.ax_.set(xlabel="Number of rows of highest score, k", ylabel="Precision among them", ylim=(0, 1.02))
        self.ax_.set_xscale("log")  # k is small where it matters, and all rows are many
        _legend_above(self.ax_)


def _legend_above(ax: Axes) -> None:
    """Put the legend where it hides nothing, whatever the size of the figure."""
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False)


def _share(x: float) -> str:
    return "none" if np.isnan(x) else f"{x:.1%}"


def _checked(y_true: ArrayLike, y_score: ArrayLike, pos_label: Label) -> tuple[BoolArray, FloatArray]:
    truth, score = check_column(y_true, "y_true"), check_column(y_score, "y_score", np.float64)
    check_consistent_length(truth, score)
    [positive] = check_labels(pos_label, truth)
    if not positive.any():
        raise ValueError("y_true has no positive row, so that there is no recall to draw. Check pos_label.")
    return positive, score
