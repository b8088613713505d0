"""CCNND: a row belongs to the class whose rows are as near to each other as it is to them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted

from scarce._sklearn import Interval, check_sample_weight
from scarce._typing import BoolArray, Calibration, FloatArray, IntArray, Label, MatrixLike, Rows, Threshold
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation, distance_effects
from scarce.neighbors._search import ClassFit, RowsByClass, merge_by_class
from scarce.neighbors._stream_probabilities import StreamProbabilities

__all__ = ["CCNND"]


class CCNND(StreamProbabilities):
    """CCNND: nearest-neighbour distances, compared with those that are usual within each class.

    For a row and each class take the distances to its k nearest rows of the class. The fit of the row is the share
    of the class's own rows whose k nearest of the class are all farther off, and the class of the largest share
    wins. A class of few, scattered rows is thus not at a disadvantage, and since classes are looked at one by one,
    rows and classes can be added and removed at any time.

    Parameters
    ----------
    n_neighbors : int, default=1
        How many distances are compared, k. The paper advises 1 to 3.
    max_per_class : int, default=None
        The maximum number of rows kept per class, the latest ones. A class that has no more than that loses none,
        however many rows of other classes arrive. None keeps all.
    n_jobs : int, default=None
        Threads for scoring, and for the first rows of a class.
    threshold : "default", str, Objective or float, default="default"
        "default" is the rule above, 0 or a number next to it.
    calibration : {"auto", "honest"} or None, default="auto"
        The way to probabilities; see :class:`~scarce.base.RareEventClassifier`.
    pos_label : label, default=None
        The class to find; None is the rarer one of those stored. In a stream that may change, so name it. A class that
        is alone is the negative one unless it is named here.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of which there are rows, sorted.
    class_count_ : ndarray of shape (n_classes,)
        How many rows of each there are.
    rows_ : ndarray of shape (n_rows,)
        The numbers of the rows that are stored. Rows are numbered from 0 in the order of arrival, for good.
    threshold_ : float
        A row is called positive if its score is greater; None unless there are two classes.

    See Also
    --------
    ClassConfidenceKNN : Votes by densities within the classes.
    GammaKNN : A vote in which positive rows seem closer.

    Notes
    -----
    The score is the difference of the shares of the positive and the negative class. The default threshold is 0.

    These are our choices where the paper leaves one. A row that is equally far counts half. Of classes with equal
    shares the one to which the row is nearer wins, relative to the mean distance within the class, then the larger one.
    In the score this relative distance is so small a part that it only orders rows of equal difference. A class of
    fewer than k + 1 rows is compared in fewer distances. One of a single row, for which there are none, in its distance
    to the nearest row of another class. The text of the paper once has "less" for distances that are greater in its
    formula; the formula is right. The shares are not probabilities and do not add up to 1.

    Distances are Euclidean, so features should be scaled. `sample_weight` is how much a row counts in the choice of
    the threshold, not how many copies of it exist.

    After any calls of `partial_fit` and `forget` the model is the same, to the last bit, as one fitted at once on the
    rows that are left. A threshold that an objective chooses is chosen anew when it is first used after a change,
    which takes a leave-one-out pass over all rows; give a number where predictions and changes alternate. So are the
    probabilities, at the first call of `predict_proba`; ``calibration=None`` saves that pass.

    References
    ----------
    E. Kriminger, J. C. Príncipe, C. Lakshminarayan, "Nearest Neighbor Distributions for Imbalanced Classification",
    IJCNN 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.neighbors import CCNND
    >>> flow = np.array([[0.0], [0.1], [0.2], [0.3], [2.0], [3.0]])
    >>> state = np.array(["normal", "normal", "normal", "normal", "slug", "slug"])
    >>> model = CCNND().fit(flow, state)
    >>> model.predict([[0.25], [1.2]])
    array(['normal', 'slug'], dtype='<U6')
    >>> model.partial_fit([[9.0], [9.5]], ["churn", "churn"]).predict([[8.8]])
    array(['churn'], dtype='<U6')
    >>> model.forget(label="slug").classes_
    array(['churn', 'normal'], dtype='<U6')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "max_per_class": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }
    _multi_class = True

    def __init__(
        self,
        n_neighbors: int = 1,
        *,
        max_per_class: int | None = None,
        n_jobs: int | None = None,
        threshold: Threshold = "default",
        calibration: Calibration = "auto",
        pos_label: Label = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_per_class = max_per_class
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.calibration = calibration
        self.pos_label = pos_label

    # Rows come and go --------------------------------------------------------------------------------------

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows. New classes may appear at any time.

        As long as there is one class, every row is predicted to be of it. The score is then that of two classes, with a
        share of 0 and the usual distance for the class that is not there; see `pos_label` for which of them that is.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like, optional
            The labels that are allowed in `y`. They need not be known beforehand.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts in the choice of the threshold.

        Returns
        -------
        self
        """
        self._validate_params()
        first = not hasattr(self, "_stored")
        X = self._check_X(X, reset=first)
        labels = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_consistent_length(X, labels)
        check_classification_targets(labels)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if classes is not None and not np.isin(labels, classes).all():
            raise ValueError(f"y has labels that are not in classes={np.asarray(classes).tolist()}.")
        if first:
            self._begin(labels[:0])
        self._check_stream()
        before = self.classes_
        self.classes_ = self._with_new(labels)
        new = ~np.isin(self.classes_, before)
        for code in np.flatnonzero(new).tolist():
            self._stored.new_class(code)
        self._add(X, np.searchsorted(self.classes_, labels), weight)
        self._warn_of_small(new & (self.class_count_ == 1), stacklevel=3)
        return self._settle()

    def forget(self, rows: ArrayLike | None = None, *, label: Label = None) -> Self:
        """Remove rows, or a class.

        Parameters
        ----------
        rows : int or array-like of int, optional
            The numbers of the rows in the order of arrival, from 0; see `rows_`.
        label : label, optional
            The class of which to remove all rows.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._check_stream()
        if (rows is None) == (label is None):
            raise ValueError("Give either the rows to forget or the label of a class.")
        if label is not None:
            found = np.flatnonzero(self.classes_ == label)
            if not len(found):
                raise ValueError(f"There are no rows of class {label!r} to forget; there are {self.classes_.tolist()}.")
            numbers = self._stored.classes[found[0]].number.copy()
        else:
            numbers = np.unique(np.asarray(rows))
            unknown = numbers[~np.isin(numbers, self._stored.number)].tolist()
            if unknown:
                raise ValueError(f"Rows {unknown[:5]} cannot be forgotten: they are not, or no longer, stored.")
        before = self.class_count_
        self._stored.remove(numbers)
        self._count(self.class_count_ - before)
        return self._settle()

    @property
    def class_count_(self) -> IntArray:
        """The number of rows of each class."""
        return self._stored.sizes

    @property
    def rows_(self) -> IntArray:
        """The numbers of the rows that are stored, ascending."""
        return np.sort(self._stored.number)

    def _fit(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> None:
        self._begin(self.classes_)
        self._add(X, self._sides[y] if len(self.classes_) == 2 else y, sample_weight)
        self._warn_of_small(self.class_count_ <= self.n_neighbors, stacklevel=4)

    def _begin(self, classes: NDArray) -> None:
        self.classes_ = classes
        self._stored = RowsByClass(self.n_features_in_, self.n_neighbors, len(classes))
        self._arrived = 0
        self._came = {}
        self._threshold_needs_more = False

    def _add(self, X: NDArray, code: IntArray, weight: FloatArray | None) -> None:
        number = self._arrived + np.arange(len(X))
        weight = np.ones(len(X)) if weight is None else weight
        self._stored.add(X, code, number, weight, self.max_per_class, self.n_jobs)
        self._arrived += len(X)
        self._count(np.bincount(code, minlength=len(self.classes_)))

    def _settle(self) -> Self:
        """Update the classes and the positive label, and mark the threshold as due."""
        self.classes_ = self.classes_[self.class_count_ > 0]
        self._stored.drop_empty()
        self._came = {label: self._came[label] for label in self.classes_.tolist()}
        two = len(self.classes_) == 2
        self.pos_label_ = self.classes_[self._positive_code(self.class_count_)] if two else None
        self._threshold_is_due = self._curves_are_due = True
        return self

    def _with_new(self, labels: NDArray) -> NDArray:
        """Return the classes with those of new rows, if the parameters allow as many."""
        before = self.classes_
        if len(before):
            unique_labels(before, labels)  # refuses a mixture of words and numbers
        together = np.union1d(before, labels)
        try:
            self.classes_ = together
            if len(together) > 2:
                self._check_multi_class(labels)
            elif len(together) == 2:
                self._positive_code(np.zeros(2, dtype=np.intp))
        finally:
            self.classes_ = before
        return together

    def _check_stream(self) -> None:
        if self.n_neighbors != self._stored.k:
            raise ValueError(
                f"n_neighbors was {self._stored.k} when the first rows came and is {self.n_neighbors} now. Set it "
                "back, or call fit."
            )
        if self._threshold_needs_more:
            raise ValueError(
                "The threshold was chosen with gains or periods, which are not kept. Call fit with all rows, or give "
                "a threshold that needs neither."
            )

    def _warn_of_small(self, which: BoolArray, stacklevel: int) -> None:
        for label, n in zip(self.classes_[which], self.class_count_[which], strict=True):
            instead = f"{n - 1} are compared" if n > 1 else "the distance to the nearest row of another class is taken"
            instead = instead if len(self.classes_) > 1 or n > 1 else "there is no distance to compare"
            warnings.warn(
                f"With n_neighbors={self.n_neighbors} a class needs {self.n_neighbors + 1} rows, and class {label} has "
                f"{n}: {instead}.",
                stacklevel=stacklevel,
            )

    # The threshold -----------------------------------------------------------------------------------------

    @property
    def threshold_(self) -> Any:
        """The threshold on the score; None unless there are two classes."""
        if self._threshold_is_due:
            if len(self.classes_) == 2:
                code, weight = self._stored.in_order()
                # Without X: the leave-one-out scores of the stored rows are known.
                self.threshold_ = super()._choose_threshold(None, self._sides[code], weight, None, None)
            else:
                self.threshold_ = None
        return self._threshold

    @threshold_.setter
    def threshold_(self, value: Any) -> None:
        self._threshold = value
        self._threshold_is_due = False

    def _choose_threshold(
        self,
        X: Rows,
        y: IntArray,
        weight: FloatArray | None,
        gains: ArrayLike | None,
        period: ArrayLike | None,
    ) -> Any:
        self._threshold_needs_more = gains is not None or period is not None
        kept = self.rows_
        if len(kept) < len(y):  # the others are out of the window
            X, y = X[kept], y[kept]
            weight, gains, period = (
                None if given is None else np.asarray(given)[kept] for given in (weight, gains, period)
            )
        return super()._choose_threshold(X, y, weight, gains, period)

    def _default_threshold(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> float:
        negative, positive = self.class_count_[self._sides]
        # Where shares and relative distances are equal the larger class wins. No other score is that close to 0.
        return -1e-15 / float(negative * positive) if positive > negative else 0.0

    # The score ---------------------------------------------------------------------------------------------

    @property
    def _sides(self) -> IntArray:
        """The codes of the negative and the positive class."""
        positive = int(self.pos_label_ == self.classes_[1])
        return np.array([1 - positive, positive])

    def _score(self, X: NDArray) -> FloatArray:
        if not len(self.classes_):
            raise ValueError(f"{type(self).__name__} has no rows left. Call partial_fit with some before it predicts.")
        return self._combine(self._stored.compare(X, self.n_jobs))

    def _honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        kept, honest = self.rows_, self._cheap_honest_scores(X, y, sample_weight)
        if len(kept) == len(y):
            return honest
        scores = self._score(X)  # the model has not seen those out of the window
        scores[kept] = honest
        return scores

    def _cheap_honest_scores(self, X: NDArray, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        return self._combine(self._stored.leave_one_out(self.n_jobs))

    def _combine(self, found: ClassFit) -> FloatArray:
        counts, ratio = found.counts, found.ratio
        sizes = np.maximum(found.sizes, 1)
        if len(self.classes_) == 1:
            sign = 1 if self.pos_label is not None and self.pos_label == self.classes_[0] else -1
            # As below, with no share and the usual distance for the other class.
            return sign * ((counts + (1 - ratio) / (1 + ratio) / 4) / (2 * sizes))[:, 0]
        if len(self.classes_) > 2:
            # The place in the order of the tie-breaks comes after the share, and the relative distance after both.
            order = np.lexsort((np.broadcast_to(-sizes, ratio.shape), ratio), axis=1)
            place = np.argsort(order, axis=1)
            finer = 1 - (place + ratio / (1 + ratio)) / len(self.classes_)
            return counts / (2 * sizes) + finer / (4 * float(sizes.max()) ** 2)
        negative, positive = self._sides
        n_negative, n_positive = sizes[..., negative], sizes[..., positive]
        # Whole numbers up to the one division, so that no rounding is left for the relative distance to decide.
        difference = counts[:, positive] * n_negative - counts[:, negative] * n_positive
        far, near = ratio[:, negative], ratio[:, positive]
        finer = np.divide(far - near, far + near, out=np.zeros(len(ratio)), where=far + near > 0)
        return (difference + finer / 4) / (2 * n_negative * n_positive)

    def _positive_share(self, score: FloatArray) -> FloatArray:
        # (1 + p⁺ - p⁻) / 2 at the default threshold; around another, each side is stretched from 1/2 to its end.
        threshold = self.threshold_
        if not -1 < threshold < 1:
            return super()._positive_share(score)
        beyond = score - threshold
        return np.clip(0.5 + 0.5 * beyond / np.where(beyond > 0, 1 - threshold, 1 + threshold), 0, 1)

    def _explain(self, X: NDArray, code: IntArray | None, **known: Any) -> Explanation:
        X = X.astype(np.float64)
        alone = len(self.classes_) == 1
        own = code if code is not None else np.full(len(X), 0 if alone else self._sides[1])
        found, parts, shares = [], [], []
        for rows, spread in ((rows, self._stored.spread(c)) for c, rows in enumerate(self._stored.classes)):
            distance, place = rows.kneighbors(X, len(spread.vectors))
            found.append((distance.T, rows.number[place.T]))
            parts.append((X - rows.rows(place[0])) ** 2)
            shares.append(spread.beside(distance)[0] / (2 * rows.n))
        at, of_class, share = np.arange(len(X)), np.stack(parts, axis=1), np.column_stack(shares)
        near = merge_by_class(found, list(range(len(found))), sum(number.shape[1] for _, number in found))
        neighbours = (X, near.number, self.classes_[near.code], near.distance)
        if alone:
            return Explanation.from_neighbours(*neighbours, **known)
        # The other class that the row fits best; of equals the nearest.
        others = np.lexsort((of_class.sum(axis=2), -share), axis=1)
        other = np.where(others[:, 0] == own, others[:, 1], others[:, 0])
        known["rule"] = [
            f"{share[i, a]:.1%} of the rows of class {self.classes_[a]} have their nearest farther off, "
            f"{share[i, b]:.1%} of those of class {self.classes_[b]}"
            for i, (a, b) in enumerate(zip(own, other, strict=True))
        ]
        effects = distance_effects(of_class[at, own], of_class[at, other])
        return Explanation.from_neighbours(*neighbours, effects=effects, **known)

    def _keep_usual(self, X: Rows) -> None:
        """Keep nothing: rows come and go, and one that is forgotten must not be found in a file."""

    @classmethod
    def _examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(2, n_jobs=2)
        yield cls(3, max_per_class=1000)
