"""Every objective finds the best of all thresholds: compared with trying each threshold in turn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce import objectives as ob
from tests import naive

OBJECTIVES = [
    ob.FBeta(1),
    ob.FBeta(0.5),
    ob.FBeta(2),
    ob.GMean(),
    ob.BalancedAccuracy(),
    ob.ClassWeightedAccuracy(0.7),
    ob.Jaccard(),
    ob.MCC(),
    ob.PrecisionAtLeast(0.4),
    ob.RecallAtLeast(0.6),
    ob.Budget(rows=3),
    ob.Budget(share=0.3),
    ob.Budget(rows=2, distinct=True),
    ob.Budget(share=0.5, distinct=True),
    ob.Profit(),
]


@st.composite
def scored(draw):
    """Scores with many ties, both classes, weights (some 0), gains and periods."""
    n = draw(st.integers(2, 14))
    levels = draw(st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=6))
    scores = draw(st.lists(st.sampled_from(levels), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda v: 0 < sum(v) < n))
    weight = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    gains = draw(st.lists(st.lists(st.integers(-9, 9), min_size=4, max_size=4), min_size=n, max_size=n))
    period, groups = (draw(st.lists(st.sampled_from(names), min_size=n, max_size=n)) for names in ("ab", "xyz"))
    weight, gains = np.array(weight, dtype=float), np.array(gains, dtype=float)
    return np.array(scores), np.array(y), weight, gains, period, np.array(groups)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@given(case=scored(), weighted=st.booleans(), by_period=st.booleans())
def test_best_of_all_thresholds(objective, case, weighted, by_period):
    scores, y, weight, gains, period, groups = case
    if not weighted or not weight[y == 1].sum() or not weight[y == 0].sum():
        weight = np.ones(len(y))
    extra = {}
    if isinstance(objective, ob.Profit):
        extra["gains"] = gains
    if isinstance(objective, ob.Budget) and by_period:
        extra["period"] = period
    if isinstance(objective, ob.Budget) and objective.distinct:
        extra["groups"] = groups
    tried = {t: naive.objective_value(objective, scores, y, t, weight, **extra) for t in naive.every_threshold(scores)}
    allowed = {t: v for t, v in tried.items() if v is not None}

    curve = objective.curve(scores, y, weight, **extra)
    assert len(curve.threshold) == len(tried)
    for threshold, value in zip(curve.threshold, curve.value, strict=True):
        expected = naive.objective_value(objective, scores, y, threshold, weight, **extra)
        assert np.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-9)

    if not allowed:
        with pytest.raises(ValueError, match="cannot be met"):
            objective.best_threshold(scores, y, weight, **extra)
        return
    best = objective.best_threshold(scores, y, weight, **extra)
    assert best.value == pytest.approx(max(allowed.values()), abs=1e-9)
    assert best.value == pytest.approx(
        naive.objective_value(objective, scores, y, best.threshold, weight, **extra), abs=1e-9
    )
    assert (best.tp, best.fp, best.tn, best.fn) == pytest.approx(naive.confusion(scores, y, best.threshold, weight))


@pytest.mark.parametrize("objective", OBJECTIVES[:-1], ids=repr)
@given(case=scored(), seed=st.integers(0, 99))
def test_row_order_does_not_matter(objective, case, seed):
    scores, y, *_, groups = case
    order = np.random.default_rng(seed).permutation(len(y))
    extra = {"groups": groups} if getattr(objective, "distinct", False) else {}
    moved = {name: values[order] for name, values in extra.items()}
    before, after = objective.curve(scores, y, **extra), objective.curve(scores[order], y[order], **moved)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


@given(case=scored(), low=st.floats(-6, 6), width=st.floats(0.1, 6))
def test_thresholds_stay_between(case, low, width):
    scores, y, *_ = case
    high = low + width
    curve = ob.FBeta(1).curve(scores, y, between=(low, high))
    reachable = [t for t in curve.threshold if not np.isnan(t)]
    assert all(low < t <= high for t in reachable)
    # Every decision that some threshold of a fine grid makes is there.
    grid = np.concatenate((np.linspace(low, high, 50)[1:], scores[(scores > low) & (scores <= high)]))
    wanted = {int((scores > t).sum()) for t in grid}
    assert wanted <= {int((scores > t).sum()) for t in reachable}


def test_a_narrow_interval_below_all_scores_holds_its_threshold():
    assert ob.FBeta(1).best_threshold([1.0, 1.0], [0, 1], between=(0.0, 0.25)).threshold == 0.25


def test_threshold_is_midway_and_strict_where_scores_are_adjacent_floats():
    low = 0.1
    high = np.nextafter(low, 1)
    best = ob.FBeta(1).best_threshold([low, high], [0, 1])
    assert best.value == 1.0
    assert low <= best.threshold < high
    assert ob.FBeta(1).best_threshold([0.2, 0.6], [0, 1]).threshold == pytest.approx(0.4)


def test_ties_between_cuts_prefer_fewer_checks_but_a_budget_is_used():
    scores, y = [4.0, 3.0, 2.0, 1.0], [1, 0, 0, 0]
    assert ob.RecallAtLeast(1).best_threshold(scores, y).threshold == 3.5
    assert ob.Budget(rows=3).best_threshold(scores, y).threshold == 1.5
    assert ob.Budget(share=0.75).best_threshold(scores, y).threshold == 1.5


def test_impossible_floor_says_what_can_be_reached():
    with pytest.raises(ValueError, match=r"highest precision that any threshold of these scores reaches is 0\.5"):
        ob.PrecisionAtLeast(0.9).best_threshold([0.9, 0.8, 0.1], [0, 1, 0])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("f1", ob.FBeta(1)),
        ("f2", ob.FBeta(2)),
        ("f0.5", ob.FBeta(0.5)),
        ("gmean", ob.GMean()),
        ("mcc", ob.MCC()),
        ("jaccard", ob.Jaccard()),
        ("balanced_accuracy", ob.BalancedAccuracy()),
    ],
)
def test_names(name, expected):
    assert ob.get_objective(name) == expected
    assert ob.get_objective(expected) is expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ob.get_objective("f-one"), "'f-one' is not an objective"),
        (lambda: ob.FBeta(0), "beta must be a number greater than 0"),
        (lambda: ob.FBeta("one"), "beta must be a number"),
        (lambda: ob.Budget(rows=0), "rows must be a whole number of at least 1"),
        (lambda: ob.Budget(rows=0.5), "rows must be a whole number"),
        (lambda: ob.Budget(share=1.5), "at most 1"),
        (lambda: ob.Budget(), "either a number of rows or a share"),
        (lambda: ob.Budget(rows=1, share=0.1), "either a number of rows or a share"),
        (lambda: ob.Budget(rows=1, distinct=True).best_threshold([1, 2], [0, 1]), "needs groups"),
        (lambda: ob.Budget(rows=1).best_threshold([1, 2], [0, 1], groups=[1, 1]), "does not count groups"),
        (
            lambda: ob.Budget(rows=5).best_threshold(np.arange(2000), np.arange(2000) % 2, period=np.arange(2000)),
            r"period has 2,000 values for 2,000 rows.*datetime64\[D\]",
        ),
        (lambda: ob.PrecisionAtLeast(1.2), "precision must be a number greater than 0 and at most 1"),
        (lambda: ob.FBeta(1).best_threshold([1, np.nan], [0, 1]), "finite"),
        (lambda: ob.FBeta(1).best_threshold([1, 2], [0, 0]), "rows of both classes"),
        (lambda: ob.FBeta(1).best_threshold([1, 2], [0, 1], [1, 0]), "a weight above 0"),
        (lambda: ob.FBeta(1).best_threshold([1, 2], [0, 1], [1, -1]), "sample_weight must hold 2 non-negative numbers"),
        (lambda: ob.FBeta(1).best_threshold([1, 2], [2, 3]), "y must hold booleans"),
        (lambda: ob.FBeta(1).best_threshold([1, 2, 3], [0, 1]), "inconsistent numbers"),
        (lambda: ob.FBeta(1).best_threshold([1, 2], [0, 1], gains=[1, 1, 1, 1]), "only Profit does"),
        (lambda: ob.FBeta(1).best_threshold([1, 2], [0, 1], period=[1, 1]), "only Budget does"),
        (lambda: ob.Profit().best_threshold([1, 2], [0, 1]), "Profit needs gains"),
        (lambda: ob.Profit([1, 2, 3]).best_threshold([1, 2], [0, 1]), "four columns"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_constant_gains_equal_gains_for_each_row():
    scores, y = np.arange(6.0), np.array([0, 1, 0, 0, 1, 1])
    constant = ob.Profit([10, -1, 0, -10]).best_threshold(scores, y)
    assert constant == ob.Profit().best_threshold(scores, y, gains=np.tile([10, -1, 0, -10], (6, 1)))
    assert constant.value == 30 - 2
