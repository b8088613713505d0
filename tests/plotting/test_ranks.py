"""The display of critical differences: right ranks and groups, drawn where it says."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib.figure import Figure
from scipy.stats import rankdata, studentized_range

from scarce.plotting import CriticalDifferenceDisplay
from scarce.study.statistics import rank_methods

NAMES = ["forest", "chance", "GammaKNN", "boosting", "GFRNN"]


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    return rng.normal([0.7, 0.2, 0.8, 0.78, 0.6], 0.1, (30, 5))


def naive_groups(ranks, names, n_sets, alpha):
    """All largest sets of methods of which no two are further apart than the critical difference."""
    k = len(ranks)
    limit = studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n_sets))
    fits = [
        set(group)
        for size in range(2, k + 1)
        for group in combinations(range(k), size)
        if max(ranks[i] for i in group) - min(ranks[i] for i in group) <= limit
    ]
    largest = [group for group in fits if not any(group < other for other in fits)]
    return {frozenset(names[i] for i in group) for group in largest}


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(2, 5)), elements=st.integers(0, 3)),
    st.sampled_from([0.05, 0.2]),
)
def test_groups_are_those_of_the_slow_twin(scores, alpha):
    ranks = rankdata(-scores, axis=1).mean(axis=0)
    display = CriticalDifferenceDisplay(ranks, names=NAMES[: len(ranks)], n_sets=len(scores), alpha=alpha)
    assert {frozenset(group) for group in display.groups} == naive_groups(ranks, NAMES, len(scores), alpha)


def test_of_scores(scores):
    display = CriticalDifferenceDisplay.from_scores(scores, names=NAMES)
    np.testing.assert_allclose(display.ranks, rank_methods(scores).ranks)
    assert display.critical_difference == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 30)), abs=1e-3)
    assert len(display.artists_["crossbars"]) == len(display.groups)
    written = " ".join(text.get_text() for text in display.artists_["labels"])
    assert all(name in written for name in NAMES)
    for group, bar in zip(display.groups, display.artists_["crossbars"], strict=True):
        ends = sorted(display.ranks[NAMES.index(name)] for name in (group[0], group[-1]))
        assert sorted([bar[0].get_xdata().min(), bar[0].get_xdata().max()]) == pytest.approx(ends)


def test_frames_errors_and_axes(scores):
    ax = Figure().subplots()
    frame = pd.DataFrame(scores, columns=NAMES)
    display = CriticalDifferenceDisplay.from_scores(frame, ax=ax)
    assert display.names == NAMES
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    other = CriticalDifferenceDisplay.from_scores(pl.DataFrame(frame), ax=Figure().subplots(), lower_is_better=True)
    np.testing.assert_allclose(other.ranks, 6 - display.ranks)
    with pytest.raises(ValueError, match="Give names, one for each column"):
        CriticalDifferenceDisplay.from_scores(scores)
    for names in (NAMES[:4], ["forest"] * 5):
        with pytest.raises(ValueError, match="Give each of the 5 methods a name of its own"):
            CriticalDifferenceDisplay.from_scores(scores, names=names)
    with pytest.raises(ValueError, match="Ranking needs finite figures"):
        CriticalDifferenceDisplay.from_scores(np.where(scores > 0.8, np.nan, scores), names=NAMES)
