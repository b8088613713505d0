"""The payments of the IEEE-CIS competition, from a file that the user has."""

import numpy as np
import pandas as pd
import pytest

from scarce.datasets import DatasetUnavailable, _catalogue, info, load
from scarce.datasets._ieee_cis import FEATURES, IEEE_CIS


def make_file(folder, **changes):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, len(FEATURES))), columns=list(FEATURES))
    frame.insert(0, "TransactionDT", np.arange(86_400, 86_440))
    frame.insert(0, "isFraud", (np.arange(40) % 10 == 0).astype(int))
    frame["ProductCD"] = "W"  # a column of words, which is not read
    frame.loc[::2, "V95"] = np.nan
    frame.assign(**changes).to_csv(folder / "train_transaction.csv", index=False)
    return frame


def test_the_columns_of_numbers_are_read_in_the_order_of_time(tmp_path, monkeypatch):
    frame = make_file(tmp_path)
    record = type(IEEE_CIS)("ieee-cis", 40, len(FEATURES), 4, IEEE_CIS.sources, "x", extras=IEEE_CIS.extras)
    monkeypatch.setitem(_catalogue.CATALOGUE, "ieee-cis", record)
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path))
    bunch = load("ieee-cis")
    np.testing.assert_allclose(bunch.data, frame[list(FEATURES)])
    np.testing.assert_array_equal(bunch.target, frame["isFraud"])
    np.testing.assert_array_equal(bunch.times, frame["TransactionDT"])
    np.testing.assert_allclose(bunch.amount, frame["TransactionAmt"])
    assert "TransactionDT" not in bunch.feature_names
    assert info("ieee-cis").available


def test_another_file_is_refused_in_one_sentence(tmp_path, monkeypatch):
    make_file(tmp_path)
    with pytest.raises(
        ValueError, match="it has 40 rows, 106 features and 4 positives, and the catalogue expects 590540"
    ):
        load("ieee-cis", path=tmp_path / "train_transaction.csv")
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    with pytest.raises(DatasetUnavailable, match=r"take the file train_transaction\.csv of the competition"):
        load("ieee-cis")
