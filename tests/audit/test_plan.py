"""The methods that are compared, by objective and size."""

import pytest

from scarce.audit.methods import METHODS, PLANS, Size
from scarce.audit.plan import make_plan, threshold_for
from scarce.objectives import Budget, Profit
from scarce.tables import Column

COLUMNS = [Column("x", "number")]
SMALL, LARGE = Size(2_000, 50, 3, 0), Size(60_000, 900, 3, 0)


def keys(objective: str, size: Size = SMALL, **options: object) -> list[str]:
    return [c.key for c in make_plan(objective, COLUMNS, size, 0.1, **options).candidates]


def test_each_objective_has_its_threshold() -> None:
    assert threshold_for("ap", 0.1) == threshold_for("f1", 0.1) == "f1"
    assert threshold_for("gmean", 0.1) == "gmean"
    assert threshold_for("budget", 0.1) == Budget(share=0.1)
    assert threshold_for("budget", 7.0) == Budget(share=1.0)
    assert isinstance(threshold_for("profit", 0.1), Profit)


@pytest.mark.parametrize("objective", ["ap", "budget", "f1", "gmean"])
def test_the_rivals_are_always_compared(objective: str) -> None:
    rivals = {"extra-trees", "random-forest", "lightgbm", "logistic"}
    ours = {"meta-ap-forest", "ranking-forest"} if objective in ("ap", "budget") else {"gfrnn", "cone-logistic"}
    for size in (SMALL, LARGE):
        assert rivals | ours | {"gamma-knn"} <= set(keys(objective, size))


def test_a_method_for_small_tables_is_left_out_of_large_ones_with_a_sentence() -> None:
    assert set(keys("ap")) - set(keys("ap", LARGE)) == {"me2"}
    remarks = make_plan("ap", COLUMNS, LARGE, 0.1).remarks
    assert remarks == ["ME² was not tried on a table of this size; ask for it by name (`methods`)."]
    assert "me2" in keys("ap", LARGE, methods=["me2", "logistic"])


@pytest.mark.parametrize("objective", PLANS)
def test_quick_takes_the_three_cheapest(objective: str) -> None:
    quick, all_of_them = keys(objective, quick=True), keys(objective)
    assert len(quick) == 3
    most = max(METHODS[key].effort for key in quick)
    assert all(METHODS[key].effort >= most for key in set(all_of_them) - set(quick))


def test_profit_is_a_matter_of_profit_methods() -> None:
    assert keys("profit") == ["bayes", "profit-forest", "profit-boosting", "profit-tree"]
    assert keys("profit", methods=["lightgbm", "bayes"]) == ["lightgbm", "bayes"]
