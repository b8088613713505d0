"""Compiled models give the bits of their pipelines, whatever a row holds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from scarce.audit import methods
from scarce.audit.methods import Size
from scarce.audit.plan import make_plan
from scarce.engines import RowError, RowScorer, SavedModel, compile_model
from scarce.tables import Table, TableError, conform, profile_table, read_target, summarise_columns
from tests.naive_engines import same_bits, score_frame, score_one
from tests.payments import make_table

COMPILED = {
    "lightgbm": "ap",
    "logistic": "ap",
    "extra-trees": "ap",
    "random-forest": "f1",
    "meta-ap-forest": "ap",
    "ranking-forest": "ap",
    "bayes": "profit",
    "profit-boosting": "profit",
    "profit-forest": "profit",
    "profit-tree": "profit",
}
ROWS = 400
GAINS = np.array([90.0, -5.0, 0.0, 0.0])


def odd_table() -> pd.DataFrame:
    """The payments, with columns that are written in every way that tables have."""
    rng = np.random.default_rng(1)
    table = make_table(ROWS, seed=5).drop(columns=["chargeback", "currency", "payment"])
    table["fee"] = [f"{1000 + 7 * i:,}".replace(",", ".") + ",50 €" if i % 9 else "" for i in range(ROWS)]
    table["opened"] = pd.to_datetime(rng.integers(0, 9_000, ROWS), unit="D").strftime("%d/%m/%Y")
    table["mcc"] = rng.choice([4011, 5732, 742], ROWS)
    table["member"] = rng.choice(["yes", "Yes ", "no", None], ROWS)
    table["online"] = rng.random(ROWS) < 0.5
    table.loc[::7, "shop"] = None
    return table


@pytest.fixture(scope="module")
def saved() -> Iterator[dict[str, SavedModel]]:
    """A model of each kind, on the same rows."""
    with pytest.MonkeyPatch.context() as patch:
        for name, trees in (("EXTRA_TREES", 30), ("TREES", 30), ("OWN_TREES", 10)):
            patch.setattr(methods, name, trees)
        table = Table.from_frame(odd_table())
        y = read_target(table.frame, "fraud").y
        profile, _ = profile_table(table, "fraud", y)
        columns = profile.features
        assert len(columns) == 10
        X, found = conform(table.frame, columns), {}
        for key, objective in COMPILED.items():
            size = Size(ROWS, int((y == 1).sum()), 3, 0)
            plan = make_plan(objective, columns, size, 0.05, methods=[key])
            gains = {"method__gains": np.tile(GAINS, (ROWS, 1))} if objective == "profit" else {}
            pipeline = plan.candidates[0].model.fit(X, y, **gains)
            usual = summarise_columns(X, columns)
            found[key] = SavedModel(pipeline, columns, list(table.readings), usual, np.empty(0, np.uint64), {})
        yield found


@pytest.fixture(scope="module")
def scorers(saved: dict[str, SavedModel]) -> dict[str, RowScorer]:
    return {key: compile_model(model) for key, model in saved.items()}


def test_all_methods_that_decide_at_once_are_compiled(scorers: dict[str, RowScorer]) -> None:
    assert {key: scorer.because for key, scorer in scorers.items()} == dict.fromkeys(COMPILED, "")


edges = st.sampled_from([0.0, -0.0, 52.345, 3.4028234e38, -3.4028234e38, 1e-45, 1e-35, 16_777_217.0, 33.3333333])
near_edges = edges.flatmap(lambda x: st.sampled_from([x, float(np.nextafter(x, 1)), float(np.float32(x))]))
numbers = st.one_of(
    near_edges,
    st.floats(-1e6, 1e6),
    st.floats(0, 500, width=32),
    st.integers(-(2**60), 2**60),
    st.sampled_from([math.nan, math.inf, "12", " 12.5 ", "-1e3", "", "1,234.5", True]),
    st.none(),
)
words = st.one_of(
    st.sampled_from(["web", " shop", "phone", "S1", "S39", "yes", "YES", "Yes ", "(missing)", "", " ", "\u00a0web"]),
    st.text(max_size=5),
    st.sampled_from([4011, 4011.0, "4011.0", 742.5, True, 10**17, 1e300]),
    st.none(),
)
moments = st.datetimes(pd.Timestamp(1900, 1, 1), pd.Timestamp(2200, 1, 1))
dates = st.one_of(
    moments.map(lambda d: d.isoformat()),
    moments.map(lambda d: d.replace(microsecond=0).isoformat(" ")),
    moments.map(lambda d: d.strftime("%Y-%m-%d")),
    st.sampled_from(["2024-03-01T10:00:00Z", "2024-03-01T10:00:00+05:30", "2024-02-29 23:59", "", "2024-02-30", "x"]),
    st.none(),
)
rows = st.fixed_dictionaries(
    {},
    optional={
        "amount": numbers,
        "age": numbers,
        "channel": words,
        "shop": words,
        "mcc": words,
        "member": words,
        "date": dates,
        "fee": st.one_of(st.floats(0, 1e5), st.sampled_from(["1.234,50 €", "7,5", "1.5", "1e4", None, "?"])),
        "opened": st.one_of(st.sampled_from(["28/02/1997", "1/2/2003", "2003-01-02", None]), dates),
        "online": st.sampled_from([True, False, "true", "FALSE", 1, 0, None, 1.0, "maybe"]),
        "a column of no model": numbers,
    },
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(row=rows)
@example(row={})
@example(row={"amount": 1e300, "age": 1e300})
def test_a_row_has_the_bits_of_the_pipeline(
    row: dict, saved: dict[str, SavedModel], scorers: dict[str, RowScorer]
) -> None:
    for key, scorer in scorers.items():
        try:
            expected = score_one(saved[key], row)
        except (TableError, ValueError):
            with pytest.raises(RowError):
                scorer.score_row(row)
            continue
        assert same_bits(scorer.score_row(row), expected), key


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batch=st.lists(rows, min_size=1, max_size=9))
def test_rows_have_the_bits_of_the_same_rows_alone(batch: list[dict], scorers: dict[str, RowScorer]) -> None:
    for key, scorer in scorers.items():
        try:
            alone = [scorer.score_row(row) for row in batch]
        except RowError:
            assume(False)
        if key != "logistic":  # linear algebra may add in another order
            assert same_bits(scorer.score_rows(batch), list(zip(*alone, strict=True))), key


def test_arrow_rows_have_the_bits_of_the_pipeline(saved: dict[str, SavedModel], scorers: dict[str, RowScorer]) -> None:
    table = odd_table()
    typed = Table.from_frame(table, readings=saved["lightgbm"].readings).frame
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    for key, scorer in scorers.items():
        assert same_bits(scorer.score_arrow(arrow), score_frame(saved[key], conform(typed, saved[key].columns))), key
    empty = scorers["lightgbm"].score_arrow(arrow.slice(0, 0))
    assert [len(part) for part in empty] == [0, 0, 0]


@pytest.mark.parametrize(
    ("cell", "column", "expected"),
    [
        ("much", "amount", "a number"),
        ([1], "amount", "a number"),
        ("31 February", "date", "a date"),
        ({"a": 1}, "channel", "text or a number"),
        ("\ud800", "channel", "text or a number"),
        (10**400, "amount", "a number"),
        ("perhaps", "online", "true or false"),
    ],
)
def test_a_cell_that_cannot_be_read_is_named(
    cell: object, column: str, expected: str, scorers: dict[str, RowScorer]
) -> None:
    with pytest.raises(RowError) as caught:
        scorers["lightgbm"].score_rows([{}, {column: cell}])
    (fault,) = caught.value.faults
    assert (fault.row, fault.column, fault.expected) == (1, column, expected)
    str(fault).encode()  # whatever was found, it can be written


def test_an_arrow_cell_that_cannot_be_read_is_named(scorers: dict[str, RowScorer]) -> None:
    table = pa.table({"amount": ["1", "", "much"], "channel": [[1], [2], [3]], "date": ["2024-01-01"] * 3})
    with pytest.raises(RowError) as caught:
        scorers["lightgbm"].score_arrow(table)
    amount, channel = sorted(caught.value.faults, key=lambda fault: fault.column)
    assert (amount.row, amount.column, amount.found) == (2, "amount", "'much'")
    assert channel.column == "channel"


def test_numbers_beyond_float32_are_refused_where_the_forest_cannot_compare_them(
    saved: dict[str, SavedModel], scorers: dict[str, RowScorer]
) -> None:
    for scorer in (scorers["extra-trees"], RowScorer(saved["extra-trees"])):  # compiled or not
        with pytest.raises(RowError, match="'age'"):
            scorer.score_row({"amount": 1.0, "age": 1e39})
    assert scorers["lightgbm"].score_row({"amount": 1.0, "age": 1e39}).score >= 0


def test_other_methods_go_through_the_pipeline_and_say_so(saved: dict[str, SavedModel]) -> None:
    model = saved["logistic"]
    columns = model.columns
    X = conform(Table.from_frame(odd_table(), readings=model.readings).frame, columns)
    y = (odd_table()["fraud"] == "yes").to_numpy().astype(int)
    plan = make_plan("ap", columns, Size(ROWS, int(y.sum()), 3, 0), 0.05, methods=["gamma-knn"])
    pipeline = plan.candidates[0].model.fit(X, y)
    scorer = compile_model(dataclasses.replace(model, pipeline=pipeline))
    assert not scorer.compiled
    assert "GammaKNN" in scorer.because
    row = {"amount": 12.5, "channel": "web"}
    assert same_bits(scorer.score_row(row), score_one(dataclasses.replace(model, pipeline=pipeline), row))


def test_a_model_whose_bits_differ_is_not_compiled(saved: dict[str, SavedModel]) -> None:
    model = saved["logistic"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scarce.engines.compiled.expit", lambda x: 1 / (1 + np.exp(-x)) + 1e-16)
        scorer = compile_model(model)
    assert not scorer.compiled
    assert "differ" in scorer.because
