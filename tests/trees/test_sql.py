"""The score as SQL: DuckDB finds the same bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.trees._engine import sql as engine
from tests.trees.growing import grow, kinds

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")


def to_sql(trees, names, quote='"'):
    return engine.to_sql(trees, [engine.Column(engine.quoted(name, quote)) for name in names])


def evaluated(sql, X, names):
    """Return what DuckDB makes of an expression; NaN is given as NULL."""
    table = pa.table({name: pa.array(x, mask=np.isnan(x)) for name, x in zip(names, X.T, strict=True)})
    with duckdb.connect() as connection:
        connection.register("given", table)
        return connection.sql(f"SELECT {sql} AS score FROM given").fetchnumpy()["score"]


def expected(trees, X):
    total = np.zeros(len(X))
    for graph, scores in trees:
        scores.add_to(total, graph, X)
    return total / len(trees)


@settings(max_examples=30)
@given(kinds, st.sampled_from(["path", None]))
def test_scores_are_equal_to_the_bit(kind, tie_break):
    grown = grow(**kind, tie_break=tie_break)
    trees = [(grown.graph, grown.scores)]
    sql = to_sql(trees, grown.names)
    for rows in (grown.X, grown.new):
        found = evaluated(sql, rows, grown.names)
        assert found.dtype == np.float64
        assert not np.ma.is_masked(found)
        np.testing.assert_array_equal(found, expected(trees, rows))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_forests(dtype):
    grown = [grow(seed, n=100, d=6, dtype=dtype) for seed in range(7)]
    trees = [(each.graph, each.scores) for each in grown]
    rows = np.vstack([each.new for each in grown])
    np.testing.assert_array_equal(evaluated(to_sql(trees, grown[0].names), rows, grown[0].names), expected(trees, rows))


def test_no_tree_is_written_twice():
    """The paths are many times the tests, the expression is not."""
    graph, scores, names, _, _ = grow(1, n=3000, d=8, depth=4, meta_depth=5)
    sql = to_sql([(graph, scores)], names)
    assert sql.count("CASE") <= 1.5 * (graph.feature >= 0).sum() + len(graph.first)


def test_names_are_quoted():
    graph, scores, _, X, _ = grow(0, n=100, d=3)
    names = ['the "first"', "select", "a b"]
    trees = [(graph, scores)]
    np.testing.assert_array_equal(evaluated(to_sql(trees, names), X, names), expected(trees, X))
    assert "`a b`" in to_sql(trees, ["x", "y", "a b"], quote="`")
    assert '"' not in to_sql(trees, ["x", "y", "z"], quote="")


def test_columns_of_whole_numbers():
    graph, scores, names, X, _ = grow(0, n=200, d=3, missing=False)
    X = np.round(X)
    table = pa.table(dict(zip(names, X.T.astype(np.int32), strict=True)))
    found = duckdb.connect().register("given", table).sql(f"SELECT {to_sql([(graph, scores)], names)} FROM given")
    np.testing.assert_array_equal([row[0] for row in found.fetchall()], expected([(graph, scores)], X))


def test_the_boundary_is_refused():
    graph, scores, names, *_ = grow(0, tie_break="boundary")
    with pytest.raises(ValueError, match='tie_break="path" or tie_break=None'):
        to_sql([(graph, scores)], names)
