"""The searches: CONE's sequence as in its authors' program, and the guarantee of each on exact learners."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.fmeasure._search import SEARCHES, new_search
from scarce.fmeasure.bounds import ErrorProfile, cones, f_measure, upper_envelope
from tests import naive_fmeasure as naive


def profile_of(confusion):
    (tn, fp), (fn, tp) = confusion
    rows = tn + fp + fn + tp
    return ErrorProfile(fn / rows, fp / rows, (fn + tp) / rows)


class Family:
    """A finite family of classifiers whose learner is exact."""

    def __init__(self, seed, beta=1.0, n=200):
        rng = np.random.default_rng(seed)
        self.beta, self.positives = beta, rng.uniform(0.02, 0.4)
        # Near a curve of false positives against false negatives, so that many are the best for some weights.
        missed = rng.random(n)
        false_positives = (1 - missed) ** rng.uniform(2, 8) + 0.1 * rng.random(n)
        self.fn, self.fp = missed * self.positives, np.clip(false_positives, 0, 1) * (1 - self.positives)

    def fit(self, t):
        best = np.argmin((1 + self.beta**2 - t) * self.fn + t * self.fp)
        return ErrorProfile(self.fn[best], self.fp[best], self.positives)

    @property
    def best(self):
        return f_measure(ErrorProfile(self.fn, self.fp, self.positives), self.beta).max()


def run(search, fit, batch=1):
    while asked := search.ask(batch):
        for t in asked:
            search.record(t, fit(t))
    return search


@pytest.fixture(scope="module")
def traces(golden):
    # A second kind of run, without cones in the file, rounds the plane to 2,000 points.
    return [trace for trace in json.loads((golden / "cone_traces.json").read_text()) if trace["cone"][0]]


class TestGolden:
    def test_the_same_sequence(self, traces):
        """Left to itself the search tries the same t in the same order, and ends where theirs ends.

        In three of the 18 runs peaks are equally high, of which rounding errors choose there: see the next test.
        """
        same = 0
        for trace in traces:
            errors = dict(zip(trace["t"], map(profile_of, trace["conf_train"]), strict=True))
            search = new_search("cone", 19)
            while (asked := search.ask()) and asked[0] in errors:
                search.record(asked[0], errors[asked[0]])
            same += search.tried == trace["t"]
            if trace["classif"] != "exact_threshold":
                assert search.tried == trace["t"]
        assert len(traces) == 18
        assert same >= 15

    def test_where_sequences_part_peaks_are_equal_in_whole_fractions(self, traces):
        """So that no rule can choose as theirs does, but one that repeats the rounding errors of their arithmetic."""
        parted = 0
        for trace in traces:
            search = new_search("cone", 20)
            for i, (t, confusion) in enumerate(zip(trace["t"], trace["conf_train"], strict=True)):
                search.record(t, profile_of(confusion))
                ours, theirs = search.ask()[:1], trace["next_t"][i]
                if not ours or ours[0] == theirs:
                    continue
                parted += 1
                peaks = naive.exact_peaks(trace["t"][: i + 1], trace["conf_train"][: i + 1])
                of = {(a + b) / 2: peak for (a, b), peak in peaks.items()}
                assert of[ours[0]] == of[theirs] == max(peaks.values())
        assert parted > 0

    def test_every_step_is_to_the_highest_peak(self, traces):
        """With the errors of the authors' program, each of its steps halves an interval whose peak is the highest."""
        for trace in traces:
            search = new_search("cone", 20)
            for i, (t, confusion) in enumerate(zip(trace["t"], trace["conf_train"], strict=True)):
                search.record(t, profile_of(confusion))
                following = trace["next_t"][i]
                ends = np.sort([0, 1, *search.tried])
                at = np.searchsorted(ends, following)
                assert following == (ends[at - 1] + ends[at]) / 2
                inside = search.envelope.t
                inside = inside[(inside >= ends[at - 1]) & (inside <= ends[at])]
                highest = search.envelope.at([*inside, ends[at - 1], ends[at]]).max()
                assert highest == pytest.approx(search.envelope.maximum, abs=1e-10)
                assert search.envelope.maximum == pytest.approx(min(1, trace["max_fm"][i]), abs=1e-10)

    def test_f_and_slopes(self, traces):
        for trace in traces:
            for t, confusion, theirs in zip(trace["t"], trace["conf_train"], trace["cone"], strict=True):
                one = cones(t, profile_of(confusion))
                assert one.height[0] == pytest.approx(theirs[0], abs=1e-12)
                # Their program adds a little to denominators.
                assert (one.left[0], one.right[0]) == pytest.approx((theirs[2], theirs[3]), rel=1e-6, abs=1e-9)


