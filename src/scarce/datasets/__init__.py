"""Real data sets by name, and simulated ones."""

from ._companies import make_companies
from ._handbook import handbook_split
from ._keel import load_keel_folds
from ._load import DatasetInfo, fetch, info, list_datasets, load
from ._oil_flow import OIL_STATES, make_oil_rows, simulate_oil_flow
from ._sources import DatasetUnavailable
from ._transactions import make_transactions

__all__ = [
    "OIL_STATES",
    "DatasetInfo",
    "DatasetUnavailable",
    "fetch",
    "handbook_split",
    "info",
    "list_datasets",
    "load",
    "load_keel_folds",
    "make_companies",
    "make_oil_rows",
    "make_transactions",
    "simulate_oil_flow",
]
