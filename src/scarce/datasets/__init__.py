"""Real data sets by name, and simulated payments."""

from ._handbook import handbook_split
from ._keel import load_keel_folds
from ._load import DatasetInfo, fetch, info, list_datasets, load
from ._sources import DatasetUnavailable
from ._transactions import make_transactions

__all__ = [
    "DatasetInfo",
    "DatasetUnavailable",
    "fetch",
    "handbook_split",
    "info",
    "list_datasets",
    "load",
    "load_keel_folds",
    "make_transactions",
]
