"""cwk-NN: γk-NN with the fixed γ of the class sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from scarce._typing import Calibration, Label, Metric, Threshold
from scarce.neighbors._gamma import GammaKNN

__all__ = ["ClassWeightedKNN"]


class ClassWeightedKNN(GammaKNN):
    """cwk-NN: the k nearest rows vote, with distances that shrink with the size of the class.

    The distance to a row of class c is multiplied by (n_c / n) ** (1 / n_features) before the k nearest are taken.
    That is γk-NN with the fixed γ = (n_positive / n_negative) ** (1 / n_features), and this class is that
    :class:`GammaKNN`, of the same score, attributes and explanations.

    Parameters
    ----------
    n_neighbors, tie, metric, p, algorithm, recall, n_jobs, calibration, pos_label
        As in :class:`GammaKNN`.
    threshold : "default", str, Objective or float, default="default"
        The threshold on the score; "default" is that of the γ above.

    See Also
    --------
    GammaKNN : The same vote with a chosen γ.
    NWKNN : Class sizes in the weights of the votes, not in the distances.

    References
    ----------
    R. Barandela, J. S. Sánchez, V. García, E. Rangel, "Strategies for learning in class imbalance problems",
    Pattern Recognition 36(3), 2003.

    Examples
    --------
    >>> from scarce.neighbors import ClassWeightedKNN
    >>> model = ClassWeightedKNN(1).fit([[0, 0], [3, 0], [4, 0], [5, 0], [6, 0]], [1, 0, 0, 0, 0])
    >>> round(float(model.gamma_), 6)
    0.5
    >>> model.predict([[1.9, 0], [2.1, 0]])  # the distance to the positive row is halved
    array([1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: allowed for name, allowed in GammaKNN._parameter_constraints.items() if not name.startswith("gamma")
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        tie: str = "positive",
        metric: Metric = "minkowski",
        p: float = 2,
        algorithm: str = "auto",
        recall: float = 0.99,
        n_jobs: int | None = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.tie = tie
        self.metric = metric
        self.p = p
        self.algorithm = algorithm
        self.recall = recall
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    @property
    def gamma(self) -> str | None:  # type: ignore[override]  # fixed here, a parameter there
        """The name of the γ, unless `threshold` fixes it."""
        return "class_ratio" if self.threshold == "default" else None

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(4, tie="negative", metric="manhattan")
