"""γk-NN whose negative rows stay in shards on the workers of a Dask cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from scarce._errors import EngineError
from scarce._typing import FloatArray, Labels, MatrixLike
from scarce.neighbors import GammaKNN
from scarce.neighbors._base import additive_power, bounded_ratio
from scarce.neighbors._search import ClassIndex, given_gammas
from scarce.objectives import FBeta, get_objective

from . import shards
from .shards import NegativeShard, Orders

__all__ = ["ShardedGammaKNN", "fit_gamma"]

# Negative rows that are scored exactly to guess which scores matter, and how many times as many as seem necessary
# get an exact score, round by round.
_SAMPLE = 1_500
_MARGINS = (1.25, 5.0)


class ShardedGammaKNN:
    """A γk-NN classifier whose negative rows are on the workers of a cluster, for as long as this object is held.

    Attributes
    ----------
    threshold_, gamma_ : float
        Those of :class:`~scarce.neighbors.GammaKNN` fitted on all rows, bit for bit.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The class that high scores stand for.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
    rows_scored : int
        How many negative rows were scored exactly for the threshold; of the others a bound was enough.
    """

    threshold_: float
    rows_scored: int = 0

    def __init__(
        self,
        estimator: GammaKNN,
        names: Sequence[str],
        classes: Labels,
        positive: Any,
        positives: NDArray[Any],
        held: Sequence[Any],
        client: Any,
    ) -> None:
        self.estimator = estimator
        self.classes_, self.pos_label_ = classes, positive
        self.feature_names_in_ = np.asarray(names, dtype=object)
        self.n_features_in_ = len(names)
        self._shards, self._client = list(held), client
        self._orders = Orders(estimator._positive_order, estimator._negative_order)
        self._X = positives
        own = ClassIndex(algorithm=estimator.algorithm, n_jobs=estimator.n_jobs)
        self._positives = own.fit(positives, np.zeros(len(positives), dtype=np.intp))

    @property
    def gamma_(self) -> float:
        """The γ in use."""
        return self.threshold_ / (1 - self.threshold_) if self.threshold_ < 1 else np.inf

    def score_samples(self, X: MatrixLike) -> FloatArray:
        """Return the score of each row, as :class:`~scarce.neighbors.GammaKNN` on all rows would."""
        rows = np.asarray(X, dtype=self._X.dtype)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:
            raise ValueError(f"X has the shape {rows.shape}, and the rows have {self.n_features_in_} features.")
        return bounded_ratio(self._negative(rows), self._positives.kth_distance(rows, 0, self._orders.positive))

    def predict(self, X: MatrixLike) -> Labels:
        """Return the class of each row."""
        other = self.classes_[self.classes_ != self.pos_label_][0]
        return np.where(self.score_samples(X) > self.threshold_, self.pos_label_, other)

    def _negative(self, X: NDArray[Any]) -> FloatArray:
        found = self._client.gather([self._client.submit(NegativeShard.nearest, held, X) for held in self._shards])
        return shards.nth_of_all(found, self._orders.negative)

    def _honest_positives(self) -> FloatArray:
        """Return the leave-one-out scores of the positive rows."""
        own = self._positives.kth_distance(self._X, 0, self._orders.positive, np.arange(len(self._X)))
        return bounded_ratio(self._negative(self._X), own)

    def _scores(self, found: Sequence[Any]) -> list[Any]:
        """Return the exact scores of candidates of each shard, which stay on the workers."""
        submit = self._client.submit
        return [
            submit(
                shards.scores_of,
                own,
                [submit(_nearest, held, own) for place, held in enumerate(self._shards) if place != number],
                self._orders,
            )
            for number, own in enumerate(found)
        ]

    def choose_threshold(self, beta: float, between: tuple[float, float], negatives: int) -> float:
        """Return the threshold of highest F on leave-one-out scores, most of which are only bounded."""
        submit, gather = self._client.submit, self._client.gather
        positive = self._honest_positives()
        limits = np.unique([*positive, *(limit for limit in between[1:] if np.isfinite(limit))])
        step = max(1, negatives // _SAMPLE)
        sampled = [submit(NegativeShard.sample, held, step) for held in self._shards]
        sample = np.concatenate(gather(self._scores(sampled)))
        everything = shards.gaps_of(sample, limits, -np.inf)
        in_all = everything._replace(ties=everything.ties * step, inside=everything.inside * step)
        _, value = shards.best_threshold(positive, limits, in_all, -np.inf, between, beta)
        lows = [shards.next_level(sample, step, len(positive), beta, value, margin) for margin in _MARGINS]
        for low in dict.fromkeys([*lows, -np.inf]):
            scores = self._scores([submit(NegativeShard.candidates, held, low) for held in self._shards])
            parts = gather([submit(shards.gaps_of, score, limits, low) for score in scores])
            gaps = shards.merged(parts)
            self.rows_scored = int(gaps.inside.sum() + gaps.ties.sum())
            threshold, _ = shards.best_threshold(positive, limits, gaps, low, between, beta)
            if threshold is not None:
                return threshold
        raise EngineError("Every row has the same outcome; a threshold needs rows of both.")


def fit_gamma(estimator: GammaKNN, rows: Sequence[Any], names: Sequence[str], client: Any) -> ShardedGammaKNN:
    """Fit γk-NN on the rows of shards, which are futures."""
    beta = _refuse(estimator)
    submit, gather = client.submit, client.gather
    counts: Counter[Any] = Counter()
    for part in gather([submit(_count, part) for part in rows]):
        counts.update(part)
    if len(counts) != 2:
        raise EngineError(f"γk-NN over shards needs two outcomes; the target has {len(counts)}.")
    classes = np.array(sorted(counts))
    own: Any = clone(estimator)
    positive = classes[GammaKNN._positive_code(_with_classes(own, classes), np.array([counts[c] for c in classes]))]
    own._k = min(own.n_neighbors, sum(counts.values()))
    positives = submit(_together, [submit(_of_class, part, positive, True) for part in rows])
    negatives = [submit(_of_class, part, positive, False) for part in rows]
    orders = Orders(own._positive_order, own._negative_order)
    held = [submit(NegativeShard, part, positives, orders, own.algorithm) for part in negatives]
    model = ShardedGammaKNN(own, names, classes, positive, positives.result(), held, client)
    sizes = np.array([sum(counts.values()) - counts[positive], counts[positive]])
    if beta is None:
        model.threshold_ = _fixed(own, classes if classes[1] == positive else classes[::-1], sizes, len(names))
    else:
        between = own._threshold_range if own.threshold == "default" else (-np.inf, np.inf)
        model.threshold_ = model.choose_threshold(beta, between, int(sizes[0]))
    return model


def _with_classes(estimator: Any, classes: Labels) -> Any:
    estimator.classes_ = classes
    return estimator


def _refuse(estimator: GammaKNN) -> float | None:
    """Return the beta of the F-measure that chooses the threshold, None for a fixed one, or refuse what is neither."""
    if estimator.metric_transform is not None or estimator.algorithm == "ivf":
        raise EngineError("γk-NN over shards has no metric_transform and no algorithm='ivf'; leave them out.")
    if additive_power(estimator.metric, estimator.p) != 2:
        raise EngineError("γk-NN over shards is for Euclidean distances; leave metric and p out.")
    if estimator.gamma is not None or isinstance(estimator.threshold, int | float):
        return None
    if isinstance(estimator.threshold, str) and estimator.threshold == "default":
        return 1.0
    objective = get_objective(estimator.threshold)
    if type(objective) is not FBeta:
        raise EngineError("γk-NN over shards takes a number as its threshold, or an F-measure such as 'f1'.")
    return float(objective.beta)


def _fixed(estimator: Any, labels: Labels, sizes: NDArray[Any], n_features: int) -> float:
    if estimator.gamma is None:
        return float(estimator.threshold)
    gammas = given_gammas(estimator.gamma, labels, sizes, n_features)
    return float(estimator._threshold_of(gammas[1] / gammas[0]))


def _count(rows: Any) -> dict[Any, int]:
    return dict(zip(*(part.tolist() for part in np.unique(rows.y, return_counts=True)), strict=True))


def _of_class(rows: Any, positive: Any, wanted: bool) -> NDArray[Any]:
    return np.ascontiguousarray(rows.X[(rows.y == positive) == wanted])


def _together(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts)


def _nearest(held: NegativeShard, candidates: shards.Candidates) -> FloatArray:
    return held.nearest(candidates.X)
