"""The cones of a search for the best F, and its progress from model to model."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from scarce._colours import BLUE, GREEN, RED
from scarce._typing import Axes, FloatArray
from scarce.fmeasure import ConeClassifier
from scarce.fmeasure.bounds import (
    Cones,
    ErrorProfile,
    certified_bound,
    cones,
    parambath_cones,
    pooled,
    upper_envelope,
)
from scarce.plotting._display import AxesDisplay, check_drawable

__all__ = ["ConeDisplay", "FMeasureBoundDisplay", "FMeasurePathDisplay"]


_POINT, _CHOSEN, _BOUND = BLUE, RED, GREEN


class ConeDisplay(AxesDisplay):
    """The zones of t and F where no optimum lies, and the models that rule them out.

    The bound is read where the zone meets the diagonal F = t; elsewhere the zone only guides the search, and a model
    may well lie inside it. Make one with :meth:`from_estimator`, or from the cones of any models; the parameters become
    attributes.

    Parameters
    ----------
    cones : Cones
        As of :func:`~scarce.fmeasure.bounds.cones` or :func:`~scarce.fmeasure.bounds.parambath_cones`.
    f : array-like of shape (n_models,), optional
        The F of each model; the heights of the cones if not given.
    chosen : int, optional
        The model to point out.

    Attributes
    ----------
    zone_ : matplotlib FillBetweenPolyCollection
        Where no optimum lies.
    points_ : matplotlib Line2D
        The models.
    bound_ : matplotlib Line2D
        The certified bound, on the diagonal.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    FMeasureBoundDisplay : The bound against the error of the learner.
    FMeasurePathDisplay : F and the bound from model to model.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.svm import LinearSVC
    >>> from scarce.fmeasure import ConeClassifier
    >>> from scarce.plotting import ConeDisplay
    >>> X, y = make_classification(500, weights=[0.9], class_sep=0.7, random_state=0)
    >>> model = ConeClassifier(LinearSVC(), n_models=5).fit(X, y)
    >>> display = ConeDisplay.from_estimator(model)
    >>> len(display.cones.t) == len(model.path_["t"])
    True
    >>> plt.close(display.figure_)
    """

    def __init__(self, cones: Cones, f: ArrayLike | None = None, *, chosen: int | None = None) -> None:
        self.cones = cones
        self.f = np.asarray(cones.height if f is None else f, dtype=np.float64)
        self.chosen = chosen

    @classmethod
    def from_estimator(cls, estimator: ConeClassifier, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the cones that certify a fitted estimator: at each t those of the best model for the weights there.

        Parameters
        ----------
        estimator : ConeClassifier
            Fitted. Models that could not be fitted are left out.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `fill_between`, such as ``color``.

        Returns
        -------
        display
        """
        t, profile, f = _models(_path(cls, estimator), estimator.beta)
        of = cones(t, profile, estimator.beta, estimator.epsilon)
        return cls(of, f, chosen=int(np.flatnonzero(t == estimator.t_)[0])).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        envelope, bound = upper_envelope(self.cones), certified_bound(self.cones)
        style = {"color": "0.85", "linewidth": 0, "label": "no optimum here", **kwargs}
        self.zone_ = self.ax_.fill_between(envelope.t, envelope.f, 1, **style)
        for lines in zip(*self.cones, strict=True):
            one = Cones(*(np.array([part]) for part in lines))
            ends = np.array([0.0, float(one.t[0]), 1.0])
            self.ax_.plot(ends, one.at(ends)[0], color="0.6", linewidth=0.6)
        self.ax_.plot([0, 1], [0, 1], color="0.3", linestyle=":", linewidth=1, label="F = t")
        (self.points_,) = self.ax_.plot(self.cones.t, self.f, "o", color=_POINT, label="models", clip_on=False)
        if self.chosen is not None:
            at = self.cones.t[self.chosen], self.f[self.chosen]
            self.ax_.plot(*at, "s", color=_CHOSEN, label=f"chosen: F = {at[1]:.3f}", clip_on=False, zorder=4)
        (self.bound_,) = self.ax_.plot(
            bound, bound, "*", color=_BOUND, markersize=12, label=f"F ≤ {bound:.3f}", clip_on=False, zorder=4
        )
        self.ax_.set(xlabel="t", ylabel="F on the rows fitted on", xlim=(0, 1), ylim=(0, 1))
        self.ax_.legend(loc="best")


