"""One audit that many tests read."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from scarce.audit import Audit, audit, figures, methods, save


def hurry(patch: pytest.MonkeyPatch) -> None:
    """Make the audit fast, with few trees and few resamples; nothing that is tested depends on how many."""
    patch.setattr(methods, "EXTRA_TREES", 40)
    patch.setattr(methods, "TREES", 40)
    patch.setattr(methods, "OWN_TREES", 20)
    patch.setattr(methods, "CONE_MODELS", 3)
    patch.setattr(figures, "RESAMPLES", 40)


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
