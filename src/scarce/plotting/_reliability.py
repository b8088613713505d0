"""Probabilities against the shares of positives that came of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest
from sklearn.utils import column_or_1d

from scarce._colours import BLUE
from scarce._typing import Axes, Estimator, FloatArray, Label, MatrixLike
from scarce.metrics import calibration_bins
from scarce.plotting._display import AxesDisplay, pyplot

__all__ = ["ReliabilityDisplay"]

_POINTS, _DIAGONAL = BLUE, "#555555"


class ReliabilityDisplay(AxesDisplay):
    """The share of positives in bins of equally many rows, against their mean probability, with intervals.

    scikit-learn's ``CalibrationDisplay`` joins such points with a line. Of rare events most bins hold few positives, so
    here each has its confidence interval, and the axes may be logarithmic. An interval that misses the diagonal shows
    probabilities that are wrong; one that is wide shows that the rows cannot tell.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`; the parameters become attributes.

    Parameters
    ----------
    probability, share : ndarray of shape (n_bins,)
        The mean probability and the share of positives in each bin.
    low, high : ndarray of shape (n_bins,)
        The ends of the confidence interval of the share.
    rows : float
        The number of rows in each bin.
    name : str, optional
        The label of the points.

    Attributes
    ----------
    points_ : matplotlib ErrorbarContainer
        The points with their intervals.
    diagonal_ : matplotlib Line2D
        Where probabilities are right.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    scarce.metrics.expected_calibration_error : The mean distance from the diagonal.
    sklearn.calibration.CalibrationDisplay : The curve without intervals.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from scarce.neighbors import GammaKNN
    >>> from scarce.plotting import ReliabilityDisplay
    >>> X, y = make_classification(4000, weights=[0.95], random_state=0)
    >>> model = GammaKNN().fit(X[:2000], y[:2000])
    >>> display = ReliabilityDisplay.from_estimator(model, X[2000:], y[2000:], n_bins=10)
    >>> bool(((display.low <= display.share) & (display.share <= display.high)).all())
    True
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        probability: FloatArray,
        share: FloatArray,
        *,
        low: FloatArray,
        high: FloatArray,
        rows: float,
        name: str | None = None,
    ) -> None:
        self.probability = probability
        self.share = share
        self.low = low
        self.high = high
        self.rows = rows
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        *,
        n_bins: int = 10,
        confidence: float = 0.95,
        log: bool = False,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the probabilities of a fitted classifier for rows that it did not see.

        Parameters
        ----------
        estimator : classifier
            Fitted, with `predict_proba` for two classes. The positive class is its `pos_label_`, or ``classes_[1]``
            where it has none.
        X, y : array-like
            New rows and their classes.
        n_bins : int, default=10
            The number of bins.
        confidence : float, default=0.95
            The level of the intervals.
        log : bool, default=False
            Whether the axes are logarithmic, which spreads out small probabilities.
        name : str, optional
            The label of the points; the name of the class if not given.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `errorbar`, such as ``color``.

        Returns
        -------
        display
        """
        pyplot()
        classes = np.asarray(estimator.classes_)
        if len(classes) != 2:
            raise ValueError(f"ReliabilityDisplay draws two classes; the estimator knows {len(classes)}.")
        positive = getattr(estimator, "pos_label_", classes[1])
        column = int(np.flatnonzero(classes == positive)[0])
        return cls.from_predictions(
            column_or_1d(y) == positive,
            estimator.predict_proba(X)[:, column],
            n_bins=n_bins,
            confidence=confidence,
            log=log,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        n_bins: int = 10,
        confidence: float = 0.95,
        pos_label: Label | None = None,
        log: bool = False,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw probabilities of the positive class, from any model.

        Parameters
        ----------
        y_true, y_prob : array-like of shape (n_samples,)
            The truth, and the probabilities of the positive class.
        n_bins, confidence, log, name, ax, **kwargs
            As for :meth:`from_estimator`.
        pos_label : label, optional
            The positive label; needed unless the labels are 0 and 1, -1 and 1, or booleans.

        Returns
        -------
        display
        """
        bins = calibration_bins(y_true, y_prob, n_bins, pos_label=pos_label)
        low, high = _wilson(bins.share, bins.rows, confidence)
        display = cls(bins.probability, bins.share, low=low, high=high, rows=bins.rows, name=name)
        return display.plot(ax, log=log, **kwargs)

    def _draw(self, *, log: bool = False, **kwargs: Any) -> None:
        ax = self.ax_
        style = {"fmt": "o", "color": _POINTS, "capsize": 2, "markersize": 4, "label": self.name, **kwargs}
        reach = np.vstack((self.share - self.low, self.high - self.share))
        self.points_ = ax.errorbar(self.probability, self.share, yerr=reach, **style)
        most = float(max(self.probability.max(), self.high.max()))
        # Without a positive in it a bin has no place on a logarithmic axis, but its interval has.
        least = float(min(self.probability.min(), self.high.min())) / 2 if log else 0.0
        (self.diagonal_,) = ax.plot(
            [least, most], [least, most], color=_DIAGONAL, linestyle="--", linewidth=1, zorder=0
        )
        if log:
            ax.set(xscale="log", yscale="log", ylim=(least, most * 1.5))
        ax.set(
            xlabel=f"Mean probability ({self.rows:.0f} rows in each bin)",
            ylabel="Share of positives",
        )
        if self.name is not None:
            ax.legend(loc="upper left")


def _wilson(share: FloatArray, rows: float, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of Wilson's interval for each share; a number of rows is rounded."""
    n = max(1, round(rows))
    found = [binomtest(min(n, round(s * n)), n).proportion_ci(confidence, "wilson") for s in share]
    return (
        np.minimum([interval.low for interval in found], share),
        np.maximum([interval.high for interval in found], share),
    )