class FMeasureBoundDisplay(AxesDisplay):
    """The bound on F against `epsilon`, the excess of the learner over the least weighted error.

    The excess of a real learner is unknown. The line shows the bound that each excess would give; that of Parambath et
    al. is drawn beside it. Make one with :meth:`from_estimator`, or from any curves; the parameters become
    attributes.

    Parameters
    ----------
    epsilon : array-like of shape (n_points,)
        In shares of rows.
    bounds : dict of str to array-like of shape (n_points,)
        The bound at each epsilon, by its name.
    f : float, optional
        The best F that was reached.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One for each bound.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    ConeDisplay : The cones behind the bound.
    scarce.fmeasure.bounds : The bounds as functions.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.svm import LinearSVC
    >>> from scarce.fmeasure import ConeClassifier
    >>> from scarce.plotting import FMeasureBoundDisplay
    >>> X, y = make_classification(500, weights=[0.9], class_sep=0.7, random_state=0)
    >>> model = ConeClassifier(LinearSVC(), n_models=5).fit(X, y)
    >>> display = FMeasureBoundDisplay.from_estimator(model)
    >>> bool(display.bounds["bound"][0] == model.f_upper_bound_)
    True
    >>> plt.close(display.figure_)
    """

    def __init__(self, epsilon: ArrayLike, bounds: Mapping[str, ArrayLike], f: float | None = None) -> None:
        self.epsilon = np.asarray(epsilon, dtype=np.float64)
        self.bounds = {name: np.asarray(bound, dtype=np.float64) for name, bound in bounds.items()}
        self.f = f

    @classmethod
    def from_estimator(cls, estimator: ConeClassifier, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the bounds of a fitted estimator, for an epsilon of up to the share of positive rows.

        Parameters
        ----------
        estimator : ConeClassifier
            Fitted. Models that could not be fitted are left out.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `plot`, such as ``linewidth``.

        Returns
        -------
        display
        """
        t, profile, f = _models(_path(cls, estimator), estimator.beta)
        epsilon = np.linspace(0, float(profile.positives[0]), 101)
        bounds = {
            name: [certified_bound(bound(t, profile, estimator.beta, each)) for each in epsilon]
            for name, bound in (("bound", cones), ("of Parambath et al.", parambath_cones))
        }
        return cls(epsilon, bounds, float(f.max())).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        self.lines_ = []
        for (name, bound), color in zip(self.bounds.items(), cycle((_BOUND, "0.5")), strict=False):
            self.lines_ += self.ax_.plot(self.epsilon, bound, **{"color": color, "label": name, **kwargs})
        if self.f is not None:
            self.ax_.axhline(self.f, color=_POINT, linestyle=":", label=f"best F: {self.f:.3f}")
        self.ax_.set(xlabel="epsilon, in shares of rows", ylabel="F on the rows fitted on", ylim=(0, 1.02))
        self.ax_.legend(loc="best")


class FMeasurePathDisplay(AxesDisplay):
    """The best F so far and the bound on it, against the number of models.

    Make one with :meth:`from_estimator`, or from columns of any `path_`; the parameters become attributes.

    Parameters
    ----------
    curves : dict of str to array-like of shape (n_models,)
        The F of each model by what it is measured on, in the order of fitting; NaN where a fit failed.
    bound : array-like of shape (n_models,), optional
        The bound certified with this number of models.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One for each curve, and that of the bound.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    ConeDisplay : The cones of the models.
    scarce.fmeasure.ConeClassifier : The search that is drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.svm import LinearSVC
    >>> from scarce.fmeasure import ConeClassifier
    >>> from scarce.plotting import FMeasurePathDisplay
    >>> X, y = make_classification(500, weights=[0.9], class_sep=0.7, random_state=0)
    >>> rivals = [ConeClassifier(LinearSVC(), search=name).fit(X, y) for name in ("cone", "grid")]
    >>> display = FMeasurePathDisplay({model.search: model.path_["f"] for model in rivals}).plot()
    >>> [line.get_label() for line in display.lines_]
    ['cone', 'grid']
    >>> plt.close(display.figure_)
    """

    def __init__(self, curves: Mapping[str, ArrayLike], bound: ArrayLike | None = None) -> None:
        self.curves = {name: np.asarray(f, dtype=np.float64) for name, f in curves.items()}
        self.bound = None if bound is None else np.asarray(bound, dtype=np.float64)

    @classmethod
    def from_estimator(cls, estimator: ConeClassifier, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the F of a fitted estimator on both kinds of rows, and its bound.

        Parameters
        ----------
        estimator : ConeClassifier
            Fitted.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `plot`, such as ``linewidth``.

        Returns
        -------
        display
        """
        path = _path(cls, estimator)
        curves = {"F on the rows fitted on": path["f_fit"]}
        if estimator.validation != "train":
            curves["F on the rows judged by"] = path["f"]
        return cls(curves, path["bound"]).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        self.lines_ = []
        for name, f in self.curves.items():
            best = np.fmax.accumulate(f)
            style = {"marker": "o", "markersize": 4, "label": name, **kwargs}
            self.lines_ += self.ax_.plot(np.arange(1, len(best) + 1), best, **style)
        if self.bound is not None:
            style = {"color": _BOUND, "linestyle": "--", "label": "bound on the rows fitted on", **kwargs}
            self.lines_ += self.ax_.plot(np.arange(1, len(self.bound) + 1), self.bound, **style)
        self.ax_.set(xlabel="number of models", ylabel="best F so far")
        self.ax_.legend(loc="best")


def _path(display: type[Any], estimator: ConeClassifier) -> dict[str, FloatArray]:
    check_drawable(display, estimator, ConeClassifier, "Of a pipeline give the last step: pipeline[-1].")
    return estimator.path_


def _models(path: Mapping[str, FloatArray], beta: float) -> tuple[FloatArray, ErrorProfile, FloatArray]:
    """Return each t with the errors of the best model for its weights, and the F of the model fitted with them."""
    had = ~np.isnan(path["f_fit"])
    t = path["t"][had]
    profile = ErrorProfile(*(path[name][had] for name in ("fn", "fp", "positives")))
    return t, pooled(t, profile, beta), path["f_fit"][had]
