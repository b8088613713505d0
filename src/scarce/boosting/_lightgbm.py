"""Classifiers whose score is a sum of trees that LightGBM has grown."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from scarce._extras import require
from scarce._sklearn import Interval
from scarce._typing import Booster, FloatArray, IntArray, Keywords, MatrixLike, RandomState, Rows
from scarce.base import RareEventClassifier
from scarce.explanation import Explanation

__all__ = ["BoostedClassifier", "import_lightgbm"]

Derivatives = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def import_lightgbm() -> Any:
    """Return the module; the error names the command that installs it."""
    return require("lightgbm", "Boosting")


class BoostedClassifier(RareEventClassifier):
    """The common part of the boosting methods: growing, scoring, explaining, storing."""

    n_estimators: int
    learning_rate: float
    num_leaves: int
    max_depth: int
    min_child_samples: int
    reg_lambda: float
    colsample_bytree: float
    max_bin: int
    random_state: RandomState
    n_jobs: int | None
    model_: str
    start_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RareEventClassifier._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "num_leaves": [Interval(Integral, 2, None, closed="left")],
        "max_depth": [Interval(Integral, -1, None, closed="left")],
        "min_child_samples": [Interval(Integral, 1, None, closed="left")],
        "reg_lambda": [Interval(Real, 0, None, closed="left")],
        "colsample_bytree": [Interval(Real, 0, 1, closed="right")],
        "max_bin": [Interval(Integral, 2, 65_535, closed="both")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def _check_X(self, X: MatrixLike, *, reset: bool) -> Rows:
        return validate_data(
            self, X, dtype=[np.float64, np.float32], order="C", ensure_all_finite="allow-nan", reset=reset
        )

    def _grow(
        self,
        X: Rows,
        derivatives: Derivatives,
        *,
        start: float = 0.0,
        n_estimators: int | None = None,
        stop: Callable[[Booster], bool] | None = None,
    ) -> Booster:
        """Return the trees that descend from a constant score; `derivatives` maps scores to gradient and Hessian.

        None if no feature can be split.
        """
        lightgbm = import_lightgbm()
        parameters = {
            "objective": "custom",
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "max_depth": self.max_depth,
            "min_child_samples": self.min_child_samples,
            "min_sum_hessian_in_leaf": 1e-3,
            "reg_lambda": self.reg_lambda,
            "colsample_bytree": self.colsample_bytree,
            "seed": check_random_state(self.random_state).randint(2**31 - 1),
            "num_threads": effective_n_jobs(self.n_jobs),
            # Together they make the trees independent of the number of threads.
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        binning = {
            "max_bin": self.max_bin,
            # It would leave out features that no split of 20 rows can use, whatever `min_child_samples` is.
            "feature_pre_filter": False,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(X, label=np.zeros(len(X)), init_score=np.full(len(X), start), params=binning)
        data.construct()
        if not any(data.feature_num_bin(feature) > 1 for feature in range(X.shape[1])):
            return None  # constant columns, which LightGBM refuses
        booster = lightgbm.Booster(parameters, data)
        for grown in range(n_estimators or self.n_estimators):
            if booster.update(fobj=lambda score, _: derivatives(score)):
                if grown == 0:
                    return None  # too few rows for a single split
                break
            if stop is not None and stop(booster):
                break
        return booster

    def _keep(self, booster: Booster, start: float) -> None:
        # Text, since it is the same on every machine and holds no code that a loader would have to trust.
        self.model_ = "" if booster is None else booster.model_to_string()
        self.start_ = float(start)
        self.__dict__.pop("_booster", None)
        self.booster_  # noqa: B018 - read back now, so that no prediction changes the fitted model

    @property
    def booster_(self) -> Booster:
        """The trees, as a LightGBM booster; None if no feature could be split."""
        check_is_fitted(self, "model_")
        if not self.model_:
            return None
        if "_booster" not in self.__dict__:
            self._booster = import_lightgbm().Booster(model_str=self.model_)
        return self._booster

    def __getstate__(self) -> Keywords:
        state: Keywords = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_booster"}

    def _score(self, X: NDArray[Any]) -> FloatArray:
        return self.start_ + self._sum_of_trees(X)

    def _sum_of_trees(self, X: NDArray[Any], n_trees: int | None = None) -> FloatArray:
        """Return what the trees add to the score, or the first `n_trees` of them."""
        booster = self.booster_
        if booster is None or n_trees == 0:  # LightGBM takes 0 for all
            return np.zeros(len(X))
        threads = effective_n_jobs(self.n_jobs)
        added: FloatArray = booster.predict(X, raw_score=True, num_iteration=n_trees, num_threads=threads)
        return added

    def _explain(self, X: Rows, code: IntArray | None, **known: Any) -> Explanation:
        booster, parts = self.booster_, np.zeros((len(X), X.shape[1] + 1))
        if booster is not None:
            # The Shapley values of the trees, and in the last column their mean score.
            parts = booster.predict(X, pred_contrib=True, num_threads=effective_n_jobs(self.n_jobs))
        return Explanation.from_effects(X, parts[:, :-1], self.start_ + parts[:, -1], **known)

    @property
    def _needs_background(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
