"""The benchmark of profit judges as it says."""

import joblib
import numpy as np
import pytest

from benchmarks import profit_development, profit_money
from benchmarks.profit_models import Problem, earned
from benchmarks.rows import Run
from tests import naive_profit

OURS = ("ProfitBoosting()", "ProfitForest()", "Bayes rule")


def decisions(n=4000):
    rng = np.random.default_rng(0)
    y, guess = rng.integers(0, 2, (2, n))
    gains = rng.normal([5, -5, 5, -5], 1, (n, 4))
    return y, np.where(rng.random(n) < 0.9, y, guess), guess, gains


def test_profit_by_row_and_the_interval_of_a_difference():
    y, good, bad, gains = decisions()
    assert earned(y, good == 1, gains).sum() == pytest.approx(naive_profit.profit(y, good, gains))
    more = earned(y, good == 1, gains) - earned(y, bad == 1, gains)
    draws = profit_money._resampled(more)
    low, high = np.quantile(draws, [0.025, 0.975])
    assert 0 < low < more.sum() < high
    # As wide as the sum of so many independent rows is uncertain.
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt((more**2).sum()), rel=0.1)
    assert not profit_money._resampled(np.zeros(5)).any()
    # Two sums are drawn with the same rows.
    once, twice = profit_money._resampled(more, 2 * more)
    np.testing.assert_allclose(twice, 2 * once)


def test_rows_judged_twice_count_once_and_rows_never_judged_not_at_all(monkeypatch):
    y, good, bad, gains = decisions(400)
    judged = np.arange(100, 400)
    problem = Problem(np.zeros((400, 1)), y, gains, [(np.arange(100), judged)] * 2, True)
    models = sorted(set(profit_money.PRINTED) | set(OURS))

    def decide(problem, split, seed):
        assert seed == split
        return {model: (good if split == 0 or model == "RF" else bad)[judged] == 1 for model in models}

    monkeypatch.setattr(profit_money, "decide", decide)
    monkeypatch.setattr(profit_money, "_JUDGED", {})
    run = Run()
    with joblib.parallel_config("threading"):
        rows = profit_money._judge("payments", [problem], run)
    most, once, other = (naive_profit.profit(y[judged], called[judged], gains[judged]) for called in (y, good, bad))
    assert rows[0].ours == pytest.approx((once + other) / 2 / most)
    table = {row[0]: row for row in run.details[0].rows}
    assert table["RF"][3] == f"{once / most:.4f}"
    recall = (good[judged] @ y[judged] + bad[judged] @ y[judged]) / 2 / y[judged].sum()
    assert table["GB_prof"][6] == pytest.approx(recall)
    verdicts = {row[0]: row[-1] for row in run.details[1].rows}
    assert verdicts["RF_mean-prof < RF"] == "refuted"
    # Equal gaps leave the order open, but not a gap that is a sixth smaller.
    assert verdicts["GB_prof < RF_mean-prof"] == "refuted as to its size"


def test_an_ordering_is_confirmed_where_the_interval_says_so():
    y, good, bad, gains = decisions()
    perfect = earned(y, y == 1, gains)
    lost = {model: perfect - earned(y, bad == 1, gains) for model in profit_money.PRINTED}
    lost["GB_prof"] = perfect - earned(y, good == 1, gains)
    run = Run()
    profit_money._tell_orderings("payments", run, lost)
    verdicts = {row[0]: row[-1] for row in run.details[0].rows}
    assert verdicts["GB_prof < RF_mean-prof"] == verdicts["GB_prof < GB_tune-prof"] == "confirmed"


def test_how_many_orderings_are_told(monkeypatch):
    y, good, bad, gains = decisions(400)
    problem = Problem(np.zeros((400, 1)), y, gains, [(np.arange(100), np.arange(100, 400))] * 3, True)
    other = np.random.default_rng(1).permutation(bad)  # as bad, and open to both sides

    def decide(problem, split, seed):
        called = {"GB_prof": good, "GB_tune-prof": other}
        return {model: called.get(model, bad)[100:] == 1 for model in profit_money.PRINTED}

    monkeypatch.setattr(profit_money, "decide_as_in_the_thesis", decide)
    run = Run()
    with joblib.parallel_config("threading"):
        (row,) = profit_money._judge_orderings("card payments", problem, run)
    verdicts = [told[-1] for told in run.details[0].rows]
    assert row.ours == sum(verdict != "undecided" for verdict in verdicts)
    assert f"{verdicts.count('confirmed')} confirmed" in row.note
    assert verdicts[0] == verdicts[3] == "confirmed"


