"""Settings and fixtures of all tests."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import settings

from .payments import make_table

# The same examples on every run: a red test must be red for the next person too.
settings.register_profile("scarce", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("scarce")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def golden() -> Path:
    """Outputs of the papers' own programs on fixed data; its README says how they were made."""
    return ROOT / "tests" / "golden"


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    """Payments that no test may change."""
    return make_table()
