"""Rows to rank, rows without an outcome, rows that were never checked, and rows too many to learn from."""

import numpy as np
import pandas as pd
import pytest

from scarce.audit import audit, compare, report_data, report_html
from scarce.audit.checked import chances_of_checks
from scarce.audit.rows import assign_roles
from scarce.audit.settings import Settings
from scarce.audit.task import Task, sample_of_negatives
from scarce.datasets import make_transactions
from scarce.tables import Column, conform
from tests.payments import make_table


@pytest.fixture(scope="module")
def weeks() -> pd.DataFrame:
    table = make_table(900, seed=6).drop(columns=["chargeback", "currency"])
    table["week"] = np.arange(900) // 100
    table.loc[table.index % 50 == 0, "fraud"] = None
    return table


def test_rows_to_rank_are_named_by_a_column(weeks: pd.DataFrame) -> None:
    found = audit(weeks, "fraud", budget=10, rank="week=8", quick=True, methods=["logistic"])
    assert found.rows_to_rank == 100
    assert (found.queue["row"] >= 800).all()
    assert len(found.task.y) == 784
    assert "week" not in found.task.X
    assert found.roles.assumed == [
        "98 rows to rank have an outcome already, which was not used.",
        "16 other rows of unknown outcome were left out of learning.",
    ]
    assert set(found.roles.assumed) <= set(found.warnings)
    assert report_data(found)["assumed"] == found.roles.assumed
    negative = Settings("fraud", rank="week=8", unlabelled="negative")
    y = np.where(weeks["fraud"].isna(), -1, weeks["fraud"] == "yes")
    roles = assign_roles(weeks, y, negative)
    assert roles.assumed[1] == "16 other rows of unknown outcome count as negative, as asked."
    assert (roles.y >= 0).sum() == 800


def test_a_budget_for_each_day_queues_each_day_by_itself() -> None:
    table = make_table(900, seed=1)
    table["date"] = pd.date_range("2024-01-01", periods=900, freq="2h")
    table.loc[864:, "fraud"] = None
    found = audit(table, "fraud", budget="4/day", time="date", delay="1d", methods=["lightgbm", "logistic"])
    assert len(found.queue) == 12
    assert found.queue["date"].dt.date.value_counts().tolist() == [4, 4, 4]
    sizes = np.bincount(found.comparison.blocks.block)
    assert (sizes == 12).all()
    assert set(found.comparison.blocks.budget) == {4}
    page = report_html(found, report_data(found))
    assert "Precision@4/day" in page
    assert f"{len(sizes)} tested days with 4 checks each" in page
    assert "1d after the row" in page


def test_each_card_is_checked_once() -> None:
    table = make_table(900, seed=1)
    table.loc[700:, "fraud"] = None
    found = audit(table, "fraud", budget=15, distinct="shop", methods=["lightgbm", "logistic"])
    assert found.queue["shop"].nunique() == len(found.queue) == 15
    # No shop that is left out has a row that scores higher than the last one of the queue.
    new = table.iloc[700:]
    typed = conform(table, found.profile.features).iloc[700:]
    best = pd.Series(found.model.score_samples(typed), index=new.index).groupby(new["shop"]).max()
    assert best[found.queue["shop"]].tolist() == found.queue["score"].tolist()
    assert best.drop(found.queue["shop"]).max() <= found.queue["score"].min()
    units = found.comparison.winner.units
    blocks = found.comparison.blocks
    shop = found.task.groups[found.comparison.folds.tested[units.row]]
    assert len(set(zip(units.block, shop, strict=True))) == len(shop)
    assert units.block.max() < len(blocks)


def test_enough_checks_for_every_card_leave_nothing_to_measure() -> None:
    table = make_table(600, seed=1)
    table.loc[450:, "fraud"] = None
    found = audit(table, "fraud", budget=60, distinct="shop", methods=["logistic"], explore=0.1)
    assert found.queue["shop"].nunique() == len(found.queue) == table.loc[450:, "shop"].nunique()
    assert set(found.comparison.winner.figures) == {"ap", "f1"}
    assert found.exploration is None


