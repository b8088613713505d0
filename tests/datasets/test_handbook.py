"""The Handbook's payments: the file, how to get it, and the split against a slow twin."""

import subprocess
import sys
from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.datasets import DatasetUnavailable, handbook_split, info, load
from scarce.datasets._handbook import FEATURES
from tests.conftest import ROOT
from tests.naive_time import handbook

REAL = ROOT.parent / "shared" / "data" / "handbook_payments.parquet"
NAME = "handbook-payments"
START = pd.Timestamp("2018-04-01")


def payments(days, fraud, customers):
    """Payments with the columns of the published table, on numbered days and at any hour."""
    rng = np.random.default_rng(0)
    n = len(days)
    times = START + pd.to_timedelta(np.asarray(days), "D") + pd.to_timedelta(rng.integers(0, 86_400, n), "s")
    frame = pd.DataFrame({"TRANSACTION_ID": np.arange(n), "TX_DATETIME": times, "CUSTOMER_ID": customers})
    features = pd.DataFrame(rng.uniform(0, 100, (n, len(FEATURES))).astype(np.float32), columns=FEATURES)
    return frame.assign(TERMINAL_ID=0, TX_FRAUD=np.asarray(fraud, dtype=np.int8), **features)


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    return payments(np.sort(rng.integers(0, 30, 400)), rng.random(400) < 0.1, rng.integers(0, 40, 400))


@pytest.fixture
def folder(frame, tmp_path, monkeypatch):
    frame.to_parquet(tmp_path / "handbook_payments.parquet")
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path))
    return tmp_path


def test_load(frame, folder):
    assert info(NAME).available
    bunch = load(NAME)
    pd.testing.assert_frame_equal(bunch.frame, frame)
    assert bunch.feature_names == list(FEATURES)
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    np.testing.assert_array_equal(bunch.data, frame[list(FEATURES)])
    np.testing.assert_array_equal(bunch.target, frame["TX_FRAUD"])
    np.testing.assert_array_equal(bunch.times, frame["TX_DATETIME"])
    np.testing.assert_array_equal(bunch.groups, frame["CUSTOMER_ID"])
    np.testing.assert_array_equal(bunch.amount, frame["TX_AMOUNT"])
    assert "400 rows, 15 features" in bunch.DESCR
    by_path = load(NAME, scale="standard", path=folder / "handbook_payments.parquet")
    np.testing.assert_allclose(by_path.data.mean(axis=0), 0, atol=1e-12)
    pd.testing.assert_frame_equal(by_path.frame, frame)


def test_numbers_that_pandas_keeps_as_objects(frame, folder):
    """The published pickles have whole numbers in columns of objects."""
    frame.astype({"CUSTOMER_ID": object, "TX_FRAUD": object}).to_parquet(folder / "handbook_payments.parquet")
    assert load(NAME).groups.dtype.kind == "i"


@pytest.mark.parametrize("set_", [False, True])
def test_without_the_file_one_sentence_names_the_ways(tmp_path, monkeypatch, set_):
    if set_:
        monkeypatch.setenv("SCARCE_DATA", str(tmp_path))
    else:
        monkeypatch.delenv("SCARCE_DATA", raising=False)
    assert not info(NAME).available
    with pytest.raises(DatasetUnavailable) as caught:
        load(NAME)
    message = str(caught.value)
    for way in ("Fraud-Detection-Handbook/simulated-data-transformed", "pandas.concat", "path=", "SCARCE_DATA"):
        assert way in message
    assert ". " not in message
    assert (str(tmp_path) in message) == set_


def test_the_recipe_of_the_message_makes_the_file(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path))
    with pytest.raises(DatasetUnavailable) as caught:
        load(NAME)
    (tmp_path / "data").mkdir()
    for day, rows in frame.groupby(frame["TX_DATETIME"].dt.date):
        rows.to_pickle(tmp_path / "data" / f"{day}.pkl")
    message = str(caught.value)
    recipe = message[message.index("pandas.concat") : message.index(", and pass path=")]
    exec(f"import glob, pandas; {recipe}", {})
    pd.testing.assert_frame_equal(load(NAME).frame, frame)


