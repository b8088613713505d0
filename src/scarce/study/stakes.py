"""Money lost by deciding on probabilities, counted so that it depends little on a few rows with much at stake."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray
from scarce.profit._gains import gain_of_flagging

__all__ = ["LABELS_OF_STAKES", "lost_with_any_stakes", "lost_with_own_stakes"]

LABELS_OF_STAKES = {
    "lost with own stakes": "money lost for each row, mean of five prices of a false positive",
    "lost with any stakes": "money lost for each row with the stakes of any row",
    "log_loss": "log-loss",
}
_PRICES = (0.25, 0.5, 1.0, 2.0, 4.0)


def lost_with_own_stakes(y: NDArray[np.int64], gains: FloatArray, positive: FloatArray) -> FloatArray:
    """Return what each row loses against a perfect decision, on the mean of five prices of a false positive."""
    tp, fp, tn, fn = gains.T
    lost = np.zeros(len(y))
    for price in _PRICES:
        priced = np.column_stack((tp, tn - price * (tn - fp), tn, fn))
        flagged = gain_of_flagging(priced, positive) > 0
        worth = gain_of_flagging(priced, y)
        # At a high price more is lost; it is to count about as much as the others.
        lost += np.where(flagged == (worth > 0), 0.0, np.abs(worth)) / np.sqrt(price)
    return lost / len(_PRICES)


def lost_with_any_stakes(y: NDArray[np.int64], gains: FloatArray, positive: FloatArray) -> FloatArray:
    """Return what each row is expected to lose against a perfect decision if its stakes were those of any row."""
    tp, fp, tn, fn = gains.T
    up, down = tp - fn, tn - fp
    # The odds above which to call a row positive.
    needed = np.divide(down, up, out=np.full(len(y), np.inf), where=up > 0)
    order = np.argsort(needed, kind="stable")
    called = np.searchsorted(needed[order], positive / np.maximum(1 - positive, 1e-12))  # with the stakes of so many
    missed = np.append(np.cumsum(up[order][::-1])[::-1], 0)[called]
    flagged = np.insert(np.cumsum(down[order]), 0, 0)[called]
    return np.where(y == 1, missed, flagged) / len(y)
