"""Queues of tested rows, and the figures within the true budget."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.audit.blocks import Blocks, first_of_blocks, make_blocks, make_period_blocks, make_units, shares_checked
from scarce.audit.figures import _average_precision, _within_budget
from scarce.audit.folds import Folds
from scarce.audit.queue import choose_rows
from scarce.metrics import average_precision, group_precision_at_k
from tests import naive_audit


def folds_of(parts: list[int]) -> Folds:
    ends = np.cumsum([5, *parts])
    return Folds([(np.arange(5), np.arange(a, b)) for a, b in pairwise(ends)], True, "")


@given(st.lists(st.integers(1, 60), min_size=1, max_size=5), st.integers(1, 70), st.integers(1, 20))
def test_blocks_are_as_large_as_the_rows_to_rank(parts: list[int], rows_to_rank: int, checks: int) -> None:
    checks = min(checks, rows_to_rank)
    blocks = make_blocks(folds_of(parts), rows_to_rank, checks)
    block, budget = naive_audit.blocks(parts, rows_to_rank, checks)
    assert blocks.block.tolist() == block
    assert blocks.budget.tolist() == budget
    sizes = np.bincount(blocks.block[blocks.block >= 0], minlength=len(budget))
    # A block has the whole budget exactly if it is as large as the rows to rank.
    assert (blocks.budget[sizes == rows_to_rank] == checks).all()
    assert (sizes <= rows_to_rank).all()
    assert abs(blocks.budget.sum() - checks * sum(parts) / rows_to_rank) <= 1


def test_the_ieee_case_is_measured_at_200_checks_and_not_at_933() -> None:
    """35,000 rows of known outcome, 5,000 to rank: each tested part has a block of 5,000 rows with 200 checks."""
    blocks = make_blocks(folds_of([5_833, 5_833, 5_834, 5_833]), 5_000, 200)
    sizes = np.bincount(blocks.block)
    assert sorted(zip(sizes, blocks.budget, strict=True))[4:] == [(5_000, 200)] * 4
    assert "4 blocks of 5,000 tested rows, as many as there are to rank, with 200 checks each" in blocks.description
    assert "4 smaller blocks with their share of the budget, 133 checks" in blocks.description


@st.composite
def rows_of_blocks(draw: st.DrawFn) -> dict[str, list]:
    n = draw(st.integers(2, 40))
    return {
        "score": draw(st.lists(st.integers(0, 6).map(float), min_size=n, max_size=n)),
        "truth": draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)),
        "money": draw(st.lists(st.integers(0, 9).map(float), min_size=n, max_size=n)),
        "block": draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)),
        "budget": draw(st.lists(st.integers(0, 8), min_size=3, max_size=3)),
        "group": draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)),
    }


@given(rows_of_blocks(), st.booleans())
def test_figures_within_the_budget_are_those_of_each_block_added_up(rows: dict[str, list], distinct: bool) -> None:
    if max(rows["block"]) < 0:
        return
    blocks = Blocks(np.array(rows["block"]), np.array(rows["budget"]), np.arange(3), "")
    group = rows["group"] if distinct else None
    units = make_units(
        np.array(rows["score"]),
        np.array(rows["truth"]),
        np.array(rows["money"]),
        blocks,
        None if group is None else np.array(group),
    )
    figures = _within_budget(units, blocks, units.weight)
    expected = naive_audit.within_budget(
        rows["score"], rows["truth"], rows["money"], rows["block"], rows["budget"], group
    )
    assert figures == pytest.approx(expected)
    # The rows that are taken are those whose share is 1, and some of those that share.
    taken, share = first_of_blocks(units, blocks.budget), shares_checked(units, blocks.budget)
    assert taken[share == 1].all()
    assert not taken[share == 0].any()
    sizes = np.bincount(units.block, minlength=3)
    assert np.bincount(units.block[taken], minlength=3).tolist() == np.minimum(sizes, rows["budget"]).tolist()


@given(rows_of_blocks(), st.lists(st.integers(0, 4), min_size=40, max_size=40))
def test_a_row_that_counts_twice_is_two_rows(rows: dict[str, list], times: list[int]) -> None:
    count = np.array(times[: len(rows["score"])])
    rows["block"] = [max(block, 0) for block in rows["block"]]
    blocks = Blocks(np.array(rows["block"]), np.array(rows["budget"]), np.arange(3), "")
    arrays = [np.array(rows[name]) for name in ("score", "truth", "money")]
    units = make_units(*arrays, blocks, weight=count.astype(float))
    twice = [np.repeat(a, count) for a in arrays]
    if not count.any():
        return
    repeated = Blocks(np.repeat(blocks.block, count), blocks.budget, np.arange(3), "")
    again = make_units(*twice, repeated)
    assert _within_budget(units, blocks, units.weight) == pytest.approx(_within_budget(again, repeated, again.weight))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(1, 3)), min_size=2, max_size=30))
def test_average_precision_with_weights_is_that_of_repeated_rows(rows: list[tuple[int, int, int]]) -> None:
    rank, truth, times = (np.array(column) for column in zip(*rows, strict=True))
    if not 0 < truth.sum() < len(truth):
        return
    found = _average_precision(rank.astype(float), truth)(times.astype(float))
    assert found == pytest.approx(average_precision(np.repeat(truth, times), np.repeat(rank, times)))


def test_periods_are_blocks_and_as_many_of_them_as_to_rank_are_like_the_queue() -> None:
    period = np.repeat([9, 1, 2, 3, 4, 5], [5, 3, 2, 4, 1, 6])
    blocks = make_period_blocks(folds_of([9, 7]), period, 2, 2, "day")
    assert blocks.block.tolist() == np.repeat([0, 1, 2, 3, 4], [3, 2, 4, 1, 6]).tolist()
    assert blocks.budget.tolist() == [2, 2, 2, 1, 2]
    # Two days are to be ranked: from the end of each part, two days make a queue.
    assert blocks.like_queue.tolist() == [1, 0, 0, 2, 2]
    assert blocks.description == "Figures within the budget are of 5 tested days with 2 checks each."


@given(rows_of_blocks())
def test_the_first_distinct_groups_are_those_of_the_metric(rows: dict[str, list]) -> None:
    score = np.arange(len(rows["score"]), dtype=float)[::-1]
    chosen = choose_rows(score, 3, None, np.array(rows["group"]))
    assert len(chosen) == min(3, len(set(rows["group"])))
    truth = np.array(rows["truth"])
    if len(chosen) == 3:
        positive = {g for g, t in zip(rows["group"], truth, strict=True) if t}
        hits = sum(rows["group"][row] in positive for row in chosen)
        assert hits / 3 == pytest.approx(group_precision_at_k(truth, score, rows["group"], k=3, pos_label=1))


def test_each_period_of_the_queue_has_its_budget() -> None:
    score = np.array([0.1, 0.9, 0.5, 0.4, 0.8, 0.7])
    period = np.array([1, 1, 1, 2, 2, 2])
    assert choose_rows(score, 2, period, None).tolist() == [1, 2, 4, 5]
    assert choose_rows(score, 2, None, None).tolist() == [1, 4]
    # Of equal scores those come first that come first among the rows.
    assert choose_rows(np.array([1.0, 2.0, 2.0, 2.0]), 2, None, None).tolist() == [1, 2]
