"""Honest scores: those of training rows by models that did not see them, in folds by class, group or time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from numbers import Integral, Real
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, train_test_split
from sklearn.utils import check_consistent_length, column_or_1d

from scarce._messages import fewest_of_a_class
from scarce._method import Method
from scarce._sklearn import safe_indexing
from scarce._typing import CV, FloatArray, Fold, Folds, IntArray, Keywords, Labels, RandomState, Rows
from scarce.objectives import Objective

__all__ = ["HonestScores", "fewest_groups", "takes_times"]


class Metadata(NamedTuple):
    """The columns that come with the training rows, and the splits that the user wants."""

    period: Labels | None = None
    groups: Labels | None = None
    gains: FloatArray | None = None
    cv: Folds | None = None

    def of(self, rows: IntArray) -> Metadata:
        """Return the metadata of some rows, without the splits, which are of all rows."""
        return Metadata(*(None if column is None else column[rows] for column in self[:3]))


class HonestScores(Method):
    """The part of the template that scores training rows honestly, and chooses thresholds on these scores."""

    _cv_parameter: ClassVar[str] = "cv"
    # Kept on the instance for as long as it learns.
    _metadata: Metadata = Metadata()
    _kept_honest_scores: FloatArray | None = None
    _kept_class_scores: FloatArray | None = None
    # Where a method has scores of the kind while it learns; what is in a column is the method's own affair.
    _out_of_fold: FloatArray | None = None

    @property
    def _leaves_one_out(self) -> bool:
        """True if the method has `_leave_one_out`, at least with its parameters."""
        return False

    def _leave_one_out(self, X: Rows, y: IntArray, rows: IntArray) -> FloatArray:
        """Score these of the training rows, each among all others, without a fit for each. Called after `_fit`."""
        raise NotImplementedError

    def _honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        """Score the training rows by models that did not see them, in the method's own way. Called after `_fit`."""
        if self._leaves_one_out:
            return self._leave_one_out(X, y, np.arange(len(y)))
        return self._cross_fitted(X, y, sample_weight)

    def _cheap_honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray | None:
        """Return honest scores that cost no further fit, such as out-of-bag ones, or None; NaN for a row without."""
        return None

    # True if `_class_score` separates the classes better than `_score`.
    _has_class_score: ClassVar[bool] = False

    def _class_score(self, X: Rows) -> FloatArray:
        """Score rows for probabilities alone."""
        raise NotImplementedError

    def _compute_honest_scores(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        """Return honest scores: the method's own, or cross-fitted ones where groups or splits are given."""
        compute = self._cross_fitted if self._splits_are_given else self._honest_scores
        scores = compute(X, y, sample_weight)
        if "_metadata" in vars(self):  # while it learns, they may be needed twice
            self._kept_honest_scores = scores
        return scores

    def _best_threshold(
        self,
        objective: Objective,
        X: Rows,
        y: IntArray,
        sample_weight: FloatArray | None,
        *,
        gains: ArrayLike | None = None,
        period: ArrayLike | None = None,
    ) -> float:
        """Return the threshold that is best for an objective on the honest scores of the training rows."""
        honest = self._compute_honest_scores(X, y, sample_weight)
        groups = self._metadata.groups if getattr(objective, "distinct", False) else None
        columns: Keywords = {"sample_weight": sample_weight, "gains": gains, "period": period, "groups": groups}
        tested = np.isfinite(honest)
        if not tested.all():
            rows = np.flatnonzero(tested)
            honest, y = honest[rows], y[rows]
            columns = {name: _of_rows(column, rows) for name, column in columns.items()}
        return objective.best_threshold(honest, y, **columns).threshold

    def _cross_fitted(self, X: Rows, y: IntArray, sample_weight: FloatArray | None) -> FloatArray:
        """Score rows by models fitted on other folds: the mean over its tests, NaN for a row that is never tested."""
        n_classes = int(y.max()) + 1
        total = np.zeros(len(y) if n_classes == 2 else (len(y), n_classes))
        of_class = np.zeros(len(y))
        tests = np.zeros(len(y) if n_classes == 2 else (len(y), 1))
        for train, test in self._splits(y):
            model = self._copy_for(train)
            weight = None if sample_weight is None else sample_weight[train]
            model._fit(safe_indexing(X, train), y[train], weight)
            total[test] += model._score(safe_indexing(X, test))
            if self._has_class_score:
                of_class[test] += model._class_score(safe_indexing(X, test))
            tests[test] += 1
        if self._has_class_score and "_metadata" in vars(self):
            self._kept_class_scores = np.divide(of_class, tests, out=np.full(len(y), np.nan), where=tests > 0)
        return np.divide(total, tests, out=np.full(total.shape, np.nan), where=tests > 0)

    def _splits(self, y: IntArray) -> list[Fold]:
        """Return the training and the test rows of each fold, rows of one group on the same side."""
        return self._check_splits(self._split(y, self._given_cv), y)

    def _splits_to_learn(self, y: IntArray) -> list[Fold]:
        """Return the folds for what a method chooses while it learns: as above, by the estimator's own splitter."""
        return self._check_splits(self._split(y, self._own_cv), y)

    def _split(self, y: IntArray, cv: Folds | None) -> list[Fold]:
        groups = self._metadata.groups
        if cv is None:
            fewest = fewest_of_a_class(
                y,
                f"Choosing a threshold or a calibration for {self!r}",
                "the threshold as a number and calibration=None",
            )
            cv = self._folds(fewest) if groups is None else self._group_folds(y, groups)
        if hasattr(cv, "split"):
            times = {"times": self._metadata.period} if takes_times(cv) else {}
            cv = cv.split(np.empty((len(y), 1)), y, groups, **times)
        return [(np.asarray(train), np.asarray(test)) for train, test in cv]

    def _check_splits(self, splits: list[Fold], y: IntArray) -> list[Fold]:
        if any(len(np.unique(y[train])) < len(np.unique(y)) for train, _ in splits):
            raise ValueError(
                f"The training rows of a fold lack a class, so that {type(self).__name__} cannot be fitted. Use "
                "fewer folds or longer training parts."
            )
        return splits

    def _folds(self, fewest: int) -> StratifiedKFold:
        return StratifiedKFold(min(self._n_folds, fewest), shuffle=True, random_state=0)

    def _group_folds(self, y: IntArray, groups: Labels) -> StratifiedGroupKFold:
        fewest = fewest_groups(y, groups)
        if fewest < 2:
            raise ValueError(
                "Honest scores by groups need rows of each class in at least two groups. Leave groups out, or give the "
                "threshold as a number."
            )
        return StratifiedGroupKFold(min(self._n_folds, fewest), shuffle=True, random_state=0)

    def _set_aside(self, y: IntArray, n_aside: int, random_state: RandomState, use: str, way_out: str) -> Fold:
        """Return the rows to learn from, and about `n_aside` others to judge by; both have rows of each class.

        Rows of one group are on the same side.
        """
        fewest_of_a_class(y, use, way_out)
        n_aside = min(max(2, n_aside), len(y) - 2)
        groups = self._metadata.groups
        if groups is None:
            train, aside = train_test_split(np.arange(len(y)), test_size=n_aside, stratify=y, random_state=random_state)
            return train, aside
        n_folds = min(round(len(y) / n_aside), fewest_groups(y, groups))
        folds = StratifiedGroupKFold(max(2, n_folds), shuffle=True, random_state=random_state)
        for train, aside in folds.split(y, y, groups):
            if len(np.unique(y[train])) == len(np.unique(y[aside])) == len(np.unique(y)):
                return train, aside
        raise ValueError(
            f"{use} needs rows of each class in at least two groups, of which one is set aside. Leave groups out, or "
            f"{way_out}."
        )

    @property
    def _n_folds(self) -> int:
        cv = getattr(self, self._cv_parameter, None)
        return int(cv) if isinstance(cv, Integral) else 5

    @property
    def _own_cv(self) -> Folds | None:
        """The splitter or the splits that the estimator was made with, or None; a number of folds is none."""
        cv = getattr(self, self._cv_parameter, None)
        return None if isinstance(cv, Real | str) else cv

    @property
    def _given_cv(self) -> Folds | None:
        """The splitter or the splits that the user gave to `honest_scores`, or those of the estimator."""
        return self._own_cv if self._metadata.cv is None else self._metadata.cv

    @property
    def _splits_are_given(self) -> bool:
        return self._metadata.groups is not None or self._given_cv is not None

    def _copy_for(self, rows: IntArray) -> Self:
        """Return an unfitted copy, to be fitted on these of the rows; it knows features and classes already."""
        copy: Self = clone(self)
        for name in ("n_features_in_", "feature_names_in_", "classes_", "pos_label_"):
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        if self._own_cv is not None:
            # Splits are of all rows. For what it chooses among some of them, a copy has folds of its own.
            setattr(copy, self._cv_parameter, signature(type(self)).parameters[self._cv_parameter].default)
        copy._metadata = self._metadata.of(rows)
        return copy

    @contextmanager
    def _keeping(
        self,
        y: IntArray,
        period: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        gains: FloatArray | None = None,
        cv: CV = None,
    ) -> Iterator[None]:
        """Keep what comes with the training rows for as long as they are learned from."""
        period, groups = (None if column is None else column_or_1d(column) for column in (period, groups))
        check_consistent_length(y, period, groups)
        if groups is not None:
            groups = np.unique(groups, return_inverse=True)[1]  # names may be long texts
        if isinstance(cv, int | np.integer):
            kind = StratifiedKFold if groups is None else StratifiedGroupKFold
            self._metadata = Metadata(period, groups, gains, kind(int(cv), shuffle=True, random_state=0))
        else:
            self._metadata = Metadata(period, groups, gains, cv)
        try:
            yield
        finally:
            # As large as the training rows, and of no use afterwards.
            del self._metadata
            for name in ("_kept_honest_scores", "_kept_class_scores", "_out_of_fold"):
                self.__dict__.pop(name, None)


def fewest_groups(y: IntArray, groups: Labels) -> int:
    """Return the number of groups with rows of a class, of the class that has fewest."""
    return min(len(np.unique(groups[y == code])) for code in np.unique(y))


def takes_times(cv: CV) -> bool:
    """Return whether a splitter splits by times, as :class:`~scarce.model_selection.DelayedTimeSplit` does."""
    split = getattr(cv, "split", None)
    return split is not None and "times" in signature(split).parameters


def _of_rows(column: ArrayLike | None, rows: IntArray) -> ArrayLike | None:
    # Four gains for all rows are of no row in particular.
    return column if column is None or np.shape(column) == (4,) else safe_indexing(column, rows)
