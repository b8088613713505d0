"""Probabilities on test rows, beside those that five more fits give; and rows with known probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import average_precision_score, brier_score_loss

from scarce._typing import Estimator
from scarce.metrics import expected_calibration_error

__all__ = ["LABELS_OF_PROBABILITIES", "draw_probabilities", "measure_probabilities", "probabilities_of"]

FloatArray = NDArray[np.float64]

LABELS_OF_PROBABILITIES = {
    "ece": "expected calibration error",
    "ece of five fits": "expected calibration error of CalibratedClassifierCV",
    "ece beyond": "expected calibration error beyond that of CalibratedClassifierCV",
    "brier": "Brier score",
    "brier ratio": "Brier score relative to that of CalibratedClassifierCV",
    "ap lost": "average precision of the score less that of the probability",
}


def probabilities_of(model: Estimator, X: FloatArray, y: NDArray[Any], X_test: FloatArray) -> FloatArray:
    """Return in columns the score, the probability, and that of CalibratedClassifierCV around the same method."""
    peer = clone(model)
    # Its curves are not looked at, and its scores do not depend on them.
    unused = {name: None for name, value in peer.get_params().items() if name == "model__calibration" and value}
    if unused and not hasattr(peer.steps[-1][1], "estimator"):
        peer.set_params(**unused)
    more = CalibratedClassifierCV(peer, cv=5).fit(X, y)
    score = model.score_samples(X_test)
    return np.column_stack((score, model.predict_proba(X_test)[:, 1], more.predict_proba(X_test)[:, 1]))


def measure_probabilities(y: NDArray[Any], columns: FloatArray) -> dict[str, float]:
    """Measure the columns of :func:`probabilities_of`."""
    score, probability, peer = columns.T
    error, peer_error = (expected_calibration_error(y, p) for p in (probability, peer))
    brier, peer_brier = (float(brier_score_loss(y, p)) for p in (probability, peer))
    ap = float(average_precision_score(y, score))
    return {
        "ap": ap,
        "ece": error,
        "ece of five fits": peer_error,
        "ece beyond": error - peer_error,
        "brier": brier,
        "brier ratio": brier / peer_brier,
        "ap lost": ap - float(average_precision_score(y, probability)),
    }


def draw_probabilities(seed: int, *, shape: str, rows: int = 5_000, test: int = 20_000, **_: Any) -> tuple[Any, ...]:
    """Draw rows whose probabilities are known, about 5 % of them positive.

    "linear": log-odds that are linear in the features; "islands": high in two small regions and low elsewhere;
    "floor": a share that rises along one feature and never falls below 2 %, as of labels with errors.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + test, 6))
    if shape == "linear":
        probability = expit(X[:, :3] @ [1.2, -0.8, 0.5] - 3.7)
    elif shape == "islands":
        near = [np.exp(-((X[:, :3] - centre) ** 2).sum(axis=1)) for centre in ([1.2, 1.2, 0.0], [-1.2, 0.0, 1.2])]
        probability = expit(logit(0.012) + 6 * np.maximum(*near))
    else:
        probability = 0.02 + 0.3 * expit(3 * (X[:, 0] - 1.8))
    y = (rng.random(len(X)) < probability).astype(np.int64)
    return X[:rows], y[:rows], X[rows:], y[rows:]
