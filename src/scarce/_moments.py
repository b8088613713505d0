"""Moments and lengths of time: dates with durations such as "7d", or numbers with numbers."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

__all__ = ["Duration", "length_of", "moments_of"]

# A number of the unit of the times, or a length of time such as "7d".
Duration: TypeAlias = float | str | timedelta | np.timedelta64

_UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "min": 60, "s": 1}
_LONGEST = 2**63 - 1  # nanoseconds
_DURATION = re.compile(r"\s*(\d+)\s*(w|d|h|min|s)\s*")


def moments_of(times: ArrayLike) -> tuple[NDArray[Any], bool]:
    """Return times as nanoseconds since 1970 or as float64, and whether they are dates."""
    series = nw.from_native(times, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
            series = series.dt.replace_time_zone(None)  # a day is a day of that place
        times = series.to_numpy()
    values = column_or_1d(times)
    if values.dtype.kind in "iuf" or values.dtype.kind == "b":
        moment = values.astype(np.float64)
        if not np.isfinite(moment).all():
            raise ValueError("times must be finite: leave rows without a time out, or give them one.")
        return moment, False
    try:
        dates = values.astype("datetime64[ns]")
    except (TypeError, ValueError) as error:
        raise ValueError(f"times must be dates or numbers; the first is {values[0]!r}.") from error
    if np.isnat(dates).any():
        raise ValueError("times must not be missing: leave rows without a time out, or give them one.")
    if (dates.astype("datetime64[s]") != values.astype("datetime64[s]")).any():  # NumPy begins anew, silently
        raise ValueError("times must lie between 1678 and 2261: correct them, or leave these rows out.")
    return dates.astype(np.int64), True


def length_of(name: str, duration: Duration, *, dated: bool) -> int | float:
    """Return a duration in nanoseconds, or in the unit of numbers."""
    length: int | float
    if isinstance(duration, int | float | np.integer | np.floating):
        if dated and duration != 0:
            raise ValueError(f'times are dates, so write {name} as "{duration}d" or as a timedelta; got {duration!r}.')
        length = 0 if dated else float(duration)
    elif not dated:
        raise ValueError(f"times are numbers, so {name} must be a number in their unit; got {duration!r}.")
    elif isinstance(duration, str):
        match = _DURATION.fullmatch(duration)
        if match is None:
            raise ValueError(f'{name} must be a length of time such as "7d", "12h", "30min" or "2w"; got {duration!r}.')
        length = int(match[1]) * _UNITS[match[2]] * 10**9
        if length > _LONGEST:
            raise ValueError(f"{name} must be shorter than 292 years; got {duration!r}.")
    else:
        length = int(np.array(duration, dtype="timedelta64[ns]").astype(np.int64))
    if not (np.isfinite(length) and (length > 0 or (name == "delay" and length == 0))):
        raise ValueError(f"{name} must be {'0 or more' if name == 'delay' else 'longer than 0'}; got {duration!r}.")
    return length
