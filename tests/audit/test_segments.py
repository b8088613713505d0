"""Figures by period and by segment."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from scarce.audit.segments import by_period, by_segment, weak_spots
from scarce.tables import Column


@pytest.fixture
def tested():
    rng = np.random.default_rng(0)
    n = 2_000
    X = pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "east"], n),
            "size": rng.lognormal(size=n),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
        }
    )
    y = (rng.random(n) < 0.1).astype(int)
    return X, y, rng.random(n) < np.where(y == 1, 0.6, 0.05)


COLUMNS = [Column("region", "category"), Column("size", "number"), Column("since", "date")]


def test_every_row_is_in_one_segment_of_each_column(tested):
    X, y, queued = tested
    X.iloc[:50, 1] = np.nan
    segments = by_segment(X, COLUMNS, y, queued)
    for column in COLUMNS:
        own = [s for s in segments if s.column == column.name]
        assert sum(s.rows for s in own) == len(y)
        assert sum(s.positives for s in own) == y.sum()
        assert sum(s.queued for s in own) == queued.sum()
        assert sum(s.hits for s in own) == (y & queued).sum()
    assert [s.name for s in segments if s.column == "size"][-1] == "empty"


def test_figures_of_a_segment(tested):
    X, y, queued = tested
    north = next(s for s in by_segment(X, COLUMNS, y, queued) if s.name == "north")
    rows = (X["region"] == "north").to_numpy()
    assert north.precision == y[rows & queued].mean()
    assert north.recall == queued[rows & (y == 1)].mean()
    assert north.false_positive_rate == queued[rows & (y == 0)].mean()
    low, high = north.interval("recall")
    assert low < north.recall < high


def test_no_weak_spot_is_found_where_there_is_none(tested):
    X, y, queued = tested
    assert weak_spots(by_segment(X, COLUMNS, y, queued), queued[y == 1].mean()) == []


def test_a_weak_spot_is_found(tested):
    X, y, queued = tested
    south = (X["region"] == "south").to_numpy()
    queued = queued & ~(south & (y == 1) & (np.random.default_rng(1).random(len(y)) < 0.7))
    segments = by_segment(X, COLUMNS, y, queued)
    found = weak_spots(segments, queued[y == 1].mean())
    assert [(s.column, s.name) for s in found] == [("region", "south")]
    hits, positives = found[0].hits, found[0].positives
    others, found_elsewhere = int((y & ~south).sum()), int((y & ~south & queued).sum())
    p = fisher_exact([[hits, positives - hits], [found_elsewhere, others - found_elsewhere]]).pvalue
    assert p <= found[0].p_value <= p * len(segments)


def test_rare_values_share_a_segment_and_quarters_need_not_be_four():
    X = pd.DataFrame({"code": [str(i % 40) for i in range(400)], "flag": [0.0] * 390 + [1.0] * 10})
    y, queued = np.zeros(400, int), np.zeros(400, bool)
    segments = by_segment(X, [Column("code", "category"), Column("flag", "number")], y, queued)
    assert len([s for s in segments if s.column == "code"]) == 13
    assert [(s.name, s.rows) for s in segments if s.column == "flag"] == [("up to 0", 390), ("above 0, up to 1", 10)]
    assert segments[0].precision is segments[0].recall is segments[0].interval("recall") is None


def test_periods(tested):
    _, y, queued = tested
    period = np.repeat([0, 1], 1_000)
    first, second = by_period(["May", "June"], period, y, queued)
    assert (first.name, first.rows, first.hits) == ("May", 1_000, int((y & queued)[:1_000].sum()))
    assert second.positives == y[1_000:].sum()
