"""The bounds are those of linear programs, hold for exact learners, and the envelope is exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import fbeta_score, precision_recall_fscore_support

from scarce.fmeasure import bounds
from scarce.fmeasure.bounds import (
    ErrorProfile,
    certified_bound,
    cones,
    difference_range,
    error_profile,
    f_measure,
    micro_f,
    micro_f_parambath,
    multiclass_error_profile,
    parambath_cones,
    pooled,
    upper_envelope,
)
from tests import naive_fmeasure as naive

BETAS = st.sampled_from([0.5, 1.0, 2.0])


@st.composite
def profiles(draw, rows=60):
    """Draw counts of a table, so that ties, empty cells and perfect classifiers occur."""
    positives = draw(st.integers(1, rows - 1))
    fn, fp = draw(st.integers(0, positives)), draw(st.integers(0, rows - positives))
    return ErrorProfile(fn / rows, fp / rows, positives / rows)


def random_profiles(rng, size, n=40):
    """Profiles of `size` problems with n classifiers each, on 200 rows; one share of positives for each problem."""
    positives = rng.integers(1, 120, size)[:, None]
    fn = rng.integers(0, positives + 1, (size, n))
    fp = rng.integers(0, 200 - positives + 1, (size, n))
    # Classifiers worth having make few false positives.
    fp = np.where(rng.random((size, n)) < 0.7, np.minimum(fp, rng.integers(0, 60, (size, n))), fp)
    return ErrorProfile(fn / 200, fp / 200, np.broadcast_to(positives / 200, (size, n)))


class TestProfiles:
    @given(st.data(), BETAS, st.booleans())
    def test_f_is_that_of_the_counts_and_of_scikit_learn(self, data, beta, weighted):
        n = data.draw(st.integers(2, 30))
        y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
        y[0] = 1
        called = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
        weight = np.arange(1.0, n + 1) if weighted else None
        profile = error_profile(y, called, sample_weight=weight)
        counts = naive.confusion(y, called, np.ones(n) if weight is None else weight)
        total = sum(counts.values())
        assert profile == pytest.approx(
            (counts["fn"] / total, counts["fp"] / total, y @ (weight if weighted else y) / total)
        )
        assert f_measure(profile, beta) == pytest.approx(naive.f_measure(counts, beta))
        expected = fbeta_score(y, called, beta=beta, sample_weight=weight, zero_division=0.0)
        assert f_measure(profile, beta) == pytest.approx(expected)

    @given(profiles(), st.floats(0.01, 0.99), BETAS)
    def test_the_weighted_error_is_linear_in_t(self, profile, t, beta):
        on_fn, on_fp = bounds.class_weights(t, beta)
        left = on_fn * profile.fn + on_fp * profile.fp + (1 + beta**2) * profile.positives * (t - 1)
        assert left == pytest.approx(profile.denominator(beta) * (t - f_measure(profile, beta)), abs=1e-12)

    def test_labels_may_be_words(self):
        assert error_profile(["bad", "ok", "ok"], ["ok", "ok", "bad"], pos_label="bad") == (1 / 3, 1 / 3, 1 / 3)

    def test_no_positive_rows(self):
        with pytest.raises(ValueError, match="needs positive rows"):
            cones(0.5, ErrorProfile(0.0, 0.1, 0.0))


class TestSlopes:
    @given(profiles(), BETAS)
    def test_linear_programs_agree(self, profile, beta):
        least, greatest = difference_range(profile, beta)
        expected = naive.difference_range(*profile, beta)
        assert least == pytest.approx(expected[0], abs=1e-9)
        assert greatest == pytest.approx(expected[1], abs=1e-9)
        one, scale = cones(0.5, profile, beta), profile.denominator(beta)
        difference = profile.fp - profile.fn
        assert one.left[0] == pytest.approx((difference - expected[1]) / scale, abs=1e-9)
        assert one.right[0] == pytest.approx((difference - expected[0]) / scale, abs=1e-9)

    @given(profiles(), BETAS)
    def test_slopes_in_short(self, profile, beta):
        fn, fp, positives = profile
        one, b2 = cones(0.5, profile, beta), beta**2
        assert one.right[0] == pytest.approx(fp / (b2 * positives + fp), abs=1e-12)
        found = positives - fn
        capped = found == 0 or fn * (b2 * positives + fp) / found > profile.negatives - fp
        expected = -(fn + profile.negatives - fp) / profile.denominator(beta) if capped else -fn / found
        assert one.left[0] == pytest.approx(expected, abs=1e-12)

    @given(st.data(), BETAS)
    def test_several_classes_have_the_closed_form_of_two(self, data, beta):
        counts = np.array(data.draw(st.lists(st.integers(1, 9), min_size=3, max_size=5)))
        total = counts.sum()
        wrong = np.array([data.draw(st.integers(0, int(count))) for count in counts])
        shares = counts[1:] / total
        least, greatest = difference_range(ErrorProfile(wrong[1:].sum() / total, wrong[0] / total, shares.sum()), beta)
        expected = naive.multiclass_difference_range(wrong[1:] / total, wrong[0] / total, shares, beta)
        assert (least, greatest) == (pytest.approx(expected[0], abs=1e-9), pytest.approx(expected[1], abs=1e-9))


class TestCertificate:
    """Finite families of classifiers, and learners that find the least weighted error among them."""

    @pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
    @pytest.mark.parametrize("epsilon", [0.0, 0.02])
    def test_no_violation(self, beta, epsilon):
        """Six times 10,000 families, five t each: no classifier has a higher F than the bound."""
        rng = np.random.default_rng(int(beta * 10 + epsilon * 1000))
        family = random_profiles(rng, 10_000)
        best = f_measure(family, beta).max(axis=1)
        lowest = np.full(len(best), np.inf)
        for _ in range(5):
            t = rng.random(len(best))
            on_fn, on_fp = bounds.class_weights(t[:, None], beta)
            error = on_fn * family.fn + on_fp * family.fp
            # Any one within epsilon of the least will do: take the worst of them in F.
            near = error <= error.min(axis=1, keepdims=True) + epsilon
            chosen = np.where(near, f_measure(family, beta), np.inf).argmin(axis=1)
            learned = ErrorProfile(*(share[np.arange(len(best)), chosen] for share in family))
            of = cones(t, learned, beta, epsilon)
            lowest = np.minimum(lowest, of.diagonal())
            assert (parambath_cones(t, learned, beta, epsilon).diagonal() >= best - 1e-12).all()
        assert (lowest >= best - 1e-12).all()
        # A bound that is always 1 would also pass.
        assert np.mean(lowest < best + 0.05) > (0.5 if epsilon == 0 else 0.05)

    def test_proposition_5_3_fails_off_the_diagonal(self):
        """The thesis has the bound at every t; so high a rate of violations shows that it does not hold there."""
        rng = np.random.default_rng(0)
        family = random_profiles(rng, 500)
        violated = 0
        t, other = rng.random((2, 500))
        learned = []
        for where in (t, other):
            on_fn, on_fp = bounds.class_weights(where[:, None])
            chosen = (on_fn * family.fn + on_fp * family.fp).argmin(axis=1)
            learned.append(ErrorProfile(*(share[np.arange(500), chosen] for share in family)))
        of = cones(t, learned[0])
        allowed = np.array([of.at(other[i])[i, 0] for i in range(500)])
        violated = np.count_nonzero(f_measure(learned[1]) > allowed + 1e-9)
        assert violated > 5

    @given(profiles(), st.floats(0.01, 0.99), BETAS, st.floats(0, 0.1))
    def test_diagonal(self, profile, t, beta, epsilon):
        for of in (cones(t, profile, beta, epsilon), parambath_cones(t, profile, beta, epsilon)):
            expected = naive.diagonal(*(part[0] for part in of))
            assert certified_bound(of) == pytest.approx(expected, abs=1e-5)

    @given(st.integers(0, 1000), st.integers(1, 30), st.booleans())
    def test_the_bound_of_several_cones(self, seed, n, theirs):
        rng = np.random.default_rng(seed)
        profile = ErrorProfile(*(share[0] for share in random_profiles(rng, 1, n)))
        of = (parambath_cones if theirs else cones)(rng.random(n), profile)
        t = np.linspace(0, 1, 20_001)
        expected = t[np.minimum(of.at(t).min(axis=0), 1) >= t - 1e-12].max()
        assert certified_bound(of) == pytest.approx(expected, abs=1e-4)

    @given(profiles(), BETAS)
    def test_a_fixed_point_is_optimal(self, profile, beta):
        f = f_measure(profile, beta)
        assert certified_bound(cones(f, profile, beta)) == pytest.approx(f, abs=1e-12)

    def test_the_bound_of_some_cones_is_not_above_that_of_fewer(self):
        family = random_profiles(np.random.default_rng(1), 1, 12)
        profile, t = ErrorProfile(*(share[0] for share in family)), np.linspace(0.05, 0.95, 12)
        values = [certified_bound(cones(t[:n], ErrorProfile(*(share[:n] for share in profile)))) for n in range(1, 13)]
        assert (np.diff(values) <= 0).all()

    @given(st.integers(0, 1000), BETAS)
    def test_pooled_profiles_are_the_best_of_all_at_each_t_and_never_contradicted(self, seed, beta):
        rng = np.random.default_rng(seed)
        profile = ErrorProfile(*(share[0] for share in random_profiles(rng, 1, 6)))
        t = np.round(rng.random(6), 1)
        best = pooled(t, profile, beta)
        for i, where in enumerate(t):
            errors = [(1 + beta**2 - where) * fn + where * fp for fn, fp in zip(profile.fn, profile.fp, strict=True)]
            assert (1 + beta**2 - where) * best.fn[i] + where * best.fp[i] == pytest.approx(min(errors))
        assert certified_bound(cones(t, best, beta)) >= f_measure(profile, beta).max() - 1e-12


class TestEnvelope:
    @given(st.integers(0, 1000), st.integers(1, 8), st.booleans())
    def test_it_is_the_lowest_cone_everywhere(self, seed, n, theirs):
        rng = np.random.default_rng(seed)
        profile = ErrorProfile(*(share[0] for share in random_profiles(rng, 1, n)))
        # Rounded t coincide now and then, with each other and with the ends.
        of = (parambath_cones if theirs else cones)(np.round(rng.random(n), 1), profile)
        envelope = upper_envelope(of)
        t = np.concatenate((np.linspace(0, 1, 101), envelope.t))
        expected = [naive.envelope(where, of) for where in t]
        np.testing.assert_allclose(envelope.at(t), expected, atol=1e-12)
        assert envelope.maximum == pytest.approx(max(expected), abs=1e-12)
        assert (np.diff(envelope.t) >= 0).all()
        fine = np.linspace(0, 1, 4001)
        assert envelope.area == pytest.approx(np.trapezoid(envelope.at(fine), fine), abs=1e-3)
        assert certified_bound(of) <= envelope.maximum + 1e-12

    def test_ours_is_nowhere_above_parambaths(self):
        family = random_profiles(np.random.default_rng(3), 50, 5)
        for i in range(50):
            profile, t = ErrorProfile(*(share[i] for share in family)), np.linspace(0.1, 0.9, 5)
            grid = np.linspace(0, 1, 101)
            ours, theirs = upper_envelope(cones(t, profile)), upper_envelope(parambath_cones(t, profile))
            assert (ours.at(grid) <= theirs.at(grid) + 1e-12).all()

    def test_no_cone_is_no_bound(self):
        empty = cones(np.empty(0), ErrorProfile(np.empty(0), np.empty(0), np.empty(0)))
        assert upper_envelope(empty).area == certified_bound(empty) == 1


class TestMicroF:
    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40), BETAS)
    def test_both_definitions(self, pairs, beta):
        truth, called = np.array([(1, 1), *pairs]).T
        confusion = np.zeros((4, 4))
        np.add.at(confusion, (truth, called), 1)
        right = confusion.diagonal()[1:].sum()
        missed, false = confusion[1:].sum() - right, confusion[0, 1:].sum()
        expected = (1 + beta**2) * right / ((1 + beta**2) * right + beta**2 * missed + false)
        assert micro_f_parambath(truth, called, default_class=0, beta=beta) == pytest.approx(expected)
        usual = precision_recall_fscore_support(
            truth, called, beta=beta, labels=[1, 2, 3], average="micro", zero_division=0.0
        )[2]
        assert micro_f(truth, called, default_class=0, beta=beta) == pytest.approx(usual)
        assert micro_f(truth, called, default_class=0, beta=beta) <= expected + 1e-12

    def test_two_classes_are_a_case_of_several(self):
        rng = np.random.default_rng(0)
        y, called, weight = rng.integers(0, 2, 50), rng.integers(0, 2, 50), rng.random(50)
        two = error_profile(y, called, sample_weight=weight)
        assert two == pytest.approx(multiclass_error_profile(y, called, default_class=0, sample_weight=weight))
