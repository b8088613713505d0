"""Simulated companies: rates, checks that are not random, and outcomes that nobody knows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from scarce.datasets import _tax_office as office
from scarce.datasets import make_companies

ROWS = office.COMPANIES_PER_BLOCK * office.QUARTERS
HIDDEN = ["company_id", "period", "checked", "fraud"]


@pytest.fixture(scope="module")
def companies():
    return make_companies(300_000, seed=1)


def test_same_seed_same_data_and_another_seed_other_data():
    one, same, other = (make_companies(5_000, seed=seed) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(one.frame, same.frame)
    np.testing.assert_array_equal(one.truth, same.truth)
    assert (one.frame["turnover"] != other.frame["turnover"]).mean() > 0.9


@given(first=st.integers(0, 2 * ROWS), length=st.integers(1, 3_000))
def test_any_part_can_be_drawn_alone(first: int, length: int) -> None:
    whole = make_companies(2 * ROWS + 3_000, as_frame=False, seed=2)
    part = make_companies(length, first_row=first, as_frame=False, seed=2)
    for name, column in part.frame.items():
        np.testing.assert_array_equal(column, whole.frame[name][first : first + length])
    np.testing.assert_array_equal(part.truth, whole.truth[first : first + length])
    np.testing.assert_array_equal(part.scheme, whole.scheme[first : first + length])


def test_rates_among_checked_declarations_are_those_of_the_paper(companies) -> None:
    checked = companies.frame[companies.frame["checked"] == 1]
    assert len(checked) / 300_000 == pytest.approx(0.03, rel=0.05)
    found = checked.groupby("sector", observed=False)["fraud"].agg(["mean", "size"])
    for sector, (rate, size) in found.iterrows():
        wanted = office.SECTORS[sector].rate
        # Declarations of one company are alike, so that the error is a little larger than that of independent draws.
        assert abs(rate - wanted) < 4 * 1.3 * np.sqrt(wanted * (1 - wanted) / size)
    rates = sorted(round(100 * s.rate, 1) for s in office.SECTORS.values())
    assert rates == [3.9, 5.0, 9.9, 10.3, 16.2, 16.4, 17.8, 17.9, 20.8, 24.8, 35.1]


def test_outcomes_are_known_for_checked_declarations_only(companies) -> None:
    frame = companies.frame
    known = frame["fraud"].notna()
    assert known.equals(frame["checked"] == 1)
    np.testing.assert_array_equal(frame.loc[known, "fraud"], companies.truth[known])
    assert companies.truth[~known].sum() > 10 * companies.truth[known].sum()
    np.testing.assert_array_equal(companies.truth == 1, companies.scheme >= 0)
    assert set(np.unique(companies.scheme)) == {-1, 0, 1, 2, 3}


def test_checks_are_biased_and_by_columns_alone(companies) -> None:
    frame, truth = companies.frame, companies.truth
    checked = frame["checked"] == 1
    assert truth[checked].mean() > 1.2 * truth.mean()
    by_region = checked.groupby(frame["region"], observed=False).mean()
    assert by_region["south-east"] > 1.8 * by_region["north-east"]
    # With equal sector and equally many late filings, fraud does not make a check more likely.
    groups = pd.DataFrame({"sector": frame["sector"], "late": frame["late_filings"].clip(upper=3)})
    groups["fraud"], groups["checked"] = truth, checked.to_numpy()
    table = groups.groupby(["sector", "late", "fraud"], observed=True)["checked"].agg(["mean", "size"]).unstack()
    lift = (table["mean"][1] / table["mean"][0]).dropna()
    weight = table["size"][1].loc[lift.index]
    assert np.average(lift, weights=weight) == pytest.approx(1.0, abs=0.06)


def test_nothing_gives_frauds_away_and_models_learn_them(companies) -> None:
    frame, truth = companies.frame, companies.truth
    features = frame.drop(columns=HIDDEN)
    for name in features:
        codes = features[name].cat.codes if features[name].dtype == "category" else features[name]
        area = roc_auc_score(truth, codes.fillna(codes.median()))
        assert max(area, 1 - area) < 0.75
        assert abs(roc_auc_score(truth, features[name].isna()) - 0.5) < 0.01
    checked = (frame["checked"] == 1).to_numpy()
    X = features[checked].assign(**{name: features.loc[checked, name].cat.codes for name in ("region", "sector")})
    y, groups = frame["fraud"][checked].astype(int), frame["company_id"][checked]
    forest = RandomForestClassifier(30, min_samples_leaf=3, random_state=0)
    score = cross_val_predict(forest, X, y, groups=groups, cv=GroupKFold(3), method="predict_proba")[:, 1]
    assert 0.7 < roc_auc_score(y, score) < 0.95
    assert 2 * y.mean() < average_precision_score(y, score) < 0.8


def test_accounts_add_up(companies) -> None:
    frame = companies.frame
    np.testing.assert_array_equal(frame["vat_due"], frame["vat_collected"] - frame["vat_deducted"])
    assert (frame[["turnover", "purchases", "vat_collected", "vat_deducted"]] >= 0).all().all()
    np.testing.assert_allclose(frame["purchase_ratio"], frame["purchases"] / frame["turnover"], atol=0.01)
    first = frame["period"] == frame["period"].min()
    assert frame["growth"].isna().equals(first)
    assert frame.groupby("company_id", sort=False).size().eq(4).all()
    assert frame["period"].astype(str).unique().tolist() == ["2023-03-31", "2023-06-30", "2023-09-30", "2023-12-31"]
    missing = frame[["employees", "wages", "export_share"]].isna().mean()
    np.testing.assert_allclose(missing, 0.02, atol=0.002)


def test_every_text_on_them_says_that_they_are_simulated(companies) -> None:
    assert companies.DESCR.startswith("SIMULATED")
    assert all(name in companies.DESCR for name in companies.frame.columns)
    assert "Simulate" in make_companies.__doc__
    assert "Nothing in them is real" in make_companies.__doc__


def test_without_pandas_the_columns_are_arrays():
    bunch = make_companies(2_000, as_frame=False)
    frame = pl.DataFrame(bunch.frame)
    assert frame.shape == (2_000, 22)
    assert np.isnan(bunch.target).mean() == pytest.approx(0.97, abs=0.02)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_samples": 0}, "n_samples must be an integer of at least 1"),
        ({"first_row": -1}, "first_row must be an integer of at least 0"),
        ({"check_rate": 0.5}, "check_rate must lie above 0 and not above 0.2"),
        ({"missing_rate": 0.9}, "missing_rate must lie between 0 and 0.5"),
    ],
)
def test_each_mistake_has_its_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make_companies(**{"n_samples": 10, **options})
