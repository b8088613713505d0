"""Models in use for weeks: what is checked on a day, when they learn again, and what a desk remembers."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from scarce.desk.renewal import RenewedWithMemory
from scarce.monitor.renewal import Renewed


@pytest.fixture(scope="module")
def weeks():
    """Twelve weeks of 40 rows a day; one feature tells before day 28, and another from then on."""
    rng = np.random.default_rng(0)
    day = np.sort(rng.random(84 * 40) * 84)
    y = (rng.random(len(day)) < 0.1).astype(int)
    place = np.where(y == 1, rng.integers(3, size=len(day)), rng.integers(200, size=len(day)))
    telling = np.where(day < 28, 0, 1)[:, None] == [0, 1]
    features = rng.normal(size=telling.shape) + 3 * telling * y[:, None]
    X = np.column_stack([day, rng.integers(50, size=len(day)), place, features])
    first = day < 14
    return X[first], y[first], X[~first], y[~first]


def used(weeks, kind=Renewed, **options):
    X, y, later, outcome = weeks
    model = kind(LogisticRegression(), share=0.1, entities=2, random_state=0, **options).fit(X, y)
    checked, by_first = model.run(later, outcome)
    return model, checked, by_first


def test_each_day_has_its_checks_and_the_first_model_the_same(weeks):
    X, y, later, _ = weeks
    model, checked, by_first = used(weeks)
    assert model.renewed_ == []
    np.testing.assert_array_equal(checked, by_first)
    plain = LogisticRegression().fit(X[:, 3:], y)
    for day in range(14, 84):
        rows = [i for i in range(len(later)) if day <= later[i, 0] < day + 1]
        score = plain.predict_proba(later[rows][:, 3:])[:, 1].tolist()
        best = sorted(range(len(rows)), key=lambda i: (-score[i], i))[: round(0.1 * len(rows))]
        assert {rows[i] for i in best} == set(np.flatnonzero(checked).tolist()) & set(rows)


@pytest.mark.parametrize(("when", "renewed"), [("month", [4, 8]), ("week", list(range(1, 10)))])
def test_renewal_by_the_calendar_pays_where_frauds_change(weeks, when, renewed):
    _, checked, by_first = (found := used(weeks, when=when))
    assert found[0].renewed_ == renewed
    outcome = weeks[3]
    assert outcome[checked == 1].sum() > outcome[by_first == 1].sum()


def test_the_monitor_advises_renewal_after_the_change_and_not_before(weeks):
    model, *_ = used(weeks, when="monitor")
    assert model.renewed_
    assert min(model.renewed_) > 2


def test_what_was_decided_moves_rows_of_the_same_place(weeks):
    outcome = weeks[3]
    _, alone, _ = used(weeks)
    _, remembering, by_first = used(weeks, RenewedWithMemory)
    np.testing.assert_array_equal(by_first, alone)
    assert outcome[remembering == 1].sum() > 1.2 * outcome[alone == 1].sum()
    # Nothing is known of the first day before it is over.
    first_day = weeks[2][:, 0] < 15
    np.testing.assert_array_equal(remembering[first_day], alone[first_day])
