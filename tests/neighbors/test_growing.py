"""The warning and the invariance of the rules with grown neighbourhoods or balls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.neighbors import KENN, KRNN, PNN


def test_growing_warns_of_too_few_positives():
    for rule in (KRNN(2), PNN(3)):
        with pytest.warns(UserWarning, match="needs 2 positive rows, and there are 1"):
            rule.fit([[0.0], [1.0], [2.0], [3.0]], [1, 0, 0, 0])


@settings(max_examples=10)
@given(offset=st.sampled_from([0.0, 1e4, -1e6]), scale=st.sampled_from([1e-6, 1.0, 1e6]))
@pytest.mark.parametrize("rule", [KRNN, PNN, KENN], ids=lambda rule: rule.__name__)
def test_decisions_do_not_depend_on_where_and_how_large_the_table_is(rule, offset, scale):
    # Whole numbers, so that moving and scaling by powers of two is exact.
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 50, (120, 3)).astype(float), (np.arange(120) % 6 == 0).astype(int)
    moved = (X + np.round(offset)) * 2.0 ** np.round(np.log2(scale))
    np.testing.assert_array_equal(rule().fit(moved, y).predict(moved), rule().fit(X, y).predict(X))
