"""A simulator of an oil well's flow, in three states, two of them rare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray

__all__ = ["OIL_STATES", "make_oil_rows", "simulate_oil_flow"]

OIL_STATES = ("normal", "slugging", "churn")
# From the shortest to the longest period, in samples, and from the lowest to the highest amplitude.
_OSCILLATIONS = {"slugging": ((35, 55), (5, 14)), "churn": ((14, 16), (1.5, 2.5))}
_LAGS = 4 * np.arange(6)
_WINDOW = 16
# After this number of samples the period and the height change, so that no two oscillations are the same.
_STRETCH = 40


def simulate_oil_flow(state: str, n_samples: int, seed: int | np.random.Generator = 0) -> FloatArray:
    """Simulate the flow of an oil well that stays in one state.

    The shapes are those that Kriminger, Príncipe and Lakshminarayan (2012) describe, whose recording is not public:
    slugging has large triangular oscillations, churn has small ones on top of the normal flow.

    Parameters
    ----------
    state : {"normal", "slugging", "churn"}
        The state.
    n_samples : int
        Number of samples, one for every 30 seconds.
    seed : int or Generator, default=0
        The same seed gives the same flow; a generator goes on from where it is.

    Returns
    -------
    ndarray of shape (n_samples,)
        Deviations from the usual flow.

    Examples
    --------
    >>> from scarce.datasets import simulate_oil_flow
    >>> bool(simulate_oil_flow("slugging", 240).std() > simulate_oil_flow("normal", 240).std())
    True
    """
    if state not in OIL_STATES:
        raise ValueError(f"state must be one of {', '.join(OIL_STATES)}; it is {state!r}.")
    rng = np.random.default_rng(seed)
    flow = np.empty(n_samples)
    flow[0] = 0.0
    for i, push in enumerate(rng.normal(0, 0.5, n_samples - 1), start=1):
        flow[i] = 0.6 * flow[i - 1] + push
    if state == "normal":
        return flow
    stretches = n_samples // _STRETCH + 1
    (shortest, longest), (lowest, highest) = _OSCILLATIONS[state]
    phase = np.cumsum(1 / np.repeat(rng.uniform(shortest, longest, stretches), _STRETCH)[:n_samples])
    height = np.repeat(rng.uniform(lowest, highest, stretches), _STRETCH)[:n_samples]
    wave = 4 * np.abs(phase % 1 - 0.5) - 1 if state == "slugging" else np.sin(2 * np.pi * phase)
    return flow + height * wave


def make_oil_rows(sizes: Mapping[str, int], seed: int | np.random.Generator = 0) -> tuple[FloatArray, NDArray[Any]]:
    """Simulate rows of an oil well in its three states, from moments drawn at random.

    Parameters
    ----------
    sizes : mapping of str to int
        The number of rows of each state.
    seed : int or Generator, default=0
        The same seed gives the same rows; a generator goes on from where it is.

    Returns
    -------
    X : ndarray of shape (n_samples, 7)
        The flow now and at five earlier moments, 4 samples apart, and the power of the last 16 samples.
    y : ndarray of shape (n_samples,)
        The states.

    Examples
    --------
    >>> from scarce.datasets import make_oil_rows
    >>> X, y = make_oil_rows({"normal": 150, "churn": 10})
    >>> X.shape, int((y == "churn").sum())
    ((160, 7), 10)
    """
    rng = np.random.default_rng(seed)
    rows = {state: _embed(simulate_oil_flow(state, 4 * n + 500, rng)) for state, n in sizes.items()}
    X = np.concatenate([rng.permutation(rows[state])[:n] for state, n in sizes.items()])
    return X, np.repeat(list(sizes), list(sizes.values()))


def _embed(flow: FloatArray) -> FloatArray:
    """Return one row for each moment that has enough past: six samples and the power of a window."""
    now = np.arange(max(_LAGS.max(), _WINDOW), len(flow))
    power = np.convolve(flow**2, np.ones(_WINDOW) / _WINDOW, mode="valid")[now - _WINDOW]
    return np.column_stack((flow[now[:, None] - _LAGS], power))
