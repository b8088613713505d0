"""The profit of decisions at every threshold, and at every cost of a false positive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from scarce._colours import BLACK, BLUE, GREEN, ORANGE, PINK, RED
from scarce._sweep import check_gains, gains_at
from scarce._typing import CV, Axes, Estimator, FloatArray, Keywords, MatrixLike
from scarce.base import RareEventClassifier
from scarce.metrics import profit_score
from scarce.objectives import Profit
from scarce.plotting._display import OF_PIPELINE, check_drawable, last_step, pyplot
from scarce.plotting._threshold import ThresholdCurveDisplay
from scarce.profit import BayesProfitClassifier, Gains, MenuEntry, profit_menu
from scarce.profit._gains import gain_of_flagging

__all__ = ["ProfitCurveDisplay", "ProfitMenuDisplay"]

_REFERENCES = ((BLACK, "--"), (GREEN, "-."), (ORANGE, (0, (1, 1))), (PINK, (0, (5, 1, 1, 1))))
_ADVICE = "Of anything else, give the scores of rows that it did not see to from_scores."
_RATES = (("precision", BLUE, "o"), ("recall", RED, "s"), ("f1", GREEN, "^"))


class ProfitCurveDisplay:
    """The profit at every threshold of a score, beside that of perfect decisions and of other rules.

    Make one with :meth:`from_estimator`, :meth:`from_training` or :meth:`from_scores`. The parameters are attributes.

    Parameters
    ----------
    curve : ThresholdCurveDisplay
        The profit at every threshold.
    references : dict of str to float
        The profit of other rules, by name.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The references.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    ThresholdCurveDisplay : The curve of any objective.
    ProfitMenuDisplay : The profit that more precision costs.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scarce.plotting import ProfitCurveDisplay
    >>> from scarce.profit import BayesProfitClassifier, Gains
    >>> X, y = make_classification(2000, weights=[0.95], random_state=0)
    >>> gains = Gains(fn="-80 * max(x0, 1)", fp=-5)
    >>> model = BayesProfitClassifier(LogisticRegression()).fit(X[:1000], y[:1000], gains=gains)
    >>> display = ProfitCurveDisplay.from_estimator(model, X[1000:], y[1000:], gains)
    >>> sorted(display.references)
    ['perfect decisions', 'row by row']
    >>> plt.close(display.figure_)
    """

    def __init__(self, curve: ThresholdCurveDisplay, references: Mapping[str, float]) -> None:
        self.curve = curve
        self.references = dict(references)

    @classmethod
    def from_estimator(
        cls,
        estimator: RareEventClassifier,
        X: MatrixLike,
        y: ArrayLike,
        gains: ArrayLike | Gains,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a fitted estimator on test rows; nothing is fitted.

        Parameters
        ----------
        estimator : RareEventClassifier, or a pipeline that ends in one
            Fitted. Its threshold is marked; of a :class:`~scarce.profit.BayesProfitClassifier` the rule that decides
            row by row is drawn too.
        X, y : array-like
            Rows that it was not fitted on, and their classes. For those that it was, see :meth:`from_training`.
        gains : array-like of shape (n_samples, 4) or (4,), or Gains
            What each outcome (tp, fp, tn, fn) of these rows earns.
        sample_weight : array-like, optional
            The weights of these rows.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `stairs`, such as ``color``.

        Returns
        -------
        display
        """
        model = last_step(estimator)
        check_drawable(cls, model, RareEventClassifier, _ADVICE)
        table = gains_at(gains, X)
        return cls._of_model(model, estimator.score_samples(X), y, table, sample_weight, ax, kwargs)

    @classmethod
    def from_training(
        cls,
        estimator: RareEventClassifier,
        X: MatrixLike,
        y: ArrayLike,
        gains: ArrayLike | Gains,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a fitted estimator from the honest scores of its training rows.

        Each row is scored by a model that did not see it, for which copies of the estimator may have to be fitted.

        Parameters
        ----------
        estimator : RareEventClassifier
            Fitted.
        X, y : array-like
            The rows it was fitted on, and their classes.
        gains, sample_weight, ax, **kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        display
        """
        check_drawable(cls, estimator, RareEventClassifier, OF_PIPELINE)
        table = gains_at(gains, X)
        honest = estimator.honest_scores(X, y, sample_weight, table)
        return cls._of_model(estimator, honest, y, table, sample_weight, ax, kwargs)

    @classmethod
    def _of_model(
        cls,
        model: RareEventClassifier,
        scores: FloatArray,
        y: ArrayLike,
        table: ArrayLike,
        sample_weight: ArrayLike | None,
        ax: Axes | None,
        style: Keywords,
    ) -> Self:
        decisions = {}
        if isinstance(model, BayesProfitClassifier):
            decisions["row by row"] = gain_of_flagging(check_gains(table, len(scores)), scores) > 0
        return cls.from_scores(
            scores,
            column_or_1d(y) == model.pos_label_,
            table,
            thresholds={"in use": model.threshold_},
            decisions=decisions,
            sample_weight=sample_weight,
            ax=ax,
            **style,
        )

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        y: ArrayLike,
        gains: ArrayLike,
        *,
        thresholds: Mapping[str, float] | None = None,
        decisions: Mapping[str, ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
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
        gains : array-like of shape (n_samples, 4) or (4,)
            What each outcome (tp, fp, tn, fn) of a row earns.
        thresholds : mapping of str to float, optional
            Thresholds of the score to mark, by name; the best one if not given.
        decisions : mapping of str to array-like of bool, optional
            Which rows other rules call positive, by name.
        sample_weight, ax, **kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        display
        """
        truth = column_or_1d(y) == 1
        ruled = {"perfect decisions": truth, **(decisions or {})}
        references = {
            name: profit_score(truth, np.asarray(called, dtype=bool), gains, sample_weight=sample_weight)
            for name, called in ruled.items()
        }
        curve = ThresholdCurveDisplay.from_scores(
            scores,
            truth,
            objective=Profit(),
            thresholds=thresholds,
            sample_weight=sample_weight,
            gains=gains,
            ax=ax,
            **kwargs,
        )
        return cls(curve, references)._add_references()

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `stairs`, such as ``color``.

        Returns
        -------
        self
        """
        self.curve.plot(ax, **kwargs)
        return self._add_references()

    def _add_references(self) -> Self:
        self.ax_, self.figure_ = self.curve.ax_, self.curve.figure_
        styles = _REFERENCES * len(self.references)
        self.lines_ = [
            self.ax_.axhline(profit, color=color, linestyle=dashes, linewidth=1, label=f"{name}: {profit:,.0f}")
            for (name, profit), (color, dashes) in zip(self.references.items(), styles, strict=False)
        ]
        self.ax_.autoscale(axis="y")
        self.ax_.legend(framealpha=1)
        return self


class ProfitMenuDisplay:
    """Profit, precision and recall against the cost of a false positive.

    Make one with :meth:`from_training`, or from a menu that is at hand; the parameters become attributes.

    Parameters
    ----------
    menu : sequence of MenuEntry
        Of :func:`~scarce.profit.profit_menu`.
    name : str, default="ζ"
        The name of the values.

    Attributes
    ----------
    axes_ : pair of matplotlib Axes
        Where it was drawn: the profit above, the rates below.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    scarce.profit.profit_menu : The numbers that are drawn.
    ProfitCurveDisplay : The profit at every threshold.

    References
    ----------
    G. Metzler, "Learning from Imbalanced Data: An Application to Bank Fraud Detection", thesis, Saint-Étienne, 2019,
    figure 6.1.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from scarce.plotting import ProfitMenuDisplay
    >>> from scarce.profit import BayesProfitClassifier, Gains
    >>> X, y = make_classification(2000, weights=[0.95], random_state=0)
    >>> gains = Gains(tn=10, fn=-80, fp="10 - zeta", zeta=5)
    >>> model = BayesProfitClassifier(LogisticRegression())
    >>> display = ProfitMenuDisplay.from_training(model, X, y, gains, [5, 20, 40])
    >>> display.menu[2].precision > display.menu[0].precision
    True
    >>> plt.close(display.figure_)
    """

    def __init__(self, menu: Sequence[MenuEntry], name: str = "ζ") -> None:
        self.menu = list(menu)
        self.name = name

    @classmethod
    def from_training(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        gains: Gains,
        values: Iterable[float],
        *,
        constant: str = "zeta",
        cv: CV = 5,
        axes: Sequence[Axes] | None = None,
    ) -> Self:
        """Make the menu of training rows, by cross-validation, and draw it.

        Parameters are as for :func:`~scarce.profit.profit_menu`, which fits copies of the estimator, and `axes` to
        draw in.
        """
        pyplot()  # the menu may take long, so a missing library is reported first
        menu = profit_menu(estimator, X, y, gains, values, constant=constant, cv=cv)
        return cls(menu, "ζ" if constant == "zeta" else constant).plot(axes)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        axes : pair of matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        self
        """
        if axes is None:
            axes = pyplot().subplots(2, 1, sharex=True, layout="constrained")[1]
        above, below = self.axes_ = axes
        self.figure_ = above.figure
        values = [entry.value for entry in self.menu]
        above.plot(values, [entry.profit for entry in self.menu], color=BLACK, marker="o")
        for entry in self.menu:
            if np.isfinite(entry.gap):
                above.annotate(
                    f"gap {entry.gap:.2%}",
                    (entry.value, entry.profit),
                    (0, 6),
                    textcoords="offset points",
                    fontsize=8,
                    horizontalalignment="center",
                )
        above.set(ylabel="Profit, by the gains as they are")
        above.margins(y=0.2)
        for rate, color, marker in _RATES:
            label = {"f1": "F1"}.get(rate, rate)
            below.plot(values, [getattr(entry, rate) for entry in self.menu], color=color, marker=marker, label=label)
        below.set(xlabel=f"{self.name} that the model learns with", ylabel="Rate", ylim=(0, 1))
        below.legend(framealpha=1)
        for ax in axes:
            ax.margins(x=0.12)  # room for the words at the ends
        return self
