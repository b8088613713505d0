"""The effects of features on the score of one row."""

from __future__ import annotations

from typing import Self

from sklearn.utils.validation import check_is_fitted

from scarce._drawing import pyplot
from scarce._typing import Axes, Estimator, MatrixLike
from scarce.explanation import Explanation

__all__ = ["ExplanationDisplay"]


class ExplanationDisplay:
    """The largest effects of features on the score of one row.

    Effects that add up are drawn end to end, from the base value to the score; others each from the base value. Make
    one with :meth:`from_estimator` or :meth:`from_explanation`; the parameters become attributes.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    row : int, default=0
        The row of the explanation to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scarce.explanation import Explanation
    >>> from scarce.plotting import ExplanationDisplay
    >>> explanation = Explanation.from_effects([[3.0, 4.0]], [[0.25, -0.5]], 1.0, features=["a", "b"], label=1)
    >>> display = ExplanationDisplay.from_explanation(explanation)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['b = 4', 'a = 3']
    >>> plt.close(display.figure_)
    """

    def __init__(self, explanation: Explanation, row: int = 0) -> None:
        self.explanation = explanation
        self.row = row

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: MatrixLike, *, row: int = 0, max_features: int = 10, ax: Axes | None = None
    ) -> Self:
        """Draw one row as a fitted estimator explains it; nothing is fitted.

        Parameters
        ----------
        estimator : estimator
            Fitted, with the method `explain`.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        row : int, default=0
            The row of `X` to draw.
        max_features : int, default=10
            The most bars; all other features share one more.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        display
        """
        pyplot()  # An explanation may take long: a missing library must be found out before.
        check_is_fitted(estimator)
        return cls.from_explanation(estimator.explain(X), row=row, max_features=max_features, ax=ax)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, row: int = 0, max_features: int = 10, ax: Axes | None = None
    ) -> Self:
        """Draw one row of an explanation; parameters as for :meth:`from_estimator`."""
        return cls(explanation, row).plot(ax, max_features=max_features)

    def plot(self, ax: Axes | None = None, *, max_features: int = 10) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        max_features : int, default=10
            The most bars; all other features share one more.

        Returns
        -------
        self
        """
        self.ax_ = self.explanation.plot(self.row, ax, max_features=max_features)
        self.figure_ = self.ax_.figure
        return self
