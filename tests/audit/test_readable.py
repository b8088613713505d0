"""The rules beside the winner, and the bounds on F1."""

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from scarce.audit.certificate import certify
from scarce.audit.dictionary import Dictionary
from scarce.audit.folds import make_folds
from scarce.audit.methods import Size
from scarce.audit.plan import make_plan
from scarce.audit.readable import MOST_CATEGORIES, MOST_RULES, OTHERS, fit_readable, readable_columns
from scarce.audit.task import Task
from scarce.tables import Column

COLUMNS = [Column("paid", "number"), Column("shop", "category"), Column("day", "date")]


def make_task(n: int = 600, sample: int | None = None) -> Task:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "paid": rng.lognormal(3, 1, n),
            "shop": rng.choice([f"s{i}" for i in range(30)], n, p=np.arange(30, 0, -1) / 465),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.uniform(0, 90, n), unit="D"),
        }
    )
    y = ((X["paid"] > 60) & X["shop"].isin(["s0", "s1", "s2"]) | (rng.random(n) < 0.01)).astype(np.int64)
    return Task(X, y.to_numpy(), "ap", sample=sample)


def test_rules_are_few_in_words_and_count_every_row_once() -> None:
    task = make_task()
    folds = make_folds(task.y, None, 0)
    found = fit_readable(task, folds, COLUMNS, "the winner", 0.9, Dictionary())
    assert 2 <= len(found.rules) <= MOST_RULES
    assert sum(rule.rows for rule in found.rules) == 600
    assert sum(rule.positives for rule in found.rules) == task.y.sum()
    first = found.rules[0]
    assert "paid > " in first.text
    assert "shop in {" in first.text
    assert first.share > 0.8
    assert found.price == 0.9 - found.ap
    # A model that learned nothing would have the share of positives.
    assert found.ap > 5 * task.y.mean()
    assert found.sentence.startswith(f"{len(found.rules)} rules that can be read have an average precision of ")


def test_the_price_is_that_of_rules_on_rows_that_they_did_not_see() -> None:
    task = make_task()
    rng = np.random.default_rng(1)
    blind = Task(task.X, rng.permutation(task.y), "ap")
    found = fit_readable(blind, make_folds(blind.y, None, 0), COLUMNS, "the winner", 0.9, Dictionary())
    assert found.ap < 3 * blind.y.mean()


def test_columns_are_numbers_that_can_be_named() -> None:
    task = make_task()
    X, categories = readable_columns(task.X, COLUMNS)
    assert list(X.columns) == ["paid", "shop", "hour of day", "weekday of day (Monday is 0)"]
    names = categories["shop"]
    assert len(names) == MOST_CATEGORIES + 1
    assert names[-1] == OTHERS
    shown = X["shop"].map(lambda code: names[int(code)])
    assert (shown[shown != OTHERS] == task.X["shop"][shown != OTHERS]).all()
    assert not set(task.X["shop"][shown == OTHERS]) & set(names)


def test_a_sample_counts_as_the_whole() -> None:
    task = make_task(3_000, sample=1_000)
    found = fit_readable(task, make_folds(task.y, None, 0), COLUMNS, "the winner", 0.9, Dictionary())
    assert abs(sum(rule.rows for rule in found.rules) - 3_000) < 1
    assert average_precision_score(task.y, task.X["paid"]) < found.ap


def test_a_bound_is_never_below_what_a_model_reached() -> None:
    task = make_task()
    plan = make_plan("f1", COLUMNS, Size(600, int(task.y.sum()), 2, 0), 0.1, methods=["logistic", "cone-logistic"])
    (certificate,) = certify(plan.candidates, task)
    assert certificate.family == "logistic regression"
    assert certificate.reached <= certificate.bound <= 1
    assert "No logistic regression on these columns can exceed F1 = " in certificate.sentence
    assert certify(plan.candidates[:1], task) == []
