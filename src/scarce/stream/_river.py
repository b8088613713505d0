"""CCNND as a classifier of river."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from river import base
from river.base import BinaryDriftDetector, DriftDetector
from river.base.typing import ClfTarget, FeatureName

from scarce._typing import Cell, FloatArray, Keywords
from scarce.neighbors import CCNND

__all__ = ["RiverClassifier"]


class RiverClassifier(base.Classifier):
    """A CCNND that learns and forgets row by row; :func:`scarce.stream.to_river` makes it.

    Parameters
    ----------
    model : CCNND
        The model to start from. It is copied.
    drift_detector : detector of river.drift, default=None
        Notices that the rows of a class are recognised less often.
    keep : int, default=10
        The number of rows that each class keeps after a drift.

    Attributes
    ----------
    model_ : CCNND
        The model as it is now.
    n_drifts_ : Counter
        How often the rows of each class have shown a drift.
    """

    def __init__(
        self, model: CCNND, drift_detector: DriftDetector | BinaryDriftDetector | None = None, keep: int = 10
    ) -> None:
        if not isinstance(model, CCNND):
            raise TypeError(
                f"to_river takes a CCNND, which can learn and forget rows; got {type(model).__name__}. Put other steps "
                "before it in a pipeline of river."
            )
        if not isinstance(keep, int | np.integer) or keep < 1:
            raise ValueError(f"keep must be a whole number of at least 1; got {keep!r}.")
        self.model = model
        self.drift_detector = drift_detector
        self.keep = keep
        self.model_: CCNND = deepcopy(model)
        self.n_drifts_: Counter[ClfTarget] = Counter()
        self._features: list[FeatureName] | None = None
        self._watched: dict[ClfTarget, _Watched] = {}
        if hasattr(self.model_, "feature_names_in_"):
            self._features = self.model_.feature_names_in_.tolist()
            # Rows are put in order by name here, and reach the model as arrays.
            del self.model_.feature_names_in_

    def learn_one(self, x: dict[FeatureName, Cell], y: ClfTarget) -> None:
        """Learn a row, and forget old ones if it shows a drift.

        Parameters
        ----------
        x : dict
            The features by name.
        y : label
            The class.
        """
        if self._features is None:
            self._check_number(x)
            self._features = list(x)
        row = self._row(x)
        changed = self.drift_detector is not None and self._has_changed(row, y)
        with warnings.catch_warnings():
            if y not in self._classes:
                # Rows come one by one, so every class begins with a single one, of which CCNND warns.
                warnings.simplefilter("ignore", UserWarning)
            self.model_.partial_fit(row, np.array([y]))
        if changed:
            self._forget()
            self.n_drifts_[y] += 1

    def predict_one(self, x: dict[FeatureName, Cell], **kwargs: Any) -> ClfTarget | None:
        """Return the class of a row; None while no class is known.

        Parameters
        ----------
        x : dict
            The features by name.
        """
        if len(self._classes) < 2:
            return next(iter(self._classes), None)
        return self._predict(self._row(x))

    def predict_proba_one(self, x: dict[FeatureName, Cell], **kwargs: Any) -> dict[ClfTarget, float]:
        """Return `predict_proba` of the CCNND by class; empty while no class is known.

        Parameters
        ----------
        x : dict
            The features by name.
        """
        if len(self._classes) < 2:
            return dict.fromkeys(self._classes, 1.0)
        return dict(zip(self._classes, self.model_.predict_proba(self._row(x))[0].tolist(), strict=True))

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def _classes(self) -> list[ClfTarget]:
        return self.model_.classes_.tolist() if hasattr(self.model_, "classes_") else []

    def _predict(self, row: FloatArray) -> ClfTarget:
        label: ClfTarget = self.model_.predict(row)[0].item()
        return label

    def _row(self, x: dict[FeatureName, Cell]) -> FloatArray:
        """Return the features of a row in the order of the first one."""
        if self._features is None:
            self._check_number(x)
            names = list(x)
        else:
            names = self._features
        if len(x) != len(names) or not all(name in x for name in names):
            lacks, new = [n for n in names if n not in x], [n for n in x if n not in names]
            words = [
                f"{word} {', '.join(map(str, found))}" for word, found in (("lacks", lacks), ("adds", new)) if found
            ]
            raise ValueError(
                f"A row {' and '.join(words)}, and distances need the features of the first row in every row: fill "
                "what may be missing before, such as with river.preprocessing.StatImputer."
            )
        try:
            return np.array([[float(x[name]) for name in names]])
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Every feature must be a number, and a row is {x!r}: leave other features out with "
                "river.compose.Discard, or code them before."
            ) from error

    def _check_number(self, x: dict[FeatureName, Cell]) -> None:
        """Refuse a row that cannot be one of those that the model was fitted on."""
        fitted = getattr(self.model_, "n_features_in_", len(x))
        if len(x) != fitted:
            raise ValueError(f"The model was fitted on {fitted} features, and a row has {len(x)}; give the same ones.")

    def _has_changed(self, row: FloatArray, y: ClfTarget) -> bool:
        """Show a row to the detector of its class, before it is learned."""
        if len(self._classes) < 2 or y not in self._classes:
            return False
        if y not in self._watched:
            self._watched[y] = _Watched(self.drift_detector, self.keep)
        if not self._watched[y].update(self._predict(row) != y):
            return False
        self._watched.clear()  # the classes begin anew, and so do their detectors
        return True

    def _forget(self) -> None:
        """Keep the latest rows of each class."""
        rows, old = self.model_.rows_, []
        for label in self._classes:
            others = deepcopy(self.model_).forget(label=label).rows_
            old.append(np.setdiff1d(rows, others)[: -self.keep])
        self.model_.forget(np.concatenate(old))

    @classmethod
    def _unit_test_params(cls) -> Iterator[Keywords]:
        from river import drift

        yield {"model": CCNND()}
        yield {"model": CCNND(2, max_per_class=50), "drift_detector": drift.ADWIN(clock=1)}  # type: ignore[no-untyped-call]

    def _unit_test_skips(self) -> set[str]:
        # Distances need every feature, and rows are kept.
        names = ("emerging_features", "disappearing_features", "radically_disappearing_features")
        return {f"check_{name}" for name in (*names, "bounded_memory_growth")}


class _Watched:
    """The mistakes on the rows of one class since the last drift."""

    def __init__(self, detector: Any, latest: int) -> None:
        self.detector = detector.clone()
        self.latest: deque[bool] = deque(maxlen=latest)
        self.earlier = Counter[bool]()

    def update(self, mistaken: bool) -> bool:
        """Take a row, and return whether there is a drift with more mistakes among the latest rows than before.

        Some detectors notice a class that is recognised better than before, too, which is no reason to forget.
        """
        if len(self.latest) == self.latest.maxlen:
            self.earlier[self.latest[0]] += 1
        self.latest.append(mistaken)
        self.detector.update(mistaken)
        n = self.earlier.total()
        return bool(self.detector.drift_detected and n and np.mean(self.latest) > self.earlier[True] / n)
