"""Small trees as a table of leaves: the sums of a walk through each, bit for bit."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scarce.engines.flat_trees import _joined, _Tree, leaf_table
from tests.naive_engines import naive_sum_of_leaves

FEATURES = 3
edges = st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 1e-300, 0.5, 0.5 + 2**-53, 7.0])
cells = st.one_of(edges, st.floats(-2, 8), st.sampled_from([math.nan, math.inf]))


@st.composite
def trees(draw: st.DrawFn, most_leaves: int = 8) -> _Tree:
    """Draw a tree by splitting one of its leaves again and again."""
    feature, threshold, child, missing_left = [-1], [0.0], [[0, 0]], [False]
    for _ in range(draw(st.integers(0, most_leaves - 1))):
        node = draw(st.sampled_from([place for place, own in enumerate(feature) if own < 0]))
        feature[node], threshold[node] = draw(st.integers(0, FEATURES - 1)), draw(edges)
        missing_left[node], child[node] = draw(st.booleans()), [len(feature), len(feature) + 1]
        for held, empty in ((feature, -1), (threshold, 0.0), (missing_left, False), (child, [0, 0])):
            held += [empty, empty]
    value = draw(st.lists(st.floats(-3, 3), min_size=len(feature), max_size=len(feature)))
    return _Tree(
        np.array(feature, np.int32),
        np.array(threshold),
        np.array(child, np.int32),
        np.array(missing_left),
        np.array(value),
    )


@given(
    grown=st.lists(trees(), min_size=1, max_size=5),
    rows=st.lists(st.lists(cells, min_size=FEATURES, max_size=FEATURES), max_size=20),
    order=st.sampled_from("CF"),
)
def test_a_table_of_leaves_adds_up_what_a_walk_through_each_tree_does(grown, rows, order):
    nodes = _joined(grown, FEATURES)
    table = leaf_table(nodes)
    X = np.array(rows, order=order).reshape(-1, FEATURES)
    expected = [naive_sum_of_leaves(grown, row) for row in rows]
    assert nodes.add_up(X).tolist() == expected
    if all(tree.feature[0] < 0 for tree in grown):
        assert table is None  # nothing is tested
    else:
        assert table is not None
        assert table.add_up(X).tolist() == expected


def test_trees_of_more_leaves_are_walked_through():
    chain = _Tree(
        np.array([0, -1] * 8 + [-1], np.int32),
        np.arange(17.0),
        np.array([[node + 1, node + 2] for node in range(17)], np.int32),
        np.zeros(17, bool),
        np.arange(17.0),
    )
    assert leaf_table(_joined([chain], 1)) is None
    seven = chain._replace(feature=np.array([0, -1] * 7 + [-1, -1, -1], np.int32))
    assert leaf_table(_joined([seven], 1)) is not None
