"""Gains of a table, and what precision costs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.audit import AuditError
from scarce.audit.money import GIVEN_UP, gains_of_table, precision_menu
from scarce.audit.settings import Settings
from scarce.audit.task import learnable
from tests import naive_audit


def test_gains_are_amounts_caught_less_the_cost_of_checks() -> None:
    settings = Settings("fraud", objective="profit", amount="amount", check_cost=5)
    gains, sentences = gains_of_table(settings, pd.DataFrame(index=range(2)), np.array([100.0, 0.0]))
    assert gains.tolist() == [[95, -5, 0, 0], [-5, -5, 0, 0]]
    assert sentences == []
    # A row without an amount cannot teach when to check.
    assert learnable(gains).tolist() == [[95, -5, 0, 0], [0, 0, 0, 0]]
    assert gains_of_table(Settings("fraud"), pd.DataFrame(), None) == (None, [])


def test_gains_are_expressions_of_columns_and_constants() -> None:
    table = pd.DataFrame({"amount": [100.0, 20.0, -3.0]})
    settings = Settings("fraud", objective="profit", gains={"fn": "-0.8*amount", "fp": "-zeta", "zeta": "5"})
    gains, sentences = gains_of_table(settings, table, None)
    np.testing.assert_allclose(gains, [[0, -5, 0, -80], [0, -5, 0, -16], [0, -5, 0, 2.4]])
    assert sentences == []
    nothing = Settings("fraud", objective="profit", gains={"fn": "-amount", "fp": 0.0})
    gains, sentences = gains_of_table(nothing, table, None)
    assert gains.tolist() == [[0, 0, 0, -100], [0, 0, 0, -20], [0, 0, 0, 0]]
    assert sentences == ["Rows whose right decision earns nothing, which count nowhere: 1."]
    for given_gains, message in (
        ({"fn": "-price"}, "'price', which is neither a constant nor a column"),
        ({"fn": "__import__('os')"}, "is not allowed"),
        ({"fn": "-amount", "zeta": 3}, "No outcome uses the constant zeta"),
        ({"fn": 0.0}, "The gains are 0 in every row"),
    ):
        with pytest.raises(AuditError, match=message):
            gains_of_table(Settings("fraud", objective="profit", gains=given_gains), table, None)


@given(
    st.lists(
        st.tuples(st.floats(0.01, 0.99), st.booleans(), st.integers(-5, 60), st.integers(-20, -1)),
        min_size=1,
        max_size=25,
    )
)
def test_the_menu_is_that_of_all_prices(rows: list[tuple[float, bool, int, int]]) -> None:
    probability = np.array([row[0] for row in rows])
    y = np.array([int(row[1]) for row in rows])
    gains = np.array([[float(tp), float(fp), 0.0, 0.0] for _, _, tp, fp in rows])
    menu = precision_menu(probability, y, gains)
    price = probability * gains[:, 0] / (1 - probability) + gains[:, 1]
    if not y.any() or (price <= 0).all():
        assert menu == []
        return
    assert menu[0].given_up == 0
    for entry in menu[1:]:
        share = min(s for s in GIVEN_UP if entry.given_up <= s * abs(menu[0].profit) + 1e-6)
        assert entry.precision == pytest.approx(naive_audit.menu(probability, y, gains, share))
        # The price leads to exactly these rows.
        assert (price > entry.value).sum() == entry.flagged
    assert [entry.precision for entry in menu] == sorted(entry.precision for entry in menu)
