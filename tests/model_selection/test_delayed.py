"""DelayedTimeSplit against a slow twin, in scikit-learn, and with every kind of times."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from scarce.model_selection import DelayedTimeSplit
from tests.naive_time import handbook

START = np.datetime64("2018-04-01T00:00:00")


def naive(days, y, groups, *, n_splits, train, delay, test, step, drop):
    """Split rows that happen on numbered days, row by row and day by day."""
    last = max(days)
    for later in reversed(range(n_splits)):
        first_test_day = last + 1 - test - step * later
        train_rows, test_rows = [], []
        for row, day in enumerate(days):
            # The outcomes of a day are known `delay` days after it has ended.
            known_from = day + 1 + delay
            if known_from <= first_test_day and (train is None or day >= first_test_day - delay - train):
                train_rows.append(row)
            if first_test_day <= day < first_test_day + test:
                known = [
                    other
                    for other in range(len(days))
                    if y[other] == 1 and groups[other] == groups[row] and days[other] + 1 + delay <= day
                ]
                if not (drop and known):
                    test_rows.append(row)
        yield train_rows, test_rows


@st.composite
def tables(draw):
    n = draw(st.integers(1, 40))
    days = draw(st.lists(st.integers(0, 20), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    groups = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    return days, y, groups


@settings(max_examples=200, deadline=None)
@given(
    tables(),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(1, 6)),
    st.integers(0, 4),
    st.integers(1, 4),
    st.one_of(st.none(), st.integers(1, 5)),
    st.booleans(),
    st.booleans(),
)
def test_is_the_slow_twin(table, n_splits, train, delay, test, step, drop, dated):
    days, y, groups = table
    expected = list(
        naive(days, y, groups, n_splits=n_splits, train=train, delay=delay, test=test, step=step or test, drop=drop)
    )

    def length(days):
        return None if days is None else f"{days}d" if dated else days

    # A day's rows happen at any hour of it.
    hours = np.random.default_rng(0).integers(0, 86_400, len(days))
    times = START + np.array(days, "timedelta64[D]") + hours.astype("timedelta64[s]") if dated else np.array(days)
    splitter = DelayedTimeSplit(
        n_splits,
        train=length(train),
        delay=length(delay),
        test=length(test),
        step=length(step),
        known_positive_groups="drop" if drop else "keep",
    )
    X = np.zeros((len(days), 1))
    if all(train and test for train, test in expected):
        found = [(a.tolist(), b.tolist()) for a, b in splitter.split(X, y, groups, times)]
        assert found == expected
    else:
        with pytest.raises(ValueError, match=r"has no (training|test) rows"):
            list(splitter.split(X, y, groups, times))


@settings(max_examples=50, deadline=None)
@given(tables(), st.integers(0, 3))
def test_is_the_protocol_of_the_handbook(table, start):
    days, y, groups = (np.array(column) for column in table)
    inside = (days >= start) & (days < start + 8)
    expected = handbook(days, y, groups, start, train=3, delay=3, test=2)
    splitter = DelayedTimeSplit(1, train=3, delay=3, test=2, known_positive_groups="drop")
    if not (expected[0] and expected[1] and (days == start + 7).any()):
        return
    rows = np.flatnonzero(inside)
    [(train, test)] = splitter.split(rows, y[rows], groups[rows], days[rows])
    assert rows[train].tolist() == expected[0]
    assert rows[test].tolist() == expected[1]


def test_durations_below_a_day_do_not_wait_for_midnight():
    times = START + np.arange(0, 48, 6).astype("timedelta64[h]")  # every six hours
    [(train, test)] = DelayedTimeSplit(1, train="12h", delay=timedelta(hours=6), test="12h").split(times, times=times)
    # Test from just after hour 30; outcomes of hour 24 are known at 30, those of hour 30 are not.
    assert times[test].tolist() == (START + np.array([36, 42], "timedelta64[h]")).tolist()
    assert times[train].tolist() == (START + np.array([18, 24], "timedelta64[h]")).tolist()


@pytest.mark.parametrize(
    "convert",
    [
        pd.Series,
        lambda t: pd.Series(t).dt.tz_localize("Europe/Paris"),
        pd.DatetimeIndex,
        lambda t: pl.Series(t.astype("datetime64[us]")),
        lambda t: [pd.Timestamp(m).to_pydatetime() for m in t],
        lambda t: t.astype(str),
        lambda t: t.astype("datetime64[D]"),
    ],
)
def test_dates_of_any_kind(convert):
    times = START + np.arange(40).astype("timedelta64[D]") + np.timedelta64(13, "h")
    expected = [(a.tolist(), b.tolist()) for a, b in DelayedTimeSplit(2).split(times, times=times)]
    found = [(a.tolist(), b.tolist()) for a, b in DelayedTimeSplit(2).split(times, times=convert(times))]
    assert found == expected == [(list(range(12, 19)), list(range(26, 33))), (list(range(19, 26)), list(range(33, 40)))]


def test_the_order_of_rows_does_not_matter():
    times = np.arange(60) // 2
    order = np.random.default_rng(0).permutation(60)
    splitter = DelayedTimeSplit(3, train=5, delay=2, test=4)
    for (a, b), (c, d) in zip(
        splitter.split(times, times=times), splitter.split(order, times=times[order]), strict=True
    ):
        assert sorted(order[c]) == a.tolist()
        assert sorted(order[d]) == b.tolist()


def test_works_in_cross_validate():
    rng = np.random.default_rng(0)
    X, y, times = rng.normal(size=(300, 2)), rng.integers(0, 2, 300), START + np.arange(300).astype("timedelta64[D]")
    splitter = DelayedTimeSplit(3, train="60d", delay="7d", test="30d", known_positive_groups="drop")
    groups = np.arange(300)
    with config_context(enable_metadata_routing=True):
        routed = cross_validate(
            LogisticRegression(), X, y, cv=splitter, params={"times": times, "groups": groups}, return_indices=True
        )
    assert [len(test) for test in routed["indices"]["test"]] == [30, 30, 30]
    plain = cross_validate(LogisticRegression(), X, y, cv=list(splitter.split(X, y, groups, times)))
    np.testing.assert_array_equal(plain["test_score"], routed["test_score"])
    assert splitter.get_n_splits() == 3
    assert "delay='7d'" in repr(splitter)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_splits": 0}, "n_splits must be a whole number"),
        ({"train": 7}, 'write train as "7d"'),
        ({"test": "soon"}, 'such as "7d"'),
        ({"test": "0d"}, "test must be longer than 0"),
        ({"delay": timedelta(days=-1)}, "delay must be 0 or more"),
        ({"known_positive_groups": "forget"}, "'keep' or 'drop'"),
        ({"known_positive_groups": "drop"}, "needs y and groups"),
    ],
)
def test_bad_parameters(params, message):
    times = START + np.arange(60).astype("timedelta64[D]")
    with pytest.raises(ValueError, match=message):
        list(DelayedTimeSplit(**params).split(times, times=times))


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (None, "needs times"),
        (["a", "b"], "must be dates or numbers"),
        ([datetime(2018, 1, 1), None], "must not be missing"),
        ([1.0, np.nan], "must be finite"),
    ],
)
def test_bad_times(times, message):
    with pytest.raises(ValueError, match=message):
        list(DelayedTimeSplit(1).split([[0], [1]], times=times))


def test_text_durations_are_refused_for_numbers():
    with pytest.raises(ValueError, match="must be a number in their unit"):
        list(DelayedTimeSplit().split([[0], [1]], times=[1, 2]))
