"""The random share of a queue, and the estimate of what was missed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.audit import AuditError
from scarce.audit.explore import draw, estimate_missed, inclusion_chances, plan_exploration
from scarce.audit.queue import choose_queue
from scarce.audit.settings import BudgetPlan


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(1, 40))
def test_chances_add_up_and_follow_the_root_of_the_probability(values: list[float], size: int) -> None:
    probability = np.array(values)
    chance = inclusion_chances(probability, size)
    assert chance.sum() == pytest.approx(min(size, len(values)))
    assert (chance > 0).all()
    assert (chance <= 1 + 1e-12).all()
    some = (chance < 1 - 1e-12) & (probability > 1e-6)
    if some.any():
        ratio = chance[some] / np.sqrt(probability[some])
        np.testing.assert_allclose(ratio, ratio[0])
    assert len(draw(chance, 0)) == len(set(draw(chance, 0))) == min(size, len(values))


def test_every_row_is_drawn_as_often_as_its_chance() -> None:
    chance = inclusion_chances(np.array([0.9, 0.5, 0.1, 0.01, 0.3, 0.05]), 3)
    drawn = np.zeros(6)
    for seed in range(3_000):
        drawn[draw(chance, seed)] += 1
    np.testing.assert_allclose(drawn / 3_000, chance, atol=4 * np.sqrt(0.25 / 3_000))


def test_the_estimate_of_missed_positives_is_unbiased_and_its_interval_covers() -> None:
    """Scores that are wrong by half do not bias it: only the chances count."""
    rng = np.random.default_rng(0)
    truth_chance = rng.beta(0.3, 6, 2_000)
    positive = rng.random(2_000) < truth_chance
    chance = inclusion_chances(truth_chance * rng.uniform(0.2, 1.8, 2_000), 120)
    estimates, covered = [], 0
    for seed in range(400):
        rows = draw(chance, seed)
        missed = estimate_missed(positive[rows], chance[rows])
        estimates.append(missed.estimate)
        covered += missed.low <= positive.sum() <= missed.high
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert np.mean(estimates) == pytest.approx(positive.sum(), abs=4 * error)
    assert covered >= 0.83 * 400
    # The plan foresees the spread of the estimate, from probabilities alone.
    plan = plan_exploration(truth_chance, chance, None)
    assert plan.drawn == 120
    assert plan.expected_missed == pytest.approx(truth_chance.sum())
    foreseen = 0.25 * plan.expected_missed * np.sqrt(plan.rounds)
    assert foreseen == pytest.approx(np.std(estimates), rel=0.35)


def test_no_hit_gives_an_upper_end_and_mistakes_have_sentences() -> None:
    nothing = estimate_missed([False] * 10, [0.02] * 10)
    assert nothing.estimate == nothing.low == 0
    # With 115 missed ones and a chance of 2 % each, nine of ten draws would have found one.
    assert nothing.high == pytest.approx(np.log(10) / 0.02)
    with pytest.raises(AuditError, match="Give a verdict and a chance for each drawn row"):
        estimate_missed([True], [0.1, 0.2])
    with pytest.raises(AuditError, match="greater than 0 and at most 1"):
        estimate_missed([True], [0.0])


def test_weeks_are_counted_from_the_period_of_the_budget() -> None:
    probability = np.full(1_000, 0.01)
    chance = inclusion_chances(probability, 20)
    for period, words in {None: "queues like this one", "day": "weeks of it", "month": "weeks of it"}.items():
        assert words in plan_exploration(probability, chance, period).sentence


def test_the_random_share_is_outside_of_what_the_score_chooses() -> None:
    rng = np.random.default_rng(1)
    score = rng.random(300)
    period = np.repeat([4, 5, 6], 100)
    groups = np.tile(np.arange(50), 6)
    for groups_given in (None, groups):
        chosen, chance = choose_queue(score, score, BudgetPlan(10, "day"), 0.2, period, groups_given, 0)
        assert len(chosen) == len(set(chosen)) == 30
        by_score = chance[chosen] == 1
        assert by_score.tolist() == ([True] * 8 + [False] * 2) * 3
        assert (np.diff(period[chosen]) >= 0).all()
        for day in (4, 5, 6):
            inside = chosen[period[chosen] == day]
            assert len(inside) == 10
            assert chance[period == day].sum() == pytest.approx(10)
            if groups_given is not None:
                assert len(set(groups[inside])) == 10
    whole, chance = choose_queue(score, score, BudgetPlan(10), 0.0, None, None, 0)
    assert whole.tolist() == np.argsort(-score)[:10].tolist()
    assert chance.sum() == 10
