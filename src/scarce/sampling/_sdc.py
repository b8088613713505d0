"""SDC: SMOTE with different costs."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from scarce._sklearn import Interval, StrOptions
from scarce._typing import CV, Calibration, FloatArray, IntArray, Label, RandomState, Threshold
from scarce.base import RareEventClassifier
from scarce.sampling._resample import imblearn, resample

__all__ = ["SDC"]

# Without a bound a machine of a linear kernel goes on for ever on columns of very different sizes.
MOST_STEPS = 1_000_000


class SDC(RareEventClassifier):
    """A support vector machine on SMOTE's rows, with a higher cost of errors on positives.

    SMOTE makes the few positives dense enough for the boundary to be well defined, and the costs push it away from
    them: an error on a positive row costs n⁻ / n⁺ times that on a negative one. The score is the distance to the
    boundary as the machine measures it, and its own threshold is 0.

    Parameters
    ----------
    C : float, default=1.0
        The cost of an error on a negative row. The paper leaves it open; powers of 2 from 1/32 to 32 are a usual grid,
        judged by the g-mean.
    kernel : {"linear", "poly", "rbf", "sigmoid"}, default="rbf"
        As in scikit-learn's ``SVC``.
    gamma : {"scale", "auto"} or float, default="scale"
        The kernel's width, as in scikit-learn's ``SVC``.
    growth : float, default=3.0
        The factor by which SMOTE multiplies the positives, but not beyond the number of negatives. 1 makes none.
    n_neighbors : int, default=5
        Among how many neighbours of its class SMOTE goes; fewer where the class has fewer.
    ratio : {"after", "before"}, default="after"
        Whether the counts in n⁻ / n⁺ are those after SMOTE or before. The paper leaves it open; with those before, the
        imbalance is made up for twice.
    random_state : int, RandomState or None, default=None
        For SMOTE.
    threshold : "default", str, Objective or float, default="default"
        "default" is 0; see :class:`~scarce.base.RareEventClassifier`.
    cv : int, splitter of scikit-learn or iterable of splits, default=5
        The folds that give the honest scores on which an objective chooses the threshold, with SMOTE inside each; fewer
        than the number if a class has fewer rows.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one.

    Attributes
    ----------
    estimator_ : SVC
        The machine.

    See Also
    --------
    ResampledClassifier : Any classifier on resampled rows, with corrected probabilities.

    Notes
    -----
    Built after the description in Kriminger et al. (IJCNN, 2012) and the abstract. Open there, decided here: how many
    rows are added, and that the ratio of costs is that of the classes after they are added.

    Honest scores come from cross-fitting: to leave out one row at a time would take a machine for
    each. `sample_weight` multiplies the cost of a row; a synthetic row's weight lies between those of the two rows that
    it lies between.

    References
    ----------
    R. Akbani, S. Kwek, N. Japkowicz, "Applying Support Vector Machines to Imbalanced Datasets", ECML 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.sampling import SDC
    >>> X, y = make_classification(400, weights=[0.9], random_state=0)
    >>> SDC(random_state=0).fit(X, y).threshold_
    0.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid"})],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "growth": [Interval(Real, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "ratio": [StrOptions({"after", "before"})],
        "random_state": ["random_state"],
        "cv": ["cv_object"],
    }

    _largest_value = 1e150  # its machine takes squares

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        growth: float = 3.0,
        n_neighbors: int = 5,
        ratio: str = "after",
        random_state: RandomState = None,
        threshold: Threshold = "default",
        cv: CV = 5,
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.growth = growth
        self.n_neighbors = n_neighbors
        self.ratio = ratio
        self.random_state = random_state
        self.threshold = threshold
        self.cv = cv
        self.calibration = calibration
        self.pos_label = pos_label

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        negatives, positives = np.bincount(y, minlength=2)
        wanted = max(positives, min(negatives, round(self.growth * positives)))
        smote = imblearn().over_sampling.SMOTE(sampling_strategy={1: int(wanted)}, k_neighbors=self.n_neighbors)
        rows = resample(X, y, smote, sample_weight=sample_weight, random_state=self.random_state)
        counted = np.bincount(rows.y if self.ratio == "after" else y)
        machine = SVC(
            C=self.C,
            kernel=self.kernel,
            gamma=self.gamma,
            class_weight={0: 1.0, 1: counted[0] / counted[1]},
            max_iter=max(MOST_STEPS, 100 * len(rows.X)),
        )
        self.estimator_ = machine.fit(rows.X, rows.y, sample_weight=rows.sample_weight)

    def _score(self, X: NDArray) -> FloatArray:
        return np.asarray(self.estimator_.decision_function(X), dtype=np.float64)

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        return 0.0

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls(random_state=0)
        yield cls(4.0, kernel="linear", growth=1.0, ratio="before", random_state=0)
