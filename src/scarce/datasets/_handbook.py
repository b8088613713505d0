"""The simulated card payments of the Fraud Detection Handbook, and its way to split them."""

from __future__ import annotations

from datetime import date
from typing import TypeAlias

import narwhals as nw
import numpy as np

from scarce._moments import Duration, length_of, moments_of
from scarce._typing import Frame, IntArray
from scarce.model_selection import DelayedTimeSplit
from scarce.tables.layouts import Parquet

from ._records import Record, Source

__all__ = ["HANDBOOK", "handbook_split"]

TIME, CUSTOMER, FRAUD = "TX_DATETIME", "CUSTOMER_ID", "TX_FRAUD"
_WINDOWS = ("1DAY", "7DAY", "30DAY")
FEATURES = (
    *("TX_AMOUNT", "TX_DURING_WEEKEND", "TX_DURING_NIGHT"),
    *(f"CUSTOMER_ID_{kind}_{window}_WINDOW" for window in _WINDOWS for kind in ("NB_TX", "AVG_AMOUNT")),
    *(f"TERMINAL_ID_{kind}_{window}_WINDOW" for window in _WINDOWS for kind in ("NB_TX", "RISK")),
)
_DAY = 86_400 * 10**9

HANDBOOK = Record(
    "handbook-payments",
    1_102_483,
    len(FEATURES),
    8_867,
    (
        Source(
            kind="file",
            members=("handbook_payments.parquet",),
            positive=("1",),
            layout=Parquet(label=FRAUD, features=FEATURES, extras={"times": TIME, "groups": CUSTOMER}),
        ),
    ),
    "The simulated card payments of the Fraud Detection Handbook with its 15 features, frauds against the rest; the "
    "counts of the catalogue are those of 2018-04-01 to 2018-07-24",
    extras={"amount": "TX_AMOUNT"},
    made="take the daily pickles that the authors of the Fraud Detection Handbook publish as the GitHub repository "
    "Fraud-Detection-Handbook/simulated-data-transformed, make one file of them with "
    'pandas.concat([pandas.read_pickle(file) for file in sorted(glob.glob("data/*.pkl"))], '
    'ignore_index=True).to_parquet("handbook_payments.parquet")',
    any_rows=True,
)


# A date, or its text.
Day: TypeAlias = str | date


def handbook_split(
    frame: Frame, start: Day, *, train: Duration = "7d", delay: Duration = "7d", test: Duration = "7d"
) -> tuple[IntArray, IntArray]:
    """Split card payments by the protocol of the Fraud Detection Handbook.

    From the day `start` on, the payments of 7 days are for training, those of the next 7 are left out because it is
    not known yet which of them are frauds, and those of the 7 days after are for testing. A payment is left out of the
    test if by its day a fraud of the same customer is known: one from `start` on and at least `delay` before.

    Parameters
    ----------
    frame : data frame of pandas, polars or pyarrow
        The payments, in any order, with the columns ``TX_DATETIME``, ``CUSTOMER_ID`` and ``TX_FRAUD``, such as
        ``load("handbook-payments").frame``.
    start : date or str
        The first day of training, such as "2018-05-01".
    train, delay, test : duration, default="7d"
        The lengths of the three parts, in whole days.

    Returns
    -------
    train, test : ndarray of int
        The numbers of the rows, ascending.

    See Also
    --------
    scarce.model_selection.DelayedTimeSplit : The same for any table, several splits, and `cross_validate`.
    scarce.metrics.group_precision_at_k : The Handbook's card precision, to judge by.

    References
    ----------
    Y.-A. Le Borgne, W. Siblini, B. Lebichot and G. Bontempi, "Reproducible Machine Learning for Credit Card Fraud
    Detection - Practical Handbook", Université Libre de Bruxelles, 2022, chapter 5.

    Examples
    --------
    >>> import pandas as pd
    >>> from scarce.datasets import handbook_split
    >>> payments = pd.DataFrame(
    ...     {
    ...         "TX_DATETIME": pd.date_range("2018-04-01 12:00", periods=5),
    ...         "CUSTOMER_ID": [1, 2, 3, 1, 2],
    ...         "TX_FRAUD": [1, 0, 0, 1, 0],
    ...     }
    ... )
    >>> train, test = handbook_split(payments, "2018-04-01", train="2d", delay="1d", test="2d")
    >>> train.tolist(), test.tolist()
    ([0, 1], [4])
    """
    table = nw.from_native(frame, eager_only=True)
    missing = [column for column in (TIME, CUSTOMER, FRAUD) if column not in table.columns]
    if missing:
        raise ValueError(f"frame needs the column(s) {', '.join(missing)}, named as the Handbook names them.")
    parts = []
    for name, duration in (("train", train), ("delay", delay), ("test", test)):
        days, rest = divmod(length_of(name, duration, dated=True), _DAY)
        if rest:
            raise ValueError(f'{name} must be whole days, such as "7d", since the Handbook splits by day.')
        parts.append(int(days))
    first = _day_number(start)
    end = first + sum(parts)
    moment, dated = moments_of(table[TIME].to_native())
    if not dated:
        raise ValueError(f"{TIME} must hold dates; convert it with pandas.to_datetime.")
    day = moment // _DAY
    if not len(day) or first < day.min() or day.max() < end - 1:
        reach = f"from {_date(day.min())} to {_date(day.max())}" if len(day) else "on no day"
        raise ValueError(
            f"This split needs payments from {_date(first)} to {_date(end - 1)}, and the frame has them {reach}. "
            "Choose another start, or shorter parts."
        )
    rows = np.flatnonzero((first <= day) & (day < end))
    customer = np.unique(table[CUSTOMER].to_numpy()[rows], return_inverse=True)[1]
    fraud = table[FRAUD].to_numpy()[rows] == 1
    # The splitter ends with the last row: a row of nobody on the first and on the last day holds the parts in place.
    splitter = DelayedTimeSplit(1, train=parts[0], delay=parts[1], test=parts[2], known_positive_groups="drop")
    [found] = splitter.split(
        np.empty(len(rows) + 2),
        np.append(fraud, [False, False]),
        np.append(customer, [-1, -1]),
        np.append(day[rows], [first, end - 1]),
    )
    train_rows, test_rows = (rows[part[part < len(rows)]] for part in found)
    if not (len(train_rows) and len(test_rows)):
        empty = "test" if len(train_rows) else "training"
        raise ValueError(f"The split from {_date(first)} has no {empty} rows. Choose another start, or longer parts.")
    return train_rows, test_rows


def _day_number(start: Day) -> int:
    """Return the number of a day since 1970."""
    try:
        day = np.datetime64(start, "D")
    except (TypeError, ValueError) as error:
        raise ValueError(f'start must be a date such as "2018-05-01"; got {start!r}.') from error
    if np.isnat(day):
        raise ValueError(f'start must be a date such as "2018-05-01"; got {start!r}.')
    return int(day.astype(np.int64))


def _date(day: int) -> str:
    return str(np.datetime64(int(day), "D"))
