"""Payments in time order, checked round by round as a review desk checks them, and the frauds that are found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from scarce._typing import BoolArray, FloatArray, IntArray, Record
from scarce.datasets import load, make_transactions

__all__ = ["DAY", "Desk", "Office", "Payments", "Replayed", "State", "block_means", "measure", "payments_of", "replay"]

DAY = 86_400.0
HOUR = 3_600.0
RESAMPLES = 1_000
# Days of a block: what happens within a week hangs together.
BLOCK = 7
FEWEST_BLOCKS = 4


class Payments(NamedTuple):
    """Payments in order of time.

    `time` is in seconds from the first midnight; `entities` holds a number for each entity column, the customer first;
    `categories` are the places of the features that hold codes.
    """

    time: FloatArray
    X: FloatArray
    y: IntArray
    amount: FloatArray
    entities: IntArray
    names: tuple[str, ...]
    categories: tuple[int, ...] = ()


@dataclass(frozen=True)
class Office:
    """The office: when it works, how much, and when it learns what it did not check."""

    first: int = 21  # the desk opens on this day
    tune: int = 42  # from here on choices may be made,
    judge: int = 63  # and from here on they are judged
    last: int = 112
    rounds: tuple[int, ...] = tuple(range(9, 19))
    checks: int = 10
    open_hours: float = 24.0
    delay: int = 7
    recent_days: float = 14.0
    blocked_days: float = 14.0


class Desk(Protocol):
    """A way to order open payments."""

    def begin(self, payments: Payments, office: Office, seed: int) -> None:
        """Start before the first day."""

    def begin_day(self, day: int, state: State) -> None:
        """Learn at midnight."""

    def scores(self, rows: IntArray, now: float) -> FloatArray:
        """Return the scores of open payments; the highest are checked."""

    def decide(self, rows: IntArray, now: float) -> None:
        """Take the verdicts about checked payments."""

    def learned(self) -> dict[str, str]:
        """Return what was estimated on the way, as text."""


@dataclass
class State:
    """The state of the payments so far."""

    checked: BoolArray
    blocked: BoolArray
    until: FloatArray = field(repr=False)  # of each customer: refused before this moment


class Replayed(NamedTuple):
    """Figures of each day: frauds found, their amounts, those at entities without a confirmed case, and all frauds.

    `apart` has a column for each entity column.
    """

    found: FloatArray
    money: FloatArray
    apart: FloatArray
    frauds: FloatArray


def replay(
    payments: Payments, desk: Desk, office: Office, *, block: bool = False, seed: int = 0, until: int | None = None
) -> Replayed:
    """Run the desk over the days, and count what its checks find.

    Each day has rounds. In each round the open payments, those of the last hours that nobody checked, are ordered, the
    first are checked, and their outcomes are known at once. Payments of a blocked customer are refused, which begins
    with the confirmation; payments made before stay open.
    """
    n = len(payments.time)
    state = State(np.zeros(n, bool), np.zeros(n, bool), np.full(int(payments.entities[:, 0].max()) + 1, -np.inf))
    last_confirmed = [np.full(int(codes.max()) + 1, -np.inf) for codes in payments.entities.T]
    desk.begin(payments, office, seed)
    last = office.last if until is None else until
    days = np.zeros((last, 2))
    apart = np.zeros((last, len(last_confirmed)))
    arrived = int(np.searchsorted(payments.time, office.first * DAY))
    for day in range(office.first, last):
        desk.begin_day(day, state)
        for hour in office.rounds:
            now = day * DAY + hour * HOUR
            new = np.arange(arrived, np.searchsorted(payments.time, now, side="right"))
            arrived += len(new)
            if block:
                state.blocked[new] = payments.time[new] < state.until[payments.entities[new, 0]]
            start = np.searchsorted(payments.time, now - office.open_hours * HOUR, side="right")
            rows = np.arange(start, arrived)
            rows = rows[~(state.checked[rows] | state.blocked[rows])]
            # Of equal scores the earlier payment comes first.
            chosen = rows[np.argsort(-desk.scores(rows, now), kind="stable")[: office.checks]]
            state.checked[chosen] = True
            positive = chosen[payments.y[chosen] == 1]
            days[day] += len(positive), payments.amount[positive].sum()
            for c, seen in enumerate(last_confirmed):
                own = payments.entities[positive, c]
                apart[day, c] += (now - seen[own] >= office.recent_days * DAY).sum()
                seen[own] = now
            state.until[payments.entities[positive, 0]] = now + office.blocked_days * DAY
            desk.decide(chosen, now)
    day_of = (payments.time // DAY).astype(int)
    frauds = np.bincount(day_of, payments.y, minlength=last)[:last].astype(np.float64)
    return Replayed(days[:, 0], days[:, 1], apart, frauds)


def measure(desk: Desk, set_: Record, seed: int) -> tuple[dict[str, float], dict[str, list[float]], dict[str, str]]:
    """Return the figures of the judged days, the resamples of their means, and what the desk learned by the end.

    A `set_` names the payments, and may say that confirmed customers are blocked and which days there are.
    """
    options = {key: value for key, value in set_.items() if key in ("rows", "months")}
    payments = payments_of(set_["name"], seed, **options)
    office = Office(**{key: set_[key] for key in ("first", "judge", "last", "checks") if key in set_})
    found = replay(payments, desk, office, block=set_.get("block", False), seed=seed)
    judged = slice(office.judge, office.last)
    figures = {
        "found": found.found[judged].mean(),
        "money": found.money[judged].mean(),
        "at new customers": found.apart[judged, 0].mean(),
        "at new places": found.apart[judged, 1].mean(),
        "frauds": found.frauds[judged].mean(),
    }
    daily = {"found": found.found[judged], "money": found.money[judged]}
    drawn = {name: block_means(values).round(5).tolist() for name, values in daily.items()}
    resamples = {name: means for name, means in drawn.items() if means}
    return {name: float(value) for name, value in figures.items()}, resamples, desk.learned()


def block_means(values: FloatArray, n_resamples: int = RESAMPLES) -> FloatArray:
    """Return means of days, drawn in blocks of a week; none if there are too few weeks.

    The draws are the same for every desk, so that differences are paired.
    """
    n = len(values)
    if n < FEWEST_BLOCKS * BLOCK:
        return np.empty(0)
    blocks = -(-n // BLOCK)
    begin = np.random.default_rng(0).integers(n, size=(n_resamples, blocks))
    # Days go round, so that each is drawn equally often.
    place = (begin[:, :, None] + np.arange(BLOCK)) % n
    return values[place.reshape(n_resamples, -1)[:, :n]].mean(axis=1)


@lru_cache(maxsize=1)
def payments_of(name: str, seed: int = 0, rows: int = 1_000_000, months: int = 4) -> Payments:
    """Return payments by name: the Handbook's, or simulated ones."""
    return _handbook() if name == "handbook-payments" else _simulated(seed, rows, months)


