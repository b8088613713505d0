"""The ellipsoids of ME² over two features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from scarce._colours import RED, SKY
from scarce._typing import Axes, FloatArray, MatrixLike
from scarce.ellipsoids import ME2
from scarce.plotting._display import OF_PIPELINE, AxesDisplay, check_drawable

__all__ = ["EllipsoidDisplay"]


_POSITIVE, _NEGATIVE = RED, SKY


class EllipsoidDisplay(AxesDisplay):
    """The ellipsoids of ME² over two features, with the rows around them.

    With more than two features an outline is the projection of its ellipsoid on the two. Two displays on the same axes
    compare two models. Make one with :meth:`from_estimator`; the parameters become attributes.

    Parameters
    ----------
    centers : ndarray of shape (n_centers, 2)
        The middle of each ellipsoid.
    shapes : ndarray of shape (n_centers, 2, 2)
        S of each: the outline is where (x - c)'S⁻¹(x - c) = 1.
    rows : ndarray of shape (n_rows, 2)
        The rows to draw.
    positive : ndarray of bool of shape (n_rows,)
        Which of them are positive.
    names : (str, str)
        The names of the two features.

    Attributes
    ----------
    outlines_ : matplotlib LineCollection
        The ellipsoids.
    positives_, negatives_ : matplotlib PathCollection
        The rows.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    scarce.ellipsoids.ME2 : The method that is drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from scarce.ellipsoids import ME2
    >>> from scarce.plotting import EllipsoidDisplay
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.random((300, 2)), rng.random(300) < 0.03
    >>> free, balls = (ME2(50, tune=None, lam=lam).fit(X, y) for lam in (1e-4, 100))
    >>> display = EllipsoidDisplay.from_estimator(free, X, y, label="lam = 0.0001")
    >>> other = EllipsoidDisplay.from_estimator(balls, X, y, ax=display.ax_, color="black", label="lam = 100")
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, centers: FloatArray, shapes: FloatArray, *, rows: FloatArray, positive: NDArray, names: tuple[str, str]
    ) -> None:
        self.centers = centers
        self.shapes = shapes
        self.rows = rows
        self.positive = positive
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: ME2,
        X: MatrixLike,
        y: ArrayLike,
        *,
        features: tuple[int | str, int | str] = (0, 1),
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the ellipsoids of a fitted model.

        Parameters
        ----------
        estimator : ME2
            Fitted.
        X, y : array-like
            The rows to draw with them, and their classes.
        features : (int or str, int or str), default=(0, 1)
            The two features, by number or by name.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For matplotlib's `LineCollection`, such as ``color`` or ``label``.

        Returns
        -------
        display
        """
        check_drawable(cls, estimator, ME2, OF_PIPELINE, "an ME2")
        names = estimator._feature_names
        if len(names) < 2:
            raise ValueError("EllipsoidDisplay draws over two features; the model has one.")
        for feature in features:
            if not (feature in names if isinstance(feature, str) else 0 <= feature < len(names)):
                raise ValueError(f"There is no feature {feature!r}. Give a number below {len(names)} or a name.")
        first, second = (names.index(f) if isinstance(f, str) else f for f in features)
        chosen = [first, second]
        rows = estimator._check_X(X, reset=False)
        pick = np.eye(len(names))[:, chosen]
        shapes = [
            radius * np.linalg.solve(estimator.metric(c), pick)[chosen] for c, radius in enumerate(estimator.radii_)
        ]
        return cls(
            estimator.centers_[:, chosen],
            np.array(shapes),
            rows=rows[:, chosen],
            positive=column_or_1d(y) == estimator.pos_label_,
            names=(names[first], names[second]),
        ).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        from matplotlib.collections import LineCollection

        angle = np.linspace(0, 2 * np.pi, 129)
        circle = np.column_stack((np.cos(angle), np.sin(angle)))
        # Where S = LL', the outline is L times the circle; a small addition keeps an ellipsoid of size 0 drawable.
        tiny = np.finfo(np.float64).tiny * np.eye(2)
        outlines = [c + circle @ np.linalg.cholesky(s + tiny).T for c, s in zip(self.centers, self.shapes, strict=True)]
        self.negatives_ = self.ax_.scatter(
            self.rows[~self.positive, 0], self.rows[~self.positive, 1], s=6, color=_NEGATIVE, zorder=1
        )
        self.positives_ = self.ax_.scatter(
            self.rows[self.positive, 0], self.rows[self.positive, 1], s=16, color=_POSITIVE, zorder=3
        )
        self.outlines_ = LineCollection(outlines, **{"color": _POSITIVE, "linewidth": 1, "zorder": 2, **kwargs})
        self.ax_.add_collection(self.outlines_)
        self.ax_.autoscale_view()
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        if "label" in kwargs:
            self.ax_.legend(framealpha=1)
