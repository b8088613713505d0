"""γk-NN after a learned map."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from scarce._sklearn import Interval
from scarce._typing import Calibration, Label, Threshold
from scarce.base import RareEventClassifier
from scarce.metric_learning._iml import IML
from scarce.metric_learning._learned_knn import LearnedKNN

__all__ = ["IMLKNN"]


class IMLKNN(LearnedKNN):
    """γk-NN after IML's map.

    :class:`IML` maps the rows so that neighbours tend to be of one class, and
    :class:`~scarce.neighbors.GammaKNN` follows, with its score and its exact γ.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbours vote, and how many the map is learned from.
    margin, lam : float, default=1.0
        As in :class:`IML`.
    threshold : "default", str, Objective or float, default="default"
        "default" is the γ in (0, 1] of highest F1 on honest scores; 0.5 is the plain vote of the paper.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    metric_transform_ : IML
        The learned map.
    gamma_ : float
        The γ in use.
    index_ : TransformedIndex
        The training rows by class.

    See Also
    --------
    IML : The map alone, as a transformer.
    MLFPKNN : The same vote with a metric for distances to positive rows.
    scarce.neighbors.GammaKNN : The same vote in plain distances.

    Notes
    -----
    Features should be standardised. The honest score of a row is that among all other rows, after a map learned from
    the four fifths of the rows without it. `sample_weight` counts in the choice of the threshold only. The part
    of a feature in the learned distance may be below 0: then it brings two rows closer together, by way of the others.

    References
    ----------
    L. Gautheron, A. Habrard, E. Morvant, M. Sebban, "Metric Learning from Imbalanced Data with Generalization
    Guarantees", Pattern Recognition Letters 133, 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.metric_learning import IMLKNN
    >>> X, y = make_classification(400, weights=[0.9], random_state=0)
    >>> model = IMLKNN().fit(X, y)
    >>> bool(0 < model.gamma_ <= 1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "lam": [Interval(Real, 0, None, closed="left")],
    }
    _transformed = (0, 1)

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        margin: float = 1.0,
        lam: float = 1.0,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.margin = margin
        self.lam = lam
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    @property
    def metric_transform(self) -> IML:
        """The metric learner, not fitted."""
        return IML(self.n_neighbors, margin=self.margin, lam=self.lam, pos_label=1)

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(1, margin=2.0, lam=10.0, threshold=0.5)
