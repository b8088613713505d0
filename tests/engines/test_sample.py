"""A sample of files: all positives, so many negatives, and weights that add up to the whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce._errors import TableError, UserError
from scarce.audit import audit, save, score_files
from scarce.engines.fragments import find_fragments
from scarce.engines.sample import draw_sample
from tests.naive_ranking import naive_sample
from tests.payments import make_table


def drawn_from(folder, outcomes, size, **options):
    for number, part in enumerate(outcomes):
        frame = pd.DataFrame({"y": pd.array(part, dtype="string"), "row": range(len(part))}).assign(file=number)
        frame.to_parquet(folder / f"{number}.parquet")
    return draw_sample(find_fragments(folder), "y", size, **options)


@given(
    outcomes=st.lists(
        st.lists(st.sampled_from(["0", "0", "0", "0", "1", None]), min_size=1, max_size=40), min_size=1, max_size=3
    ),
    size=st.integers(4, 40),
)
def test_the_sample_has_the_rows_and_the_weights_of_the_naive_one(outcomes, size, tmp_path_factory):
    every = [value for part in outcomes for value in part]
    if every.count("1") > min(size, every.count("0")) or not every.count("1"):
        return
    drawn = drawn_from(tmp_path_factory.mktemp("files"), outcomes, size, seed=3)
    rows, weights = naive_sample(outcomes, size, 3)
    assert list(zip(*(drawn.table.column(n).to_pylist() for n in ("file", "row")), strict=True)) == rows
    assert drawn.weight.tolist() == pytest.approx(weights)
    assert drawn.weight.sum() == pytest.approx(drawn.rows)
    assert (drawn.rows, drawn.positives) == (len(every) - every.count(None), every.count("1"))
    assert drawn.unknown == every.count(None)


def test_a_value_that_is_asked_for_is_positive_however_frequent(tmp_path):
    drawn = drawn_from(tmp_path, [["1"] * 30 + ["0"] * 60], 10, positive="1.0")
    assert (drawn.positives, len(drawn.weight)) == (30, 40)


def test_more_positives_than_are_learned_from_are_refused(tmp_path):
    with pytest.raises(
        TableError, match=r"y = 1 has 30 rows, more than are learned from; raise their number \(`sample`"
    ):
        drawn_from(tmp_path, [["1"] * 30 + ["0"] * 60], 10)


@pytest.fixture(scope="module")
def payments(tmp_path_factory):
    folder = tmp_path_factory.mktemp("payments")
    table = make_table(4_000).drop(columns=["chargeback", "currency"])
    table["fraud"] = table["fraud"].where(np.arange(4_000) % 10 > 0)
    for number in range(4):
        table.iloc[number * 1_000 :][:1_000].to_parquet(folder / f"{number}.parquet")
    return folder


def test_an_audit_of_a_folder_learns_from_a_weighted_sample(payments, tmp_path):
    result = audit(payments, "fraud", budget=20, methods=["logistic"], sample=1_000)
    assert len(result.task.y) == 1_000
    assert result.task.weights(np.arange(1_000)).sum() == pytest.approx(3_600)
    assert "The files have 3,600 rows of known outcome, " in str(result.warnings)
    # A threshold for the sample itself, in which positives are four times as frequent, would call more rows positive.
    save(result, tmp_path / "out")
    found = score_files(tmp_path / "out", payments, top=5, reasons=0, where_empty="fraud")
    assert found.rows == 400
    assert 0 < found.above < 0.12 * 400


def test_what_needs_all_rows_is_refused_for_a_folder(payments):
    with pytest.raises(
        UserError, match=r"learns from a part of its rows, and `distinct` needs all of them; leave it out"
    ):
        audit(payments, "fraud", budget=20, distinct="shop")
