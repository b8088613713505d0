"""The common part of all displays, and matplotlib, which is an extra."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from scarce._drawing import axes_or_new, pyplot
from scarce._typing import Axes, Estimator, FloatArray, Label, MatrixLike
from scarce.base import RareEventClassifier

__all__ = ["OF_PIPELINE", "AxesDisplay", "Scored", "check_drawable", "last_step", "pyplot", "score_rows"]

OF_PIPELINE = (
    "Of a pipeline give the last step, with X as the steps before transform it: pipeline[-1], "
    "pipeline[:-1].transform(X)."
)


class AxesDisplay:
    """A figure on one matplotlib Axes."""

    ax_: Axes
    figure_: Any

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            Style for matplotlib, as for `from_estimator`.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        self._draw(**kwargs)
        return self

    def _draw(self, **kwargs: Any) -> None:
        """Draw on ``self.ax_``."""
        raise NotImplementedError


def check_drawable(display: type[Any], estimator: Estimator, kind: type[Any], advice: str, name: str = "") -> None:
    """Refuse an estimator that a display cannot draw or that is not fitted.

    Parameters
    ----------
    display : type
        The display.
    estimator : estimator
        The estimator.
    kind : type
        The class that it must have.
    advice : str
        The way out, for the error.
    name : str, optional
        The class in the words of the error; its own name if not given.
    """
    pyplot()  # scores may take long, so a missing library is reported first
    if not isinstance(estimator, kind):
        wanted = name or f"a {kind.__name__}"
        raise TypeError(f"{display.__name__} draws {wanted}; got a {type(estimator).__name__}. {advice}")
    check_is_fitted(estimator)


def last_step(estimator: Estimator) -> Estimator:
    """Return the last step of a pipeline, and anything else as it is."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


class Scored(NamedTuple):
    """Scores of rows, the threshold that the estimator uses, and the label that high scores stand for."""

    scores: FloatArray
    threshold: float
    pos_label: Label


def score_rows(estimator: Estimator, X: MatrixLike) -> Scored:
    """Score rows with a fitted classifier of two classes, a pipeline or any of scikit-learn's; nothing is fitted."""
    pyplot()
    check_is_fitted(estimator)
    model = last_step(estimator)
    if len(model.classes_) != 2:
        raise ValueError(f"The display is for two classes; {type(model).__name__} has {len(model.classes_)}.")
    if isinstance(model, RareEventClassifier):
        return Scored(estimator.score_samples(X), float(model.threshold_), model.pos_label_)
    if hasattr(estimator, "predict_proba"):
        return Scored(np.asarray(estimator.predict_proba(X))[:, 1], 0.5, model.classes_[1])
    return Scored(np.asarray(estimator.decision_function(X)), 0.0, model.classes_[1])