def _handbook() -> Payments:
    bunch = load("handbook-payments")
    frame = bunch.frame
    times = bunch.times.astype("datetime64[s]")
    seconds = (times - times[0].astype("datetime64[D]")).astype(np.float64)
    order = np.argsort(seconds, kind="stable")
    entities = np.column_stack(
        [np.unique(frame[name].to_numpy(), return_inverse=True)[1] for name in ("CUSTOMER_ID", "TERMINAL_ID")]
    )
    amount = frame["TX_AMOUNT"].to_numpy(np.float64)
    X = np.asarray(bunch.data, np.float64)
    y = np.asarray(bunch.target)[order]
    return Payments(seconds[order], X[order], y, amount[order], entities[order], ("customer", "terminal"))


def _simulated(seed: int, rows: int, months: int) -> Payments:
    frame = make_transactions(rows, months=months, seed=seed).frame
    times = frame["date"].to_numpy("datetime64[s]")
    seconds = (times - times[0].astype("datetime64[D]")).astype(np.float64)
    entities = np.column_stack(
        [np.unique(frame[name].astype(str), return_inverse=True)[1] for name in ("customer_id", "shop")]
    )
    features = frame.drop(columns=["date", "customer_id", "fraud"])
    categories = tuple(i for i, name in enumerate(features) if features[name].dtype == "category")
    columns = [features[name].cat.codes if features[name].dtype == "category" else features[name] for name in features]
    X = np.column_stack([np.asarray(column, np.float64) for column in columns])
    amount = frame["amount"].to_numpy(np.float64)
    return Payments(seconds, X, frame["fraud"].to_numpy(), amount, entities, ("customer", "shop"), categories)
