"""Splits of rows into training and test rows, by time with delayed outcomes."""

from scarce.model_selection._delayed import DelayedTimeSplit

__all__ = ["DelayedTimeSplit"]
