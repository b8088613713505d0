"""Boosting for average precision and for profit, on LightGBM (``pip install "scarce[boost]"``)."""

from scarce.boosting._ap import APBoosting
from scarce.boosting._profit import ProfitBoosting

__all__ = ["APBoosting", "ProfitBoosting"]
