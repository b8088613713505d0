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
    """Outputs of the papers' own programs, where they are to be had."""
    folder = ROOT.parent / "shared" / "golden"
    if not folder.is_dir():
        pytest.skip("the reference outputs of the papers' programs are not on this machine")
    return folder


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    """Payments that no test may change."""
    return make_table()