def test_the_mean_of_three_tables(monkeypatch):
    rng = np.random.default_rng(0)
    models = [*OURS, *profit_money.PRINTED]
    tables = {
        name: {model: rng.exponential(1, 50) / 500 for model in models}
        for name in ("payments", "loans", "card payments")
    }
    run = Run(quick=True)
    monkeypatch.setattr(profit_money, "_JUDGED", {name: tables[name] for name in ("payments", "loans")})
    assert profit_money._on_the_mean(run) == []
    monkeypatch.setattr(profit_money, "_JUDGED", tables)
    ours, forest = profit_money._on_the_mean(run)
    assert ours.ours == pytest.approx(1 - np.mean([table["ProfitBoosting()"].sum() for table in tables.values()]))
    assert ours.peer == pytest.approx(1 - np.mean([table["Bayes rule"].sum() for table in tables.values()]))
    assert [row[0] for row in run.details[0].rows] == models
    assert [row.passed for row in (ours, forest)] == [row.ours >= row.peer for row in (ours, forest)]


def test_orderings_on_three_tables_together(monkeypatch):
    rng = np.random.default_rng(0)
    sizes = {"payments": 1e-4, "card payments": 1e-3, "loans": 1e-2}  # the ratio of each counts the same
    lost = {name: rng.exponential(size, 400) for name, size in sizes.items()}
    tables = {name: dict.fromkeys(profit_money.PRINTED, lost[name]) for name in sizes}
    for name, factor in (("payments", 2.0), ("card payments", 0.25), ("loans", 0.5)):
        tables[name]["GB_prof"] = factor * lost[name]
    tables["payments"]["RF_max-prof"] = rng.permutation(lost["payments"])  # as much, on other rows
    monkeypatch.setattr(profit_money, "_JUDGED", tables)
    run = Run()
    profit_money._tell_orderings_together(run, tuple(sizes))
    rows = {row[0]: row[1:] for row in run.details[0].rows}
    ratio, printed, verdict = rows["GB_prof < RF_mean-prof"]
    assert (ratio, printed, verdict) == ("0.63 to 0.63", "0.83", "confirmed")  # the cube root of 1/4
    low, high = map(float, rows["RF_max-prof < RF_prof"][0].split(" to "))
    assert low < 1 < high
    assert rows["RF_max-prof < RF_prof"][2] == "refuted as to its size"


def test_another_library_is_told_with_the_interval_of_the_lead():
    y, good, bad, gains = decisions()
    perfect = earned(y, y == 1, gains)
    lost = {
        name: (perfect - earned(y, called == 1, gains)) / perfect.sum()
        for name, called in [*((model, good) for model in OURS), ("empulse CSBoost", bad)]
    }
    (row, _) = profit_money._against_others("share", lost)
    share, lead = row.note.split(", ours more by ")
    assert share == f"empulse CSBoost {1 - lost['empulse CSBoost'].sum():.4f}"
    low, high = map(float, lead.removesuffix(" points").split(" to "))
    assert 0 < low < 100 * (lost["empulse CSBoost"] - lost["ProfitBoosting()"]).sum() < high


def test_the_orderings_cover_the_models_of_the_thesis():
    assert {model for pair in profit_money.ORDERINGS for model in pair} == set(profit_money.PRINTED)
    assert len(profit_money.ORDERINGS) == 6


def test_the_loss_of_a_row_is_that_of_its_probability_under_the_stakes_of_all_rows():
    rng = np.random.default_rng(0)
    n = 40
    y, chance = rng.integers(0, 2, n), np.r_[0.0, 1.0, rng.random(n - 2)]
    gains = rng.integers(1, 4, (n, 4)) * [1.0, -1, 1, -1]
    gains[0] = 0, -2, 1, 0  # a fraud of this amount costs nothing
    expected = []
    for truth, p in zip(y, chance, strict=True):
        lost = 0.0
        for tp, fp, tn, fn in gains:
            called = p * (tp - fn) > (1 - p) * (tn - fp) + 1e-9
            lost += (tp if truth else tn) - naive_profit.profit([truth], [called], [(tp, fp, tn, fn)])
        expected.append(lost / n)
    np.testing.assert_allclose(profit_development.loss_with_any_stakes(y, gains, chance), expected)


def test_the_loss_with_own_stakes_is_that_of_the_decisions_at_five_prices():
    y, _, _, gains = decisions(60)
    chance = np.random.default_rng(1).random(60)
    expected = 0.0
    for price in (0.25, 0.5, 1, 2, 4):
        changed = [(tp, tn - price * (tn - fp), tn, fn) for tp, fp, tn, fn in gains]
        called = naive_profit.best_decisions(chance, changed)
        expected += (naive_profit.profit(y, y, changed) - naive_profit.profit(y, called, changed)) / price**0.5 / 5
    assert profit_development.loss_with_own_stakes(y, gains, chance).sum() == pytest.approx(expected)
