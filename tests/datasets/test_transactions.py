import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from scarce.datasets._transactions import _history, make_transactions
from tests import naive

CATEGORICAL = ["shop", "region", "category", "payment_type", "bank"]
HISTORY = ["payments_7d", "amount_30d", "days_since_last", "amount_ratio", "new_shop"]
BLANKED = ["bank", "n_items", "customer_age", "account_age", "distance_home"]


@pytest.fixture(scope="module")
def payments():
    return make_transactions(20_000, seed=0)


@pytest.fixture(scope="module")
def many_frauds():
    return make_transactions(60_000, fraud_rate=0.02, seed=0)


def test_same_seed_same_data(payments):
    again = make_transactions(20_000, seed=0)
    pd.testing.assert_frame_equal(payments.frame, again.frame)
    np.testing.assert_array_equal(payments.ring, again.ring)


def test_another_seed_gives_other_data(payments):
    other = make_transactions(20_000, seed=1)
    assert (other.frame["amount"] != payments.frame["amount"]).mean() > 0.9
    assert not other.target.equals(payments.target)


@given(
    n_samples=st.integers(2, 400),
    fraud_rate=st.floats(0.003, 0.99),
    months=st.integers(1, 24),
    missing_rate=st.floats(0, 0.5),
    seed=st.integers(0, 2**32),
)
def test_any_size_is_whole(n_samples, fraud_rate, months, missing_rate, seed):
    n_fraud = round(fraud_rate * n_samples)
    if not 0 < n_fraud < n_samples:
        with pytest.raises(ValueError, match="There would be"):
            make_transactions(n_samples, fraud_rate=fraud_rate, months=months, seed=seed)
        return
    bunch = make_transactions(
        n_samples, fraud_rate=fraud_rate, months=months, missing_rate=missing_rate, as_frame=False, seed=seed
    )
    assert {len(column) for column in bunch.frame.values()} == {n_samples}
    assert bunch.target.sum() == n_fraud
    assert (bunch.ring[bunch.target == 1] >= 0).all()
    assert n_fraud <= (bunch.ring >= 0).sum() < n_samples
    date = bunch.frame["date"]
    assert (np.diff(date) >= np.timedelta64(0)).all()
    assert date[0] >= np.datetime64("2024-01-01")
    assert date[-1] < np.datetime64("2024-01", "M") + months
    assert np.nanmin(bunch.frame["account_age"], initial=0) >= 0
    assert min(bunch.frame["amount"]) >= 1


def test_rings_stop_with_the_last_day():
    busy = make_transactions(60_000, fraud_rate=0.5, months=1, seed=0)
    last = busy.frame.loc[busy.ring >= 0, "date"].max()
    assert pd.Timestamp("2024-01-31") <= last < pd.Timestamp("2024-02-01")


def test_columns_have_the_types_of_a_bank_file(payments):
    frame = payments.frame
    assert list(frame)[:-1] == payments.feature_names == list(payments.data)
    assert set(frame.select_dtypes("category")) == set(CATEGORICAL)
    assert frame["date"].dtype.kind == "M"
    assert pd.api.types.is_string_dtype(frame["customer_id"])
    assert set(frame["fraud"]) == {0, 1}
    pd.testing.assert_series_equal(payments.target, frame["fraud"])
    assert (frame["hour"] == frame["date"].dt.hour).all()
    assert "ring" not in frame
    assert "SIMULATED" in payments.DESCR
    # A column that nobody explains is a column that nobody can audit.
    assert [name for name in frame if name not in payments.DESCR] == []


