"""The history of entities, against a look at every earlier row."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

import scarce
from scarce.tables import EntityHistory
from tests import naive_tables
from tests.conftest import ROOT

REAL = ROOT.parent / "shared" / "data" / "handbook_payments.parquet"

amounts = st.none() | st.sampled_from([0.0, 1e12, -7.25, np.inf]) | st.floats(-1e6, 1e6).map(lambda x: round(x, 2))
pasts = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 12), amounts, st.sampled_from([0, 1, -1, np.nan])),
    min_size=1,
    max_size=20,
)
queries = st.lists(st.tuples(st.sampled_from(["a", "b", "new", None]), st.integers(-3, 16)), min_size=1, max_size=8)


def frame_of(past: list[tuple]) -> pd.DataFrame:
    entity, time, amount, _ = zip(*past, strict=True)
    return pd.DataFrame(
        {"card": pd.Series(entity, dtype=object), "t": time, "sum": np.array(amount, dtype=float), "other": 0}
    )


def history(past: list[tuple], **options) -> EntityHistory:
    made = EntityHistory("card", "t", "sum", **{"windows": (1, 3, 8), "delay": 2, **options})
    return made.fit(frame_of(past), [row[3] for row in past])


@given(pasts, queries, st.sampled_from([0, 1, 2, 2.5]), st.none() | st.integers(-3, 16))
def test_each_row_sees_what_a_look_at_all_earlier_rows_sees(
    past: list, rows: list, delay: float, until: int | None
) -> None:
    asked = pd.DataFrame({"card": pd.Series([c for c, _ in rows], dtype=object), "t": [t for _, t in rows], "sum": 0.0})
    entity, time, amount, outcome = (list(column) for column in zip(*past, strict=True))
    ends = [100 if until is None else until + place for place in range(len(rows))]
    expected = naive_tables.entity_history(entity, time, amount, outcome, rows, [1, 3, 8], delay, ends)
    found = history(past, delay=delay).transform(asked, None if until is None else ends)
    # Means are exact to a part in 10**15 of all the money there is.
    money = sum(abs(a) for a in amount if a is not None and np.isfinite(a))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15 * money)
    for place in range(found.shape[1]):
        if place % 4 != 1:
            np.testing.assert_array_equal(found[:, place], np.array(expected)[:, place])


@given(pasts, st.randoms(use_true_random=False))
def test_order_and_batches_do_not_matter(past: list, random) -> None:
    rows = frame_of(past)
    found = history(past).transform(rows)
    order = list(range(len(past)))
    random.shuffle(order)
    shuffled = history([past[i] for i in order])
    np.testing.assert_array_equal(shuffled.transform(rows.iloc[order]), found[order])
    one_by_one = np.vstack([shuffled.transform(rows.iloc[[i]]) for i in range(len(rows))])
    np.testing.assert_array_equal(one_by_one, found)


@given(pasts, st.integers(0, 20))
def test_a_past_in_parts_is_the_past_as_a_whole(past: list, size: int) -> None:
    rows = frame_of(past)
    parts = history(past[:size] or past)
    if 0 < size < len(past):
        parts.partial_fit(rows.iloc[size:], [row[3] for row in past[size:]])
    np.testing.assert_array_equal(parts.transform(rows), history(past).transform(rows))
    # A second fit forgets the first.
    np.testing.assert_array_equal(parts.fit(rows).transform(rows), history(past).fit(rows).transform(rows))


@given(pasts, st.integers(0, 12))
def test_what_comes_later_changes_nothing(past: list, now: int) -> None:
    rows = frame_of(past)
    before = rows["t"] <= now
    earlier = [row for row in past if row[1] < now]
    assume(earlier and before.any())
    # Outcomes that are not known yet are changed, and so are all rows from now on.
    late = [(c, t, s, 1 if t >= now - 2 else y) for c, t, s, y in past if t < now] + [("a", now, 9.0, 1)]
    np.testing.assert_array_equal(history(late).transform(rows[before]), history(earlier).transform(rows[before]))


def test_dates_take_durations_and_the_delay_is_respected() -> None:
    day = pd.Timestamp("2024-01-01")
    rows = pd.DataFrame(
        {
            "card": ["x"] * 4,
            "shop": [7, 7, 8, 7],
            "at": [day, day + pd.Timedelta("3h"), day + pd.Timedelta("2D"), day + pd.Timedelta("9D")],
            "sum": [10.0, 20.0, 30.0, 40.0],
        }
    )
    made = EntityHistory(["card", "shop"], "at", "sum", delay="7d").fit(rows, [1, 1, 0, 0])
    found = pd.DataFrame(made.transform(rows), columns=made.get_feature_names_out())
    assert found["card: rows in 1d"].tolist() == [0, 1, 0, 0]
    assert found["card: mean of sum in 30d"].tolist()[1:] == [10, 15, 20]
    # At the ninth day, the outcomes of the first two days are known, and that of the third day just not yet.
    assert found["card: positives in 7d"].tolist() == [0, 0, 0, 2]
    assert found["card: positive rate in 7d"].iloc[3] == 1.0
    assert found["shop: rows in 30d"].tolist() == [0, 1, 0, 2]
    assert np.isnan(found["shop: mean of sum in 7d"].iloc[2])


def test_amounts_far_apart_keep_their_cents() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"card": rng.integers(0, 50, 20_000), "t": np.arange(20_000.0)})
    rows["sum"] = rng.integers(1, 10**5, 20_000) / 100
    rows.loc[0, "sum"] = 1e9
    found = EntityHistory("card", "t", "sum", windows=(5_000.0,)).fit(rows).transform(rows)
    late = rows.index[rows["t"] > 15_000][:50]
    for row in late:
        mine = rows[(rows["card"] == rows["card"][row]) & (rows["t"] < row) & (rows["t"] >= row - 5_000)]
        assert found[row, 0] == len(mine)
        assert found[row, 1] == pytest.approx(mine["sum"].mean(), abs=1e-8)


def test_it_is_a_transformer_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"card": rng.choice(list("abcdef"), 300), "t": np.arange(300), "sum": rng.random(300)})
    y = (rng.random(300) < 0.2).astype(int)
    made = EntityHistory("card", "t", windows=(10, 50))
    again = clone(made)
    assert again.get_params() == made.get_params()
    model = make_pipeline(again, RandomForestClassifier(5, random_state=0)).fit(rows, y)
    assert model.predict(rows).shape == (300,)
    fitted = model[0]
    np.testing.assert_array_equal(fitted.transform(pl.from_pandas(rows)), fitted.transform(rows))
    np.testing.assert_array_equal(made.fit_transform(rows, y), fitted.transform(rows))
    assert len(fitted.get_feature_names_out()) == fitted.transform(rows).shape[1] == 6
    loaded = skops.io.loads(skops.io.dumps(fitted), trusted=scarce.trusted_types())
    np.testing.assert_array_equal(loaded.transform(rows), fitted.transform(rows))


def test_mistakes_have_their_sentence() -> None:
    rows = pd.DataFrame({"card": ["a"], "t": [1], "sum": [1.0]})
    with pytest.raises(ValueError, match=r"lack the column\(s\) shop of the history; add them"):
        EntityHistory("shop", "t").fit(rows)
    made = EntityHistory("card", "t", windows=(1,)).fit(rows)
    with pytest.raises(ValueError, match="held numbers in fit and holds dates now; convert it"):
        made.transform(rows.assign(t=pd.Timestamp("2024-01-01")))
    with pytest.raises(ValueError, match="held numbers in fit and holds dates now; convert it"):
        made.partial_fit(rows.assign(t=pd.Timestamp("2024-01-01")))
    with pytest.raises(ValueError, match="times are numbers, so windows must be a number"):
        EntityHistory("card", "t").fit(rows).transform(rows)
    with pytest.raises(ValueError, match="times must be finite"):
        made.transform(rows.assign(t=np.nan))


@pytest.mark.skipif(not REAL.exists(), reason="the Handbook's payments are not on this machine")
def test_numbers_are_those_of_the_handbook() -> None:
    names = ["TX_DATETIME", "CUSTOMER_ID", "TERMINAL_ID", "TX_AMOUNT", "TX_FRAUD"]
    windows = {"1d": "1DAY", "7d": "7DAY", "30d": "30DAY"}
    columns = [f"CUSTOMER_ID_{kind}_{w}_WINDOW" for w in windows.values() for kind in ("NB_TX", "AVG_AMOUNT")]
    columns += [f"TERMINAL_ID_{kind}_{w}_WINDOW" for w in windows.values() for kind in ("NB_TX", "RISK")]
    payments = pd.read_parquet(REAL, columns=names + columns)
    for entity in ("CUSTOMER_ID", "TERMINAL_ID"):
        rows = payments[payments[entity].astype(int) < 100]
        made = EntityHistory(entity, "TX_DATETIME", "TX_AMOUNT", delay="7d").fit(rows, rows["TX_FRAUD"])
        found = pd.DataFrame(made.transform(rows), columns=made.get_feature_names_out(), index=rows.index)
        for ours, theirs in windows.items():
            # The Handbook counts the payment itself, and its windows are closed at the other end.
            if entity == "CUSTOMER_ID":
                count = found[f"{entity}: rows in {ours}"] + 1
                total = found[f"{entity}: mean of TX_AMOUNT in {ours}"].fillna(0) * (count - 1) + rows["TX_AMOUNT"]
                assert (count == rows[f"{entity}_NB_TX_{theirs}_WINDOW"]).mean() > 0.999
                same = np.isclose(total / count, rows[f"{entity}_AVG_AMOUNT_{theirs}_WINDOW"], rtol=1e-4)
            else:
                rate = found[f"{entity}: positive rate in {ours}"].fillna(0)
                same = np.isclose(rate, rows[f"{entity}_RISK_{theirs}_WINDOW"], atol=1e-6)
            assert same.mean() > 0.999
