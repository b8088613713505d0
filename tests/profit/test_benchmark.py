"""The benchmark of profit judges as it says."""

import numpy as np
import pytest

from benchmarks import profit
from benchmarks.rows import Run
from tests import naive_profit


def test_profit_by_row_and_the_interval_of_a_difference():
    rng = np.random.default_rng(0)
    y, good, bad = rng.integers(0, 2, (3, 4000))
    good = np.where(rng.random(4000) < 0.9, y, good)
    gains = rng.normal([5, -5, 5, -5], 1, (4000, 4))
    assert profit._earned(y, good == 1, gains).sum() == pytest.approx(naive_profit.profit(y, good, gains))
    most = profit._earned(y, y == 1, gains).sum()
    missed = profit._earned(y, good == 1, gains) - profit._earned(y, bad == 1, gains)
    low, high = profit._interval(missed, most)
    assert 0 < low < missed.sum() / most < high
    # As wide as the sum of so many independent rows is uncertain.
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt((missed**2).sum()) / most, rel=0.1)
    assert profit._interval(np.zeros(5), most) == (0.0, 0.0)


def test_the_mean_of_three_tables(monkeypatch):
    rng = np.random.default_rng(0)
    models = ("ProfitBoosting()", "ProfitForest()", "Bayes rule")
    tables = {name: {model: rng.normal(1, 1, 50) / 50 for model in models} for name in "abc"}
    run = Run(quick=True)
    monkeypatch.setattr(profit, "_JUDGED", {"a": tables["a"], "b": tables["b"]})
    assert profit._on_the_mean(run) == []
    monkeypatch.setattr(profit, "_JUDGED", tables)
    ours, _ = profit._on_the_mean(run)
    assert ours.ours == pytest.approx(np.mean([tables[name]["ProfitBoosting()"].sum() for name in "abc"]))
    assert ours.peer == pytest.approx(np.mean([tables[name]["Bayes rule"].sum() for name in "abc"]))
    assert [row[0] for row in run.details[0].rows] == list(models)


def test_the_orderings_cover_the_models_of_the_thesis():
    models = {model for pair in profit.ORDERINGS for model in pair}
    assert len(models) == 8
    assert len(profit.ORDERINGS) == 6
