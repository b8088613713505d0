"""Sets that are drawn, since the recordings behind the papers' tables are not public."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray

__all__ = ["STATES", "draw_flow", "draw_payments", "flow_rows", "simulate_flow"]


# That of the thesis's data.
FRAUD_RATE = 0.0033
STATES = ("normal", "slugging", "churn")
# From the shortest to the longest period, in samples, and from the lowest to the highest amplitude.
_OSCILLATIONS = {"slugging": ((35, 55), (5, 14)), "churn": ((14, 16), (1.5, 2.5))}
_LAGS = 4 * np.arange(6)
_WINDOW = 16
# Every so many samples another period and another height, so that no two oscillations are the same.
_STRETCH = 40


def draw_flow(
    seed: int, *, train: tuple[int, ...] = (1500, 50, 10), test: int = 500
) -> tuple[FloatArray, NDArray[Any], FloatArray, NDArray[Any]]:
    """Draw training and test rows of three states of a simulated oil well.

    The shapes and the numbers of rows are those of Kriminger, Príncipe and Lakshminarayan (2012), whose recording is
    not public.
    """
    rng = np.random.default_rng(seed)
    return *flow_rows(dict(zip(STATES, train, strict=True)), rng), *flow_rows(dict.fromkeys(STATES, test), rng)


def draw_payments(
    seed: int,
    *,
    gains: dict[str, Any] | None = None,
    judged: dict[str, Any] | None = None,
    rows: int = 60_000,
    **_: Any,
) -> tuple[Any, ...]:
    """Draw simulated payments of ten months: six to train on, four to test on, as in Metzler's thesis, chapter 6.

    `judged` are the gains that decisions earn, where they differ from those that models learn and decide with.
    """
    import pandas as pd

    from scarce.datasets import make_transactions
    from scarce.profit import Gains

    frame = make_transactions(rows, fraud_rate=FRAUD_RATE, seed=seed).frame
    target = frame.pop("fraud").to_numpy(np.int64)
    first = (frame["date"].dt.month <= 6).to_numpy()
    numbers = frame.select_dtypes("number")
    words = frame.select_dtypes(["object", "str", "category"])
    few = [name for name in words if words[name].nunique() <= 30]
    X = pd.concat([numbers, pd.get_dummies(words[few])], axis=1).to_numpy(np.float64)
    parts = X[first], target[first], X[~first], target[~first]
    if gains is None:
        return parts
    assumed, earned = Gains(**gains)(frame), Gains(**(judged or gains))(frame)
    return *parts, assumed[first], assumed[~first], earned[~first]


def simulate_flow(state: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Return n samples of a made-up flow, as deviations from its usual level."""
    flow = np.empty(n)
    flow[0] = 0.0
    for i, push in enumerate(rng.normal(0, 0.5, n - 1), start=1):
        flow[i] = 0.6 * flow[i - 1] + push
    if state == "normal":
        return flow
    stretches = n // _STRETCH + 1
    (shortest, longest), (lowest, highest) = _OSCILLATIONS[state]
    phase = np.cumsum(1 / np.repeat(rng.uniform(shortest, longest, stretches), _STRETCH)[:n])
    height = np.repeat(rng.uniform(lowest, highest, stretches), _STRETCH)[:n]
    wave = 4 * np.abs(phase % 1 - 0.5) - 1 if state == "slugging" else np.sin(2 * np.pi * phase)
    return flow + height * wave


def _embed(flow: FloatArray) -> FloatArray:
    """Return one row for each moment that has enough past: six samples and the power of a window."""
    now = np.arange(max(_LAGS.max(), _WINDOW), len(flow))
    power = np.convolve(flow**2, np.ones(_WINDOW) / _WINDOW, mode="valid")[now - _WINDOW]
    return np.column_stack((flow[now[:, None] - _LAGS], power))


def flow_rows(sizes: Mapping[str, int], rng: np.random.Generator) -> tuple[FloatArray, NDArray[Any]]:
    """Return so many rows of each state, from moments drawn at random, and their states.

    A row is the flow now and at five earlier moments, 4 samples apart, with the power of the last 16 samples.
    """
    rows = {state: _embed(simulate_flow(state, 4 * n + 500, rng)) for state, n in sizes.items()}
    X = np.concatenate([rng.permutation(rows[state])[:n] for state, n in sizes.items()])
    return X, np.repeat(list(sizes), list(sizes.values()))
