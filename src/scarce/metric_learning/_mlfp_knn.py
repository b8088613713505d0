"""γk-NN with distances to positive rows under a learned metric."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from scarce._sklearn import Interval
from scarce._typing import Calibration, Label, Threshold
from scarce.base import RareEventClassifier
from scarce.metric_learning._learned_knn import LearnedKNN
from scarce.metric_learning._mlfp import MLFP

__all__ = ["MLFPKNN"]


class MLFPKNN(LearnedKNN):
    """γk-NN with distances to positive rows under MLFP's metric.

    :class:`MLFP` weighs the features for the distances to positive rows; distances to negative rows are plain. The
    score is that of :class:`~scarce.neighbors.GammaKNN`: d⁻ / (d⁻ + d⁺) of the distances that decide the vote.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbours vote, and how many the metric is learned from.
    margin, mu : float, default=1.0 and 0.1
        As in :class:`MLFP`.
    threshold : "default", str, Objective or float, default="default"
        "default" is the threshold of highest F1 on honest scores, which scales the metric by the best factor; 0.5 is
        the vote of the paper, which leaves the metric as learned.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    metric_transform_ : MLFP
        The learned metric.
    gamma_ : float
        The factor on distances to positive rows, besides the metric.
    index_ : TransformedIndex
        The training rows by class.

    See Also
    --------
    MLFP : The metric alone, as a transformer.
    IMLKNN : The same vote after a map for both classes.
    scarce.neighbors.GammaKNN : The same vote with one factor for all features.

    Notes
    -----
    Features should be standardised. The honest score of a row is that among all other rows, under a metric learned from
    the four fifths of the rows without it. `sample_weight` counts in the choice of the threshold only.

    References
    ----------
    R. Viola, R. Emonet, A. Habrard, G. Metzler, M. Sebban, "Learning from Few Positives: a Provably Accurate Metric
    Learning Algorithm to Deal with Imbalanced Data", IJCAI 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.metric_learning import MLFPKNN
    >>> X, y = make_classification(400, weights=[0.9], random_state=0)
    >>> model = MLFPKNN().fit(X, y)
    >>> model.metric_transform_.components_.diagonal().shape
    (20,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "mu": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        margin: float = 1.0,
        mu: float = 0.1,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.margin = margin
        self.mu = mu
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    @property
    def metric_transform(self) -> MLFP:
        """The metric learner, not fitted."""
        return MLFP(self.n_neighbors, margin=self.margin, mu=self.mu, pos_label=1)

    @property
    def _threshold_range(self) -> tuple[float, float]:
        # The metric has a scale of its own, so a factor above 1 need not push positive rows away.
        return 0.0, 1.0

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(1, margin=0.5, mu=1.0, threshold=0.5)