class TestExactLearners:
    @pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
    def test_dinkelbach_finds_the_best_in_few_models(self, beta):
        for seed in range(100):
            family = Family(seed, beta)
            search = run(new_search("dinkelbach", 19, beta), family.fit)
            assert max(search.f) == pytest.approx(family.best, abs=1e-12)
            assert len(search.tried) <= 7

    @pytest.mark.parametrize("name", ["cone", "bisection"])
    def test_they_come_close_in_19_models(self, name):
        lost = [(f := Family(seed)).best - max(run(new_search(name, 19), f.fit).f) for seed in range(60)]
        assert max(lost) < 0.01

    @given(st.integers(0, 500), st.sampled_from(sorted(SEARCHES)), st.integers(1, 5))
    def test_no_t_is_tried_twice_and_the_budget_is_kept(self, seed, name, batch):
        search = run(new_search(name, 9), Family(seed, n=20).fit, batch)
        assert 1 <= len(search.tried) <= 9
        assert len(set(search.tried)) == len(search.tried)
        assert all(0 < t < 1 for t in search.tried)

    @given(st.integers(0, 500))
    def test_the_kept_envelope_is_that_of_all_cones(self, seed):
        family = Family(seed, n=20)
        search = run(new_search("cone", 9, epsilon=0.01), family.fit)
        profile = ErrorProfile(*np.array([family.fit(t) for t in search.tried]).T)
        again = upper_envelope(cones(search.tried, profile, epsilon=0.01))
        t = np.linspace(0, 1, 57)
        np.testing.assert_allclose(search.envelope.at(t), again.at(t), atol=1e-12)


def test_a_grid_is_spaced_evenly():
    assert run(new_search("grid", 4), Family(0).fit, 3).tried == [0.125, 0.375, 0.625, 0.875]


def test_batches_go_to_different_places():
    assert new_search("cone", 19).ask(3) == [0.5, 0.25, 0.75]
    assert new_search("bisection", 19).ask(3) == [0.25, 0.5, 0.75]
    assert new_search("dinkelbach", 19).ask(3) == [0.5]
    assert len(new_search("cone", 2).ask(3)) == 2


def test_models_that_are_always_right_teach_nothing_so_the_interval_is_filled_evenly():
    search = new_search("cone", 7)
    tried = run(search, lambda t: ErrorProfile(0.0, 0.0, 0.1)).tried
    np.testing.assert_allclose(np.sort(tried), np.arange(1, 8) / 8)


@pytest.mark.parametrize("name", sorted(SEARCHES))
def test_failures_are_passed_over(name):
    family = Family(4)
    search = new_search(name, 12)
    while asked := search.ask():
        failed = len(search.tried) in (0, 2)
        search.record(asked[0], None if failed else family.fit(asked[0]))
    assert len(search.tried) > 3
    assert len(set(search.tried)) == len(search.tried)
    assert np.nanmax(search.f) > 0.9 * family.best


def test_dinkelbach_climbs_from_a_model_that_finds_nothing():
    """All rows called negative is F = 0, whose weights would be useless; all called positive is the next best guess."""
    search = new_search("dinkelbach", 5, floor=2 * 0.1 / 1.1)
    search.record(0.5, ErrorProfile(0.1, 0.0, 0.1))
    assert search.ask() == [pytest.approx(2 * 0.1 / 1.1)]


@pytest.mark.parametrize("name", sorted(SEARCHES))
def test_no_search_tries_more_models_than_it_may(name):
    assert len(run(new_search(name, 2), Family(3).fit).tried) == 2
