"""Boosting for average precision and for profit, on LightGBM (``pip install "scarce[boost]"``)."""

from scarce.boosting._ap_boosting import APBoosting
from scarce.boosting._profit_boosting import ProfitBoosting

__all__ = ["APBoosting", "ProfitBoosting"]
