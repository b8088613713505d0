"""The training and test rows of simulated sets, since the recordings behind the papers' tables are not public."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray, Keywords
from scarce.datasets import OIL_STATES, make_oil_rows, make_transactions

__all__ = ["draw_flow", "draw_payments"]


# That of the thesis's data.
FRAUD_RATE = 0.0033


def draw_flow(
    seed: int, *, train: tuple[int, ...] = (1500, 50, 10), test: int = 500
) -> tuple[FloatArray, NDArray[Any], FloatArray, NDArray[Any]]:
    """Draw training and test rows of three states of a simulated oil well.

    The shapes and the numbers of rows are those of Kriminger, Príncipe and Lakshminarayan (2012), whose recording is
    not public.
    """
    rng = np.random.default_rng(seed)
    sizes = dict(zip(OIL_STATES, train, strict=True)), dict.fromkeys(OIL_STATES, test)
    return *make_oil_rows(sizes[0], rng), *make_oil_rows(sizes[1], rng)


def draw_payments(
    seed: int,
    *,
    gains: Keywords | None = None,
    judged: Keywords | None = None,
    rows: int = 60_000,
    first_seed: int = 0,
    fraud_rate: float = FRAUD_RATE,
    **_: Any,
) -> tuple[Any, ...]:
    """Draw simulated payments of ten months: six to train on, four to test on, as in Metzler's thesis, chapter 6.

    Of the six, the last two are for validation.

    `judged` are the gains that decisions earn, where they differ from those that models learn and decide with. With a
    `first_seed` the payments are others than without.
    """
    import pandas as pd

    from scarce.profit import Gains

    frame = make_transactions(rows, fraud_rate=fraud_rate, seed=first_seed + seed).frame
    target = frame.pop("fraud").to_numpy(np.int64)
    first = (frame["date"].dt.month <= 6).to_numpy()
    numbers = frame.select_dtypes("number")
    categories = frame.select_dtypes(["object", "str", "category"])
    few = [name for name in categories if categories[name].nunique() <= 30]
    X = pd.concat([numbers, pd.get_dummies(categories[few])], axis=1).to_numpy(np.float64)
    parts = X[first], target[first], X[~first], target[~first]
    if gains is None:
        return parts
    assumed, earned = Gains(**gains)(frame), Gains(**(judged or gains))(frame)
    held_out = (frame["date"].dt.month > 4).to_numpy()[first]
    return *parts, assumed[first], assumed[~first], earned[~first], "", None, None, 0, held_out
