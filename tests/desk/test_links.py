"""The verdicts of the last days by entity, and the weights that they have."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from scarce.desk.links import STEPS, LinkCounts, LinkWeights, fit_weights
from scarce.desk.memory import START
from tests.naive_memory import naive_correction, naive_counts, naive_penalised_loss

ENTITIES = [("card", "a"), ("card", "b"), ("shop", "a"), ("shop", "c")]
WINDOW = 5

entities = st.lists(st.sampled_from(ENTITIES), max_size=3)
verdicts = st.lists(st.tuples(st.integers(0, 6), entities, st.booleans(), st.integers(0, 12)), max_size=15)
rising = st.tuples(*[st.floats(0, 3)] * 3)


def contents(counts: LinkCounts) -> dict:
    return {entity: (counts.of(entity), counts.latest(entity)) for entity in ENTITIES}


@given(verdicts, st.integers(0, 20))
def test_counts_are_those_of_counting_anew(given_, now):
    """Of several verdicts about a case the last one given counts."""
    counts, known = LinkCounts(WINDOW), {}
    for case, own, positive, at in given_:
        counts.decide(case, own, positive, at)
        known[case] = case, own, positive, at
    counts.advance(now)
    for entity in ENTITIES:
        assert counts.of(entity) == naive_counts(known.values(), entity, now, WINDOW)


@given(verdicts, st.randoms(), st.integers(0, 20))
def test_the_order_in_which_verdicts_come_does_not_matter(given_, random, now):
    known = list({verdict[0]: verdict for verdict in given_}.values())
    one, other = LinkCounts(WINDOW), LinkCounts(WINDOW)
    for verdict in known:
        one.decide(*verdict)
    random.shuffle(known)
    # Time may have moved on before some of them come.
    other.advance(now)
    for verdict in known:
        other.decide(*verdict)
    one.advance(now)
    assert contents(one) == contents(other)


@given(verdicts, st.integers(100, 110), entities, st.booleans(), st.integers(0, 12))
def test_a_verdict_that_is_withdrawn_leaves_nothing(given_, case, own, positive, at):
    counts = LinkCounts(WINDOW)
    for verdict in given_:
        counts.decide(*verdict)
    before = contents(counts)
    touched = counts.decide(case, own, positive, at)
    assert touched == set(own) == counts.withdraw(case)
    assert contents(counts) == before


@given(verdicts, st.integers(0, 20))
def test_only_touched_entities_change(given_, now):
    counts = LinkCounts(WINDOW)
    for verdict in given_:
        before = contents(counts)
        touched = counts.decide(*verdict)
        assert {entity for entity in ENTITIES if contents(counts)[entity] != before[entity]} <= touched
    before = contents(counts)
    touched = counts.advance(now)
    assert {entity for entity in ENTITIES if contents(counts)[entity] != before[entity]} <= touched


@given(rising, rising, st.integers(0, 9), st.integers(0, 9))
def test_corrections_are_sums_of_steps(confirmed, cleared, n_confirmed, n_cleared):
    weights = LinkWeights(confirmed, tuple(-w for w in cleared))
    added = weights.add(n_confirmed, n_cleared)
    assert added == pytest.approx(naive_correction(weights, n_confirmed, n_cleared))
    many = weights.correction(np.array([[n_confirmed, n_cleared], [0, 0]]))
    assert many.tolist() == [added, 0.0]


def history(seed: int = 0, n: int = 4000):
    """Draw cases whose outcome depends on the log-odds, on confirmed cards and on nothing else."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-2, 1.5, n)
    counts = rng.poisson(0.4, (n, 2, 2))
    logit = log_odds + 1.5 * (counts[:, 0, 0] >= 1) - 0.8 * (counts[:, 1, 1] >= 1)
    outcome = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    return log_odds, counts, outcome


def test_weights_are_those_of_the_history():
    (card, shop), others = fit_weights(*history(), [START, START], penalty=1.0)
    assert card.confirmed[0] == pytest.approx(1.5, abs=0.3)
    assert sum(shop.cleared[:1]) == pytest.approx(-0.8, abs=0.3)
    assert abs(shop.confirmed[0]) < 0.3
    assert len(others) == 0


def test_weights_keep_their_signs_whatever_the_history_says():
    log_odds, counts, outcome = history()
    # The cards of cleared cases are fraudulent, and those of confirmed ones are not.
    for weights in fit_weights(log_odds, counts[:, :, ::-1], outcome, [START, START], penalty=1.0)[0]:
        assert min(weights.confirmed) >= 0
        assert max(weights.cleared) <= 0


@pytest.mark.parametrize("outcome", [[], [0, 0, 0], [1, 1, 1]])
def test_without_a_history_of_both_outcomes_weights_are_those_they_start_from(outcome):
    n = len(outcome)
    weights, others = fit_weights(
        np.zeros(n), np.zeros((n, 2, 2), int), np.array(outcome), [START, START], others=np.zeros((n, 1))
    )
    assert weights == [START, START]
    assert others.tolist() == [0.0]


def test_few_cases_move_the_weights_little():
    log_odds, counts, outcome = history(n=8)
    for weights in fit_weights(log_odds, counts, outcome, [START, START])[0]:
        np.testing.assert_allclose(weights.confirmed, START.confirmed, atol=0.6)


def test_the_weights_are_at_the_minimum_of_the_penalised_loss():
    log_odds, counts, outcome = history(n=120)
    weights, _ = fit_weights(log_odds, counts, outcome, [START, START], penalty=2.0, signed=False)

    def loss(line, weights):
        # In units of the outcome's log-odds the weights are larger by the slope.
        both = [(own.confirmed, own.cleared) for own in weights]
        scaled = [LinkWeights(*(tuple(line[0] * w for w in part) for part in parts)) for parts in both]
        return naive_penalised_loss(log_odds, counts, outcome, [START, START], 2.0, *line, scaled)

    best = minimize(loss, [1.0, 0.0], args=(weights,), method="Nelder-Mead")
    for column, place, off in product(range(2), range(len(STEPS)), (-0.1, 0.1)):
        moved = list(weights)
        confirmed = list(moved[column].confirmed)
        confirmed[place] += off
        moved[column] = LinkWeights(tuple(confirmed), moved[column].cleared)
        assert loss(best.x, moved) > best.fun
