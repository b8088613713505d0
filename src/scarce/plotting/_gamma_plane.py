"""The value of an objective at every pair of γ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from scarce._colours import RED
from scarce._typing import Axes, FloatArray, MatrixLike
from scarce.objectives import Objective, get_objective
from scarce.plotting._display import OF_PIPELINE, AxesDisplay, check_drawable, last_step
from scarce.plotting._threshold import name_of
from scarce.sampling import ResampledGammaKNN

__all__ = ["GammaPlaneDisplay"]


# Of the Okabe-Ito palette, both light enough to be seen on every colour of the map.
_MARKS = ((RED, "o"), ("#FFFFFF", "s"))


class Pair(NamedTuple):
    """A pair of γ to point out, and its value."""

    real: float
    synthetic: float
    value: float


class GammaPlaneDisplay(AxesDisplay):
    """The value of an objective over the γ of real and the γ of synthetic positives, as a heat map.

    The pair in use is marked, and so is (1, 1), which is the plain k-NN vote on the resampled rows. Make one with
    :meth:`from_estimator` for test rows, or with :meth:`from_training` for the rows on which the pair was chosen; the
    parameters become attributes.

    Parameters
    ----------
    gamma_real, gamma_synthetic : ndarray of shape (n_real + 1,) and (n_synthetic + 1,)
        The edges of the cells.
    values : ndarray of shape (n_real, n_synthetic)
        The value of the objective in the middle of each cell; NaN where it allows no such predictions.
    marks : dict of str to (real, synthetic, value)
        The pairs to point out, by name, and their values.
    objective_name : str
        The label of the colours.

    Attributes
    ----------
    mesh_ : matplotlib QuadMesh
        The map.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    GammaPathDisplay : The same over the one γ of γk-NN.
    scarce.sampling.ResampledGammaKNN : The method that is drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from scarce.plotting import GammaPlaneDisplay
    >>> from scarce.sampling import ResampledGammaKNN
    >>> X, y = make_classification(500, weights=[0.9], flip_y=0.02, random_state=0)
    >>> model = ResampledGammaKNN(random_state=0).fit(X, y)
    >>> display = GammaPlaneDisplay.from_training(model, X, y)
    >>> bool(display.marks["in use"].value >= display.values.max())
    True
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        gamma_real: FloatArray,
        gamma_synthetic: FloatArray,
        values: FloatArray,
        *,
        marks: Mapping[str, tuple[float, float, float]],
        objective_name: str,
    ) -> None:
        self.gamma_real = gamma_real
        self.gamma_synthetic = gamma_synthetic
        self.values = values
        self.marks = {name: Pair(*mark) for name, mark in marks.items()}
        self.objective_name = objective_name

    @classmethod
    def from_estimator(
        cls,
        estimator: ResampledGammaKNN,
        X: MatrixLike,
        y: ArrayLike,
        *,
        objective: str | Objective = "f1",
        sample_weight: ArrayLike | None = None,
        resolution: int = 80,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the map of a fitted estimator on test rows; nothing is fitted.

        Parameters
        ----------
        estimator : ResampledGammaKNN, or a pipeline that ends in one
            Fitted. The pair that it uses is marked.
        X, y : array-like
            Rows that it was not fitted on, and their classes. For those that it was, see :meth:`from_training`.
        objective : str or Objective, default="f1"
            What to draw: a name or an object of :mod:`scarce.objectives`.
        sample_weight : array-like, optional
            As in the estimator's `fit`.
        resolution : int, default=80
            The number of cells on each axis, from 0 to `gamma_real_max` and `gamma_synthetic_max`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `pcolormesh`, such as ``cmap``.

        Returns
        -------
        display
        """
        model = last_step(estimator)
        check_drawable(cls, model, ResampledGammaKNN, OF_PIPELINE)
        rows = X if model is estimator else estimator[:-1].transform(X)
        display = cls._of_rows(model, rows, y, get_objective(objective), sample_weight, resolution, training=False)
        return display.plot(ax, **kwargs)

    @classmethod
    def from_training(
        cls,
        estimator: ResampledGammaKNN,
        X: MatrixLike,
        y: ArrayLike,
        *,
        objective: str | Objective = "f1",
        sample_weight: ArrayLike | None = None,
        resolution: int = 80,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the map of a fitted estimator from honest predictions of its training rows.

        Each row is predicted by rows that are resampled without it. This is the map on which the pair was chosen.

        Parameters
        ----------
        estimator : ResampledGammaKNN
            Fitted. The pair that it uses is marked.
        X, y : array-like
            The rows it was fitted on, and their classes.
        objective, sample_weight, resolution, ax, **kwargs
            As for :meth:`from_estimator`.

        Returns
        -------
        display
        """
        check_drawable(cls, estimator, ResampledGammaKNN, OF_PIPELINE)
        display = cls._of_rows(estimator, X, y, get_objective(objective), sample_weight, resolution, training=True)
        display.objective_name += " on honest predictions"
        return display.plot(ax, **kwargs)

    @classmethod
    def _of_rows(
        cls,
        estimator: ResampledGammaKNN,
        X: MatrixLike,
        y: ArrayLike,
        objective: Objective,
        sample_weight: ArrayLike | None,
        resolution: int,
        *,
        training: bool,
    ) -> Self:
        marked = {
            "in use": (estimator.gamma_real_, estimator.gamma_synthetic_),
            "plain k-NN": (1.0, 1.0),
        }
        real, synthetic = (
            np.linspace(0, top, resolution + 1) for top in (estimator.gamma_real_max, estimator.gamma_synthetic_max)
        )
        # One call, hence one search, for the middles of all cells and for the marked pairs.
        used = np.maximum(list(marked.values()), 1e-300)  # a threshold below all scores stands for a γ of 0
        values = estimator.plane(
            X,
            y,
            np.concatenate((real[:-1] + real[1] / 2, used[:, 0])),
            np.concatenate((synthetic[:-1] + synthetic[1] / 2, used[:, 1])),
            objective=objective,
            sample_weight=sample_weight,
            training=training,
        )
        worth = values.diagonal()[resolution:]
        marks = {name: (*pair, float(value)) for (name, pair), value in zip(marked.items(), worth, strict=True)}
        shown = values[:resolution, :resolution]
        return cls(real, synthetic, shown, marks=marks, objective_name=name_of(objective))

    def _draw(self, **kwargs: Any) -> None:
        style = {"cmap": "viridis", "rasterized": True, **kwargs}
        self.mesh_ = self.ax_.pcolormesh(self.gamma_real, self.gamma_synthetic, self.values.T, **style)
        self.figure_.colorbar(self.mesh_, ax=self.ax_, label=self.objective_name)
        right, top = self.gamma_real[-1], self.gamma_synthetic[-1]
        for (name, mark), (color, marker) in zip(self.marks.items(), _MARKS * len(self.marks), strict=False):
            worth = "not allowed" if np.isnan(mark.value) else f"{mark.value:.3g}"
            self.ax_.plot(
                np.clip(mark.real, 0, right),
                np.clip(mark.synthetic, 0, top),
                color=color,
                marker=marker,
                markersize=9,
                markeredgecolor="black",
                linestyle="none",
                label=f"γ = {mark.real:.3g}, {mark.synthetic:.3g} ({name}): {worth}",
                clip_on=False,
                zorder=5,
            )
        self.ax_.set(xlabel="γ of real positives", ylabel="γ of synthetic positives", xlim=(0, right), ylim=(0, top))
        self.ax_.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
