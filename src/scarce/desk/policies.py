"""Ways to order the open payments of a desk, which the study ``desk/memory`` compares."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from scarce._extras import require
from scarce._typing import BoolArray, FloatArray, IntArray
from scarce.neighbors import CCNND
from scarce.study.replay import DAY, Office, Payments, State

from .links import PENALTY, LinkCounts, LinkWeights, fit_weights
from .memory import START

__all__ = ["ReplayedDesk"]

# Look-alikes and weights concern the payments that could be checked: as many as this a day have the highest scores.
CANDIDATES = 1_000
# Rows of known outcome older than this are not trained on.
HISTORY = 28
# Training rows that are not frauds, drawn where there are more.
NEGATIVES = 50_000


class ReplayedDesk(BaseEstimator):
    """A desk with LightGBM behind it.

    Parameters
    ----------
    nightly : bool, default=False
        Train every night instead of once a week.
    links : {"none", "live", "overnight", "fixed", "features"}, default="none"
        Whether links add to the log-odds with every verdict, with the verdicts up to last midnight only, or with
        weights that are never estimated; or are features of the model.
    look_alikes : bool, default=False
        Whether nearness to confirmed and cleared cases, by CCNND, adds to the log-odds.
    """

    def __init__(
        self,
        *,
        nightly: bool = False,
        links: Literal["none", "live", "overnight", "fixed", "features"] = "none",
        look_alikes: bool = False,
        start: LinkWeights = START,
        penalty: float = PENALTY,
        signed: bool = True,
    ) -> None:
        self.nightly = nightly
        self.links = links
        self.look_alikes = look_alikes
        self.start = start
        self.penalty = penalty
        self.signed = signed

    def begin(self, payments: Payments, office: Office, seed: int) -> None:
        """Start before the first day."""
        self.payments, self.office, self.seed = payments, office, seed
        self.draw = np.random.default_rng(seed)
        n, k = payments.entities.shape
        self.counts = LinkCounts(14 * DAY)
        self.of_entity = [np.zeros((int(codes.max()) + 1, 2), np.int32) for codes in payments.entities.T]
        self.log_odds = np.full(n, np.nan)
        # As they were when the payment was scored first.
        self.logged = np.zeros((n, k, 2), np.int32)
        self.logged_log_odds = np.full(n, np.nan)
        self.logged_likeness = np.full(n, np.nan)
        self.weights, self.likeness_weight = [self.start] * k, 0.0
        self.kinds: CCNND | None = None
        self.stored: list[tuple[float, int]] = []
        self.waiting: list[tuple[IntArray, float]] = []

    # Learning ----------------------------------------------------------------------------------------------

    def begin_day(self, day: int, state: State) -> None:
        """Learn at midnight."""
        self._age(day * DAY)
        for rows, now in self.waiting:
            self._count(rows, now)
        self.waiting = []
        weekly = (day - self.office.first) % 7 == 0
        if weekly or self.nightly:
            known = self._known(day, state.checked, state.blocked)
            self._train(known)
            days = 7 if not self.nightly else 1
            first, end = np.searchsorted(self.payments.time, [(day - 1) * DAY, (day + days) * DAY])
            self.log_odds[first:end] = self._predict(np.arange(first, end), None)
            if weekly:
                self._weigh(known)

    def _known(self, day: int, checked: BoolArray, blocked: BoolArray) -> IntArray:
        time, delay = self.payments.time, self.office.delay
        first, old, now = np.searchsorted(time, [(day - delay - HISTORY) * DAY, (day - delay) * DAY, day * DAY])
        rows = np.arange(first, now)
        known = (rows < old) | checked[rows]
        return rows[known & ~blocked[rows]]

    def _train(self, known: IntArray) -> None:
        lightgbm = require("lightgbm", "The replay")
        negative = self.payments.y[known] == 0
        share = min(1.0, NEGATIVES / max(1, int(negative.sum())))
        known = known[~negative | (self.draw.random(len(known)) < share)]
        self.shift = float(np.log(share))
        X = self._features(known, self.logged[known])
        params = {
            "objective": "binary", "num_leaves": 31, "learning_rate": 0.1, "min_data_in_leaf": 20, "verbose": -1,
            "num_threads": 1, "seed": self.seed, "bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.8,
            "deterministic": True, "force_row_wise": True,
        }  # fmt: skip
        data = lightgbm.Dataset(X, self.payments.y[known], categorical_feature=list(self.payments.categories))
        self.model: Any = lightgbm.train(params, data, 100)

    def _features(self, rows: IntArray, counts: NDArray[Any] | None) -> FloatArray:
        X = self.payments.X[rows]
        if self.links != "features":
            return X
        if counts is None:
            counts = np.zeros((len(rows), *self.logged.shape[1:]), np.int32)
        return np.hstack([X, counts.reshape(len(rows), -1)])

    def _predict(self, rows: IntArray, counts: NDArray[Any] | None) -> FloatArray:
        if not len(rows):
            return np.empty(0)
        return self.model.predict(self._features(rows, counts), raw_score=True, num_threads=1) + self.shift

    def _weigh(self, known: IntArray) -> None:
        """Estimate what links and likeness add, from the payments that could have been checked."""
        if self.links not in ("live", "overnight") and not self.look_alikes:
            return
        rows = known[np.isfinite(self.logged_log_odds[known])]
        if not len(rows):
            return
        day = (self.payments.time[rows] // DAY).astype(int)
        order = np.lexsort((-self.logged_log_odds[rows], day))
        place = np.arange(len(rows)) - np.searchsorted(day[order], day[order])
        rows = rows[order[place < CANDIDATES]]
        linked = self.links in ("live", "overnight")
        counts = self.logged[rows] if linked else self.logged[rows][:, :0]
        likeness = np.nan_to_num(self.logged_likeness[rows])[:, None] if self.look_alikes else None
        weights, others = fit_weights(
            self.logged_log_odds[rows], counts, self.payments.y[rows], [self.start] * counts.shape[1],
            penalty=self.penalty, signed=self.signed, others=likeness,
        )  # fmt: skip
        self.fitted_on = rows
        if linked:
            self.weights = weights
        self.likeness_weight = float(others[0]) if self.look_alikes else 0.0

    # Ordering ----------------------------------------------------------------------------------------------

    def scores(self, rows: IntArray, now: float) -> FloatArray:
        """Return the log-odds of open payments, corrected."""
        self._age(now)
        entities = self.payments.entities[rows]
        counts = np.stack([seen[codes] for seen, codes in zip(self.of_entity, entities.T, strict=True)], axis=1)
        new = np.isnan(self.logged_log_odds[rows])
        own = self.log_odds[rows]
        if self.links == "features":
            linked = counts.any(axis=(1, 2))
            own = own.copy()
            own[linked] = self._predict(rows[linked], counts[linked])
        self.logged[rows[new]], self.logged_log_odds[rows[new]] = counts[new], own[new]
        total = own
        if self.links in ("live", "overnight", "fixed"):
            total = own + sum(w.correction(counts[:, c]) for c, w in enumerate(self.weights))
        if self.look_alikes and self.kinds is not None:
            total = total + self._likeness(rows, own, new)
        return total

    def decide(self, rows: IntArray, now: float) -> None:
        """Take the verdicts about checked payments."""
        if self.links == "overnight":
            self.waiting.append((rows, now))
        elif self.links != "none":
            self._count(rows, now)
        if self.look_alikes:
            self._remember(rows, now)

    def _count(self, rows: IntArray, now: float) -> None:
        for row in rows.tolist():
            entities = list(enumerate(self.payments.entities[row].tolist()))
            self._update(self.counts.decide(row, entities, bool(self.payments.y[row]), now))

    def _age(self, now: float) -> None:
        self._update(self.counts.advance(now))

    def _update(self, touched: Any) -> None:
        for column, code in touched:
            self.of_entity[column][code] = self.counts.of((column, code))

    def learned(self) -> dict[str, str]:
        """Return the weights that were estimated last, as text."""
        found = {}
        if self.links in ("live", "overnight"):
            for name, weight in zip(self.payments.names, self.weights, strict=True):
                confirmed, cleared = ([f"{w:+.2f}" for w in part] for part in (weight.confirmed, weight.cleared))
                found[name] = f"confirmed {' '.join(confirmed)}, cleared {' '.join(cleared)}"
        if self.look_alikes:
            found["likeness"] = f"{self.likeness_weight:+.2f}"
        return found

    # Look-alikes -------------------------------------------------------------------------------------------

    def _remember(self, rows: IntArray, now: float) -> None:
        if self.kinds is None:
            before = self.payments.X[: rows.min()][-100_000:]
            self.mean, self.spread = np.nanmean(before, axis=0), np.nanstd(before, axis=0) + 1e-9
            self.kinds = CCNND(pos_label=1, threshold=0.0, calibration=None)
        with warnings.catch_warnings():
            # The first cases of a class have none to be compared with.
            warnings.filterwarnings("ignore", message="With n_neighbors")
            self.kinds.partial_fit(self._scaled(rows), self.payments.y[rows])
        self.stored += [(now, len(self.stored) + i) for i in range(len(rows))]
        old = [number for at, number in self.stored[self._forgotten() :] if at <= now - 14 * DAY]
        if old:
            self.kinds.forget(old)
            self._first = old[-1] + 1

    def _forgotten(self) -> int:
        return getattr(self, "_first", 0)

    def _scaled(self, rows: IntArray) -> FloatArray:
        return np.nan_to_num((self.payments.X[rows] - self.mean) / self.spread)

    def _likeness(self, rows: IntArray, own: FloatArray, new: BoolArray) -> FloatArray:
        assert self.kinds is not None
        some = np.argsort(-own, kind="stable")[:CANDIDATES]
        likeness = np.zeros(len(rows))
        likeness[some] = self.kinds.score_samples(self._scaled(rows[some]))
        self.logged_likeness[rows[new]] = likeness[new]
        return self.likeness_weight * likeness