def test_figures_for_all_rows_undo_a_biased_choice_of_checks() -> None:
    """Investigators check large payments: among these frauds are more frequent than among all."""
    table = make_transactions(12_000, seed=3, fraud_rate=0.06).frame
    rng = np.random.default_rng(0)
    large = table["amount"].rank(pct=True).to_numpy()
    table["checked"] = np.where(rng.random(len(table)) < 0.08 + 0.7 * large**4, "yes", "no")
    truth = table["fraud"].to_numpy()
    known = table.assign(fraud=np.where(table["checked"] == "yes", truth, np.nan))
    found = audit(known, "fraud", budget=200, methods=["logistic"], checked="checked")
    (outcome,) = found.comparison.outcomes
    chance = found.checks.chance
    seen = known["checked"] == "yes"
    true_rate, plain_rate = truth.mean(), truth[seen].mean()
    weighted_rate = np.average(truth[seen], weights=1 / chance[seen])
    assert plain_rate > 1.3 * true_rate
    assert abs(weighted_rate - true_rate) < 0.35 * abs(plain_rate - true_rate)
    # Among all rows frauds are rarer than among the checked ones, and so harder to find.
    assert outcome.for_all_rows["ap"].estimate < outcome.figures["ap"].estimate
    assert found.checks.effective < found.checks.checked
    data = report_data(found)
    assert data["checks"]["sentence"].startswith(f"{int(seen.sum()):,} of 12,000 rows were ever checked.")
    assert "For all rows" in report_html(found, data)


def test_the_chance_of_a_check_is_calibrated() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"x": rng.normal(size=4_000), "z": rng.normal(size=4_000)})
    chance = 1 / (1 + np.exp(-X["x"].to_numpy()))
    checks = chances_of_checks(X, rng.random(4_000) < chance, [Column("x", "number"), Column("z", "number")], 0)
    assert np.abs(checks.chance - chance).mean() < 0.06
    assert checks.chance.min() >= 0.01


def test_a_sample_stands_for_the_whole() -> None:
    y = np.zeros(5_000, dtype=np.int64)
    y[::100] = 1
    rows, weight = sample_of_negatives(np.arange(5_000), y, 500, seed=0)
    assert len(rows) == 500
    assert y[rows].sum() == 50
    assert weight.sum() == pytest.approx(5_000)
    assert (weight[y[rows] == 1] == 1).all()
    task = Task(pd.DataFrame({"x": np.arange(5_000.0)}), y, "ap", sample=500)
    assert len(task.training_rows(np.arange(400))[0]) == 400
    assert task.training_rows(np.arange(400))[1] is None


def test_figures_of_a_sample_are_those_of_the_whole() -> None:
    table = make_table(6_000, seed=2).drop(columns="chargeback")
    options = {"budget": 100, "methods": ["logistic", "lightgbm", "gamma-knn"], "amount": "amount"}
    whole, sampled = audit(table, "fraud", **options), audit(table, "fraud", **options, sample=2_000)
    assert any("Every method learned from all positives and a sample of the negatives" in w for w in sampled.warnings)
    assert len(sampled.comparison.folds.tested) == 2_000
    assert sampled.task.weights(sampled.comparison.folds.tested).sum() == pytest.approx(6_000)
    by_name = {o.candidate.key: o for o in sampled.comparison.outcomes}
    for outcome in whole.comparison.outcomes:
        other = by_name[outcome.candidate.key]
        for name in ("ap", "f1", "precision", "recall"):
            assert other.figures[name].estimate == pytest.approx(outcome.figures[name].estimate, abs=0.13), name
    # Without weights half as many negatives would look like twice the positives.
    assert sampled.promise.expected == pytest.approx(whole.promise.expected, rel=0.35)


def test_a_method_that_is_clearly_behind_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(1_200, seed=8).drop(columns=["chargeback", "shop"])
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(1_200, 30)), columns=[f"n{i}" for i in range(30)])
    noisy = pd.concat([table, noise], axis=1)
    options = {"budget": 50, "methods": ["lightgbm", "gamma-knn", "ccnnd"]}
    found = audit(noisy, "fraud", **options, minutes=60)
    assert {s.candidate.key for s in found.comparison.stopped} == {"gamma-knn", "ccnnd"}
    assert all(
        "stopped after 2 of 5 folds: there it was behind LightGBM by" in s.reason for s in found.comparison.stopped
    )
    page = report_html(found, report_data(found))
    assert "stopped after 2 of 5 folds" in page
    assert found.comparison.lead is None
    assert "LightGBM is the only method that was tested to the end." in found.comparison.summary
    # The methods that came to the end give the same queue when they are named.
    again = audit(noisy, "fraud", budget=50, methods=[o.candidate.key for o in found.comparison.outcomes])
    pd.testing.assert_frame_equal(found.queue, again.queue)

    clock = iter(range(0, 10**6, 600))
    monkeypatch.setattr(compare.time, "perf_counter", lambda: float(next(clock)))
    short = audit(noisy, "fraud", **options, minutes=1)
    # Of two that are equally cheap the first begins; it is the only one that is brought to its end.
    assert [o.candidate.key for o in short.comparison.outcomes] == ["lightgbm"]
    assert [s.reason for s in short.comparison.stopped] == ["not begun: the time was used up"] * 2
