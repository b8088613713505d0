"""One audit that many tests read."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from scarce.audit import Audit, audit, candidates, compare, save


def hurry(patch: pytest.MonkeyPatch) -> None:
    """Make the audit fast, with few trees and few resamples; nothing that is tested depends on how many."""
    patch.setattr(candidates, "TREES", 40)
    patch.setattr(compare, "RESAMPLES", 40)


@pytest.fixture(scope="package", autouse=True)
def _hurry() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        hurry(patch)
        yield


@pytest.fixture(scope="package")
def result(table: pd.DataFrame) -> Audit:
    return audit(table, "fraud", budget=50, amount="amount")


@pytest.fixture(scope="package")
def folder(result: Audit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result, saved."""
    place = tmp_path_factory.mktemp("saved") / "audit"
    save(result, place)
    return place
