"""Pictures without a screen."""

from contextlib import contextmanager

import matplotlib
import pytest

from scarce.base import RareEventClassifier

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture
def never_fits(monkeypatch):
    """A context in which no estimator of the library may be fitted, not even a copy."""

    def refuse(*_, **__):
        raise AssertionError("A display has fitted an estimator.")

    @contextmanager
    def forbidden():
        with monkeypatch.context() as patch:
            for name in ("fit", "_start", "honest_scores", "_cross_fitted"):
                patch.setattr(RareEventClassifier, name, refuse)
            yield

    return forbidden
