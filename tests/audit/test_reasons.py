import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scarce.occlusion import contributions
from scarce.tables import Column, Usual, summarise_columns
from tests import naive

COLUMNS = [Column("paid", "number"), Column("shop", "category"), Column("day", "date")]


def frame_of(paid: np.ndarray, shop: list[str], days: np.ndarray) -> pd.DataFrame:
    day = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D"), dtype="datetime64[us]")
    return pd.DataFrame({"paid": paid, "shop": pd.Series(shop, dtype=str), "day": day})


def added_by(score, frame: pd.DataFrame, usual: dict[str, Usual]) -> np.ndarray:
    return contributions(score, frame, [usual[name].weighted(frame[name].dtype) for name in frame])


def score(frame: pd.DataFrame) -> np.ndarray:
    paid = frame["paid"].fillna(-3).to_numpy()
    at_a = (frame["shop"] == "a").to_numpy()
    return np.tanh(paid / 10 + at_a * paid / 5) + frame["day"].dt.day.to_numpy() / 10


@settings(max_examples=15)
@given(
    arrays(float, 4, elements=st.one_of(st.floats(-20, 20), st.just(np.nan))),
    st.lists(st.sampled_from("abc"), min_size=4, max_size=4),
    arrays(np.int64, 4, elements=st.integers(0, 60)),
    st.integers(1, 5),
)
def test_contributions_equal_the_slow_ones(paid, shop, days, size) -> None:
    frame = frame_of(paid, shop, days)
    usual = summarise_columns(frame, COLUMNS, size)
    for column in usual.values():
        assert sum(column.weights) == pytest.approx(1)
    np.testing.assert_allclose(
        added_by(score, frame, usual), naive.column_contributions(score, frame, usual), atol=1e-12
    )


@given(arrays(float, 30, elements=st.floats(-100, 100)), st.floats(-3, 3))
def test_a_linear_score_is_explained_by_the_distance_from_the_usual(paid, slope) -> None:
    frame = pd.DataFrame({"paid": paid})
    usual = summarise_columns(frame, COLUMNS[:1], size=30)
    added = added_by(lambda f: slope * f["paid"].to_numpy(), frame, usual)
    np.testing.assert_allclose(added[:, 0], slope * (paid - paid.mean()), atol=1e-9)


def test_a_column_that_the_score_ignores_adds_nothing() -> None:
    frame = frame_of(np.arange(5.0), list("abcab"), np.arange(5))
    added = added_by(lambda f: f["paid"].to_numpy(), frame, summarise_columns(frame, COLUMNS))
    np.testing.assert_allclose(added[:, 1:], 0, atol=1e-12)
