"""Rows of simulated declarations: which they are, and that no company is on both sides."""

from __future__ import annotations

import numpy as np
import pytest

from scarce.datasets import make_companies
from scarce.study import companies, load_study
from scarce.study.data import rows_of


@pytest.fixture
def few(monkeypatch):
    """As few declarations as a test can afford."""
    monkeypatch.setattr(companies, "_DECLARATIONS", 8_000)
    companies._checked.cache_clear()
    drawn = make_companies(8_000, check_rate=0.2, seed=3)
    yield drawn.frame.assign(scheme=drawn.scheme)
    companies._checked.cache_clear()


def test_a_set_is_the_checked_declarations_of_a_trade(few):
    X_train, y_train, X_test, y_test = companies.draw_companies(3, rows=60, sector="building")
    mine = few[(few["checked"] == 1) & (few["sector"] == "building")].iloc[:60]
    assert len(mine) == 60 == len(y_train) + len(y_test)
    assert y_train.sum() + y_test.sum() == mine["fraud"].sum()
    # The turnover of a declaration tells whose it is.
    column = list(mine.drop(columns=list(companies._ASIDE)).select_dtypes("number")).index("turnover")
    by_turnover = dict(zip(mine["turnover"], mine["company_id"], strict=True))
    assert len(by_turnover) == 60
    sides = [{by_turnover[value] for value in X[:, column]} for X in (X_train, X_test)]
    assert not sides[0] & sides[1]
    assert len(sides[1]) == round(0.2 * mine["company_id"].nunique())
    for X, y in ((X_train, y_train), (X_test, y_test)):
        known = dict(zip(mine["turnover"], mine["fraud"], strict=True))
        assert [known[value] for value in X[:, column]] == y.tolist()


def test_one_kind_of_fraud_is_positive_among_all_that_were_checked(few):
    _, y_train, _, y_test = companies.draw_companies(3, rows=10_000, region="centre", scheme=0)
    mine = few[(few["checked"] == 1) & (few["region"] == "centre")]
    assert len(y_train) + len(y_test) == len(mine)
    assert y_train.sum() + y_test.sum() == (mine["scheme"] == 0).sum() > 0


@pytest.mark.parametrize("name", ["gamma/table3", "metaap/fig4"])
def test_the_studies_of_tax_declarations_say_that_they_are_simulated(few, name):
    study = load_study(name)
    assert any(note.startswith("SIMULATED") for note in study.notes)
    rows = rows_of({**study.sets[0]}, study.protocol, 3)
    assert np.isfinite(rows.X_train).all()
    assert rows.X_train.shape[1] == rows.X_test.shape[1] > 15
