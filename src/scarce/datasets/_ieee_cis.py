"""The card payments of the IEEE-CIS fraud detection competition."""

from __future__ import annotations

from scarce.tables.layouts import Parquet

from ._records import Record, Source

__all__ = ["IEEE_CIS"]

# The columns of numbers that both the competition's table and the public extract of it have.
_COUNTS = tuple(f"C{number}" for number in range(1, 15))
_RANGES = (
    *((13, 19), (27, 28), (32, 32), (95, 102), (116, 120), (126, 127), (145, 145), (153, 154), (157, 158)),
    *((166, 166), (235, 235), (279, 280), (284, 287), (290, 295), (297, 313), (316, 339)),
)
FEATURES = (
    *("TransactionAmt", "card1", "card2", "card3", "card5", "addr1", "addr2"),
    *_COUNTS,
    *(f"V{number}" for first, last in _RANGES for number in range(first, last + 1)),
)

IEEE_CIS = Record(
    "ieee-cis",
    590_540,
    len(FEATURES),
    20_663,
    (
        Source(
            kind="file",
            members=("train_transaction.csv",),
            positive=("1",),
            layout=Parquet(label="isFraud", features=FEATURES, extras={"times": "TransactionDT"}),
        ),
    ),
    "The card payments of the IEEE-CIS fraud detection competition in the order of time, frauds against the rest; of "
    "its columns of numbers those that the public extract has as well, without the time; missing values stay NaN",
    extras={"amount": "TransactionAmt"},
    made="take the file train_transaction.csv of the competition, or the extract data/interim/train.csv within the "
    "source archive of the package fraud-detection-model 2.0.0, which has the columns that are read",
)