def test_arrays_hold_what_the_frame_holds():
    frame = make_transactions(2_000, seed=3).frame
    arrays = make_transactions(2_000, as_frame=False, seed=3)
    assert isinstance(arrays.target, np.ndarray)
    assert "fraud" not in arrays.data
    for read in (pd.DataFrame, lambda columns: pl.DataFrame(columns).to_pandas()):
        same = read(arrays.frame).astype({name: frame[name].dtype for name in CATEGORICAL})
        pd.testing.assert_frame_equal(same, frame, check_dtype=False)


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "scarce\[audit\]"'):
        make_transactions(1_000)
    assert make_transactions(1_000, as_frame=False).target.sum() == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples must be an integer of at least 1"),
        ({"n_samples": 1e4}, "n_samples must be an integer of at least 1"),
        ({"months": 0}, "months must be an integer of at least 1"),
        ({"fraud_rate": 0.0}, "fraud_rate must lie strictly between 0 and 1"),
        ({"fraud_rate": 1.0}, "fraud_rate must lie strictly between 0 and 1"),
        ({"fraud_rate": float("nan")}, "fraud_rate must lie strictly between 0 and 1"),
        ({"missing_rate": -0.1}, "missing_rate must lie between 0 and 0.5"),
        ({"missing_rate": 0.6}, "missing_rate must lie between 0 and 0.5"),
        ({"n_samples": 100}, "no fraud .* raise one of the two"),
        ({"n_samples": 10, "fraud_rate": 0.99}, "nothing but frauds .* lower fraud_rate"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_transactions(**arguments)


def test_missing_values():
    frame = make_transactions(20_000, missing_rate=0.1, seed=0).frame
    missing = frame.isna()
    assert set(missing.columns[missing.any()]) == {*BLANKED, "days_since_last", "amount_ratio"}
    assert missing[BLANKED].mean().between(0.08, 0.12).all()
    by_type = missing[BLANKED].mean(axis=1).groupby(frame["payment_type"], observed=True).mean()
    assert by_type["cheque"] > 1.5 * by_type["online"]
    assert roc_auc_score(frame["fraud"], missing[BLANKED].sum(axis=1)) < 0.65

    complete = make_transactions(20_000, missing_rate=0, seed=0).frame
    assert set(complete.columns[complete.isna().any()]) == {"days_since_last", "amount_ratio"}
    first = ~complete["customer_id"].duplicated()
    assert (complete["amount_ratio"].isna() == first).all()


@given(
    st.lists(
        # Half-days that tie, and that lie on and beside the edges of the windows of 7 and 30 days.
        st.tuples(
            st.sampled_from([0, 1, 13, 14, 15, 60, 61, 74]),
            st.integers(0, 2),
            st.integers(1, 10**7),
            st.integers(0, 2),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_history_equals_naive(rows):
    half_days, customer, cents, shop = np.array(sorted(rows, key=lambda row: row[0])).T
    fast = _history(half_days * 43_200, customer, cents, shop)
    slow = naive.payment_history(half_days * 43_200, customer, cents, shop)
    assert list(fast) == list(slow) == HISTORY
    for name in HISTORY:
        np.testing.assert_allclose(fast[name], slow[name], rtol=1e-12, err_msg=name)


def test_history_can_be_read_off_the_frame():
    frame = make_transactions(600, fraud_rate=0.05, seed=1).frame
    second = frame["date"].astype("datetime64[s]").astype("int64").to_numpy()
    cents = (100 * frame["amount"]).round().astype("int64").to_numpy()
    slow = naive.payment_history(second, frame["customer_id"].to_numpy(), cents, frame["shop"].to_numpy())
    for name in HISTORY:
        np.testing.assert_allclose(frame[name], slow[name], rtol=1e-12, err_msg=name)


def test_amounts_are_heavy_tailed_and_money_is_plausible(payments):
    amount, margin = payments.frame["amount"], payments.frame["margin"]
    assert amount.nlargest(len(amount) // 100).sum() > 0.06 * amount.sum()
    assert amount.max() > 20 * amount.median()
    assert 0.05 < margin.sum() / amount.sum() < 0.4
    assert payments.frame[["amount", "margin"]].corr("spearman").iloc[0, 1] > 0.4


def test_a_customer_keeps_one_bank_and_a_shop_one_region(many_frauds):
    frame = many_frauds.frame
    assert frame.groupby("customer_id")["bank"].nunique().max() == 1
    assert frame.groupby("shop", observed=True)["region"].nunique().max() == 1


def test_frauds_pay_in_possible_ways(many_frauds):
    frame = many_frauds.frame
    assert frame.loc[frame["payment_type"] == "contactless", "amount"].max() < 50
    assert frame.loc[frame["payment_type"] == "instalments", "amount"].min() >= 50
    assert frame.loc[frame["payment_type"] != "online", "hour"].between(9, 20).all()


def test_some_frauds_are_undetected(many_frauds):
    undetected = (many_frauds.ring >= 0) & (many_frauds.target == 0)
    assert undetected.sum() == round(0.1 * many_frauds.target.sum())
    assert f"{0.1:.0%} as many were never detected" in many_frauds.DESCR


def test_rings_are_bursts_with_one_strategy(many_frauds):
    frauds = many_frauds.frame[many_frauds.ring >= 0].assign(ring=many_frauds.ring[many_frauds.ring >= 0])
    rings = frauds.groupby("ring").filter(lambda ring: len(ring) >= 4).groupby("ring")
    spans = rings["date"].max() - rings["date"].min()
    assert spans.median() < pd.Timedelta(days=14)
    assert spans.max() < pd.Timedelta(days=30)
    assert frauds["date"].max() - frauds["date"].min() > pd.Timedelta(days=270)

    def concentration(column):
        return column.value_counts(normalize=True).iloc[0]

    for name in ("category", "payment_type", "shop"):
        assert rings[name].agg(concentration).mean() > 1.5 * concentration(frauds[name])
    assert rings["amount"].agg(lambda x: np.log(x).std()).median() < 0.7 * np.log(frauds["amount"]).std()
    assert rings["customer_id"].nunique().max() > 1


def test_strategies_drift(many_frauds):
    frame, ring = many_frauds.frame, many_frauds.ring
    month = frame["date"].dt.month
    way = frame["payment_type"].astype(str) + " " + frame["category"].astype(str)

    def distance(a, b):
        shares = pd.concat([way[a].value_counts(normalize=True), way[b].value_counts(normalize=True)], axis=1)
        return shares.fillna(0).diff(axis=1).iloc[:, 1].abs().sum() / 2

    fraud = ring >= 0
    drift = distance(fraud & (month <= 3), fraud & (month >= 8))
    chance = distance(fraud & (ring % 2 == 0), fraud & (ring % 2 == 1))
    genuine = distance(~fraud & (month <= 3), ~fraud & (month >= 8))
    assert drift > 2 * chance
    assert drift > 2 * genuine
    assert drift < 0.95  # in part only


def test_no_column_gives_the_frauds_away(payments):
    y = payments.target
    for name in payments.data.drop(columns="customer_id"):
        column = payments.data[name]
        if name not in CATEGORICAL and column.nunique() > 30:
            column = pd.qcut(column, 30, duplicates="drop")
        # The rates are those of the same rows: no honest use of the column does better.
        rate = y.groupby(column, observed=True, dropna=False).transform("mean")
        assert 0.5 <= roc_auc_score(y, rate) < 0.9, name


@threadpool_limits.wrap(limits=1)  # small fits lose more to threads that wait for a core than they gain
def test_learnable_but_neither_linear_nor_stationary():
    payments = make_transactions(seed=0)
    X, y = payments.data.drop(columns=["date", "customer_id"]), payments.target
    trees = HistGradientBoostingClassifier(
        max_iter=50, max_leaf_nodes=15, min_samples_leaf=10, max_features=0.5, l2_regularization=5, random_state=0
    )
    linear = make_pipeline(
        make_column_transformer(
            (
                make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
                make_column_selector(dtype_include=["number", "bool"]),
            ),
            (OneHotEncoder(min_frequency=20, handle_unknown="ignore"), CATEGORICAL),
        ),
        LogisticRegression(max_iter=500),
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    by_trees, by_line = (
        cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1] for model in (trees, linear)
    )
    assert 0.35 < average_precision_score(y, by_trees) < 0.65
    assert average_precision_score(y, by_line) < 0.7 * average_precision_score(y, by_trees)

    late = payments.data["date"] >= "2024-08-01"
    from_the_past = trees.fit(X[~late], y[~late]).predict_proba(X[late])[:, 1]
    unseen = average_precision_score(y[late], from_the_past)
    assert unseen < 0.8 * average_precision_score(y[late], by_trees[late])
    assert unseen > 5 * y[late].mean()


def test_many_payments_fit_into_memory():
    payments = make_transactions(200_000)
    assert payments.target.sum() == 800
    assert payments.frame.memory_usage(deep=True).sum() < 300 * 200_000
