"""The training and test rows of simulated tax declarations, since those of the tax office are not public."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray, Frame
from scarce.datasets import make_companies

__all__ = ["draw_companies"]

_DECLARATIONS = 200_000
_CHECKED = 0.2
_TEST = 0.2
_ASIDE = ("company_id", "period", "sector", "checked", "fraud", "scheme")


def draw_companies(
    seed: int,
    *,
    rows: int,
    sector: str | None = None,
    region: str | None = None,
    scheme: int | None = None,
    **_: Any,
) -> tuple[FloatArray, NDArray[np.int64], FloatArray, NDArray[np.int64]]:
    """Draw checked declarations, a fifth of the companies to test on; no company is on both sides.

    Parameters
    ----------
    seed : int
        Another one draws other companies.
    rows : int
        The maximum number of declarations, the first ones of the table.
    sector, region : str or None
        Those of one trade or of one region alone.
    scheme : int or None
        The kind of fraud that is positive, of all declarations that were checked; None is any.
    """
    import pandas as pd

    frame = _checked(seed)
    for name, value in (("sector", sector), ("region", region)):
        frame = frame if value is None else frame[frame[name] == value]
    frame = frame.iloc[:rows]
    y = (frame["fraud"] == 1 if scheme is None else frame["scheme"] == scheme).to_numpy(np.int64)
    companies, company = np.unique(frame["company_id"].to_numpy().astype(str), return_inverse=True)
    test = (np.random.default_rng(seed).permutation(len(companies)) < round(_TEST * len(companies)))[company]
    features = frame.drop(columns=[*_ASIDE, *(["region"] if region else [])])
    X = pd.get_dummies(features).to_numpy(np.float64)
    return X[~test], y[~test], X[test], y[test]


@lru_cache(maxsize=1)
def _checked(seed: int) -> Frame:
    drawn = make_companies(_DECLARATIONS, check_rate=_CHECKED, seed=seed)
    return drawn.frame.assign(scheme=drawn.scheme)[drawn.frame["checked"] == 1]