def test_a_wrong_file(frame, folder):
    file = folder / "handbook_payments.parquet"
    frame.drop(columns=["CUSTOMER_ID", "TX_AMOUNT"]).to_parquet(file)
    with pytest.raises(ValueError, match=r"lacks the column\(s\) TX_AMOUNT, CUSTOMER_ID; use the original"):
        load(NAME)
    file.write_text("TX_AMOUNT,CUSTOMER_ID")
    with pytest.raises(ValueError, match="cannot be read"):
        load(NAME)


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_without_pandas_or_pyarrow_the_extra_is_named(folder, package):
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from scarce.datasets import load\n"
        "try:\n    load('handbook-payments')\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 'pip install "scarce[audit]"' in done.stdout


@st.composite
def tables(draw):
    n = draw(st.integers(1, 40))
    column = [draw(st.lists(st.integers(0, high), min_size=n, max_size=n)) for high in (14, 1, 4)]
    return [np.array(values) for values in column]


@given(tables(), st.integers(0, 3), st.integers(1, 3), st.integers(0, 3), st.integers(1, 3))
def test_is_the_slow_twin(table, start, train, delay, test):
    days, fraud, customers = table
    expected = handbook(days, fraud, customers, start, train, delay, test)
    lengths = {"train": f"{train}d", "delay": timedelta(days=delay), "test": f"{test * 24}h"}
    frame, first = payments(days, fraud, customers), START + pd.Timedelta(start, "D")
    if days.min() <= start and days.max() >= start + train + delay + test - 1 and all(expected):
        found = handbook_split(frame, first, **lengths)
        assert [part.tolist() for part in found] == list(expected)
    else:
        with pytest.raises(ValueError, match=r"This split needs payments|has no (training|test) rows"):
            handbook_split(frame, first, **lengths)


def test_frames_and_dates_of_any_kind(frame):
    expected = handbook_split(frame, "2018-04-03")
    for start in (date(2018, 4, 3), np.datetime64("2018-04-03"), pd.Timestamp("2018-04-03 13:00")):
        for kind in (pl.DataFrame, pa.Table.from_pandas, lambda frame: frame.set_index("TRANSACTION_ID")):
            for found, part in zip(handbook_split(kind(frame), start), expected, strict=True):
                np.testing.assert_array_equal(found, part)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "soon"}, "start must be a date"),
        ({"start": None}, "start must be a date"),
        (
            {"start": "2018-03-31"},
            "from 2018-03-31 to 2018-04-20, and the frame has them from 2018-04-01",
        ),
        ({"start": "2018-04-20"}, "to 2018-05-10, and the frame has them from 2018-04-01 to 2018-04-30"),
        ({"train": 7}, 'write train as "7d"'),
        ({"delay": "12h"}, "delay must be whole days"),
    ],
)
def test_bad_parameters(frame, options, message):
    with pytest.raises(ValueError, match=message):
        handbook_split(frame, **{"start": "2018-04-01", **options})


def test_bad_frames(frame):
    with pytest.raises(ValueError, match=r"needs the column\(s\) CUSTOMER_ID, TX_FRAUD"):
        handbook_split(frame[["TX_DATETIME"]], "2018-04-01")
    with pytest.raises(ValueError, match="on no day"):
        handbook_split(frame[:0], "2018-04-01")
    with pytest.raises(ValueError, match="TX_DATETIME must hold dates"):
        handbook_split(frame.assign(TX_DATETIME=0), "2018-04-01")


@pytest.mark.skipif(not REAL.exists(), reason="the Handbook's payments are not on this machine")
def test_the_published_payments():
    # Only the columns that are needed: the whole file takes longer.
    frame = pq.read_table(REAL, columns=["TX_DATETIME", "CUSTOMER_ID", "TX_FRAUD"])
    assert frame.num_rows == info(NAME).rows == 1_102_483
    train, test = handbook_split(frame, "2018-05-01")
    fraud, day = frame["TX_FRAUD"].to_numpy(), frame["TX_DATETIME"].to_numpy().astype("datetime64[D]")
    assert fraud.sum() == info(NAME).positives == 8_867
    near = (day >= np.datetime64("2018-05-01")) & (day < np.datetime64("2018-05-22"))
    rows = np.flatnonzero(near)
    number = (day[rows] - np.datetime64("2018-05-01")).astype(int)
    twin = handbook(number.tolist(), fraud[rows].tolist(), frame["CUSTOMER_ID"].to_numpy()[rows].tolist(), 0)
    np.testing.assert_array_equal(train, rows[twin[0]])
    np.testing.assert_array_equal(test, rows[twin[1]])
    assert (len(train), len(test)) == (67_208, 58_101)
