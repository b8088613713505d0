"""Models that learn and forget row by row, as classifiers of river, and a detector of drift.

river is an extra: ``pip install "scarce[stream]"``. Without it this module can be imported, and says
so when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scarce._extras import require
from scarce.neighbors import CCNND

if TYPE_CHECKING:
    from river.base import BinaryDriftDetector, DriftDetector

    from scarce.stream._fisher import FisherDrift
    from scarce.stream._river import RiverClassifier

__all__ = ["FisherDrift", "to_river"]


def __getattr__(name: str) -> Any:
    if name != "FisherDrift":
        raise AttributeError(f"module 'scarce.stream' has no attribute {name!r}")
    require("river", "A stream")
    from scarce.stream._fisher import FisherDrift

    return FisherDrift


def to_river(
    model: CCNND, *, drift_detector: DriftDetector | BinaryDriftDetector | None = None, keep: int = 10
) -> RiverClassifier:
    """Make a classifier of river from a CCNND.

    The result learns and predicts row by row, as a step of river's pipelines and in its ``progressive_val_score``. With
    a drift detector it forgets: each class has a detector of its own, which is given the mistakes on the rows of that
    class, so that the mistakes on a few frauds are not lost among many genuine payments. Where one of them detects a
    drift and the mistakes have become more, every class keeps its latest `keep` rows, and older ones are forgotten.

    Parameters
    ----------
    model : CCNND
        The model to start from, fitted or not. It is copied. Name `pos_label`, since which class is rarer may change in
        a stream; and give a number as `threshold`, or leave "default", since an objective chooses anew after each row.
    drift_detector : detector of river.drift, default=None
        Such as ``river.drift.ADWIN(clock=1)``. It is copied for each class. None never forgets.
    keep : int, default=10
        The number of rows that each class keeps after a drift.

    Returns
    -------
    RiverClassifier
        With river's ``learn_one``, ``predict_one`` and ``predict_proba_one``. The attribute ``model_`` is the CCNND as
        it is now, with `explain` and `score_samples`; ``n_drifts_`` counts the drifts that each class has shown.
        The first row fixes the features; every other must have the same, in any order. While no class is known the
        prediction is None, and while one is known it is that class.

    Notes
    -----
    `CCNND(max_per_class=...)` bounds memory and forgets steadily, whether or not anything has changed. The two can be
    combined.

    Examples
    --------
    >>> from river import drift, metrics
    >>> from river.evaluate import progressive_val_score
    >>> from river.preprocessing import StandardScaler
    >>> from scarce.neighbors import CCNND
    >>> from scarce.stream import to_river
    >>> rows = [({"amount": float(i % 7), "hour": float(i % 5)}, i % 7 == 6) for i in range(200)]
    >>> model = StandardScaler() | to_river(CCNND(pos_label=True), drift_detector=drift.ADWIN(clock=1))
    >>> progressive_val_score(rows, model, metrics.GeometricMean())
    GeometricMean: ...
    """
    require("river", "A stream")
    from scarce.stream._river import RiverClassifier

    return RiverClassifier(model, drift_detector, keep)
