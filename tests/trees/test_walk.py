"""From rows to leaves and distances: new rows, missing values and unknown categories, float32, any batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.trees._engine import leaf_scores, with_boxes
from scarce.trees._engine._kernels_walk import BOUNDARY, PATH, walk
from tests import naive_trees as naive
from tests.trees.test_engine import grown, problems, rule
from tests.trees.test_meta_engine import meta_grown


@st.composite
def walks(draw, dtype=np.float64):
    """A tree or a tree of trees, and rows that are not all those it has seen."""
    problem = draw(problems(max_rows=18, dtype=dtype))
    X = problem[0]
    criterion = draw(st.sampled_from(["gini", "ap_mean"]))
    growing = rule(criterion, X.shape[1], inherit=criterion == "ap_mean" and draw(st.booleans()))
    grow = draw(st.sampled_from([grown, meta_grown]))
    graph = grow(*problem, growing, draw(st.sampled_from([None, 255])))
    value = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 7.0, 300.0, np.nan])
    new = draw(st.lists(st.lists(value, min_size=X.shape[1], max_size=X.shape[1]), min_size=1, max_size=12))
    return with_boxes(graph, draw(st.sampled_from([1.0, 0.5])) + np.arange(X.shape[1])), problem, np.array(new, dtype)


def walked(graph, X, mode):
    leaf, distance = np.empty(len(X), np.int64), np.zeros(len(X))
    walk(X, graph, mode, leaf, distance)
    return leaf, distance


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(data=st.data())
def test_leaves_and_distances_are_those_of_the_twin(dtype, data):
    graph, (X, _, _), new = data.draw(walks(dtype))
    for rows in (X, new):
        expected = [naive.descend(graph, x)[2] for x in rows.tolist()]
        assert graph.apply(rows).tolist() == expected
        leaf, path = walked(graph, rows, PATH)
        assert leaf.tolist() == expected
        np.testing.assert_allclose(path, [naive.path_distance(graph, x) for x in rows.tolist()], rtol=1e-12)
        _, boundary = walked(graph, rows, BOUNDARY)
        np.testing.assert_allclose(
            boundary, [naive.boundary_distance(graph, x, graph.scale) for x in rows.tolist()], rtol=1e-12
        )


@pytest.mark.parametrize("tie_break", ["path", "boundary", None])
@given(drawn=walks(), order=st.randoms())
def test_scores_do_not_depend_on_the_batch(tie_break, drawn, order):
    """A row's place in its leaf is between the distances seen in training, and never leaves the leaf's own range."""
    graph, (X, stats, _), new = drawn
    value = np.arange(graph.n_leaves, 0, -1.0)
    scores = leaf_scores(graph, value, np.full(graph.n_leaves, 0.5), X, stats[:, 0], tie_break)
    together = np.zeros(len(new))
    scores.add_to(together, graph, new)
    alone = np.zeros(len(new))
    for i in order.sample(range(len(new)), len(new)):
        scores.add_to(alone[i : i + 1], graph, new[i : i + 1])
    np.testing.assert_array_equal(together, alone)
    within = together - value[graph.apply(new)]
    assert np.all((within >= 0) & (within <= (0.5 if tie_break else 0)))


@given(walks())
def test_the_place_in_a_leaf_is_scaled_by_the_training_rows(drawn):
    graph, (X, stats, _), _ = drawn
    scores = leaf_scores(graph, np.zeros(graph.n_leaves), np.ones(graph.n_leaves), X, stats[:, 0], "path")
    place = np.zeros(len(X))
    scores.add_to(place, graph, X)
    leaf = graph.apply(X)
    distance = np.array([naive.path_distance(graph, x) for x in X.tolist()])
    for k in range(graph.n_leaves):
        members = distance[leaf == k]
        width = np.ptp(members)
        expected = (members - members.min()) / width if width > 0 else np.zeros(len(members))
        np.testing.assert_allclose(place[leaf == k], expected, atol=1e-12)


def test_rows_of_weight_zero_do_not_widen_a_leaf():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [90.0]])
    stats = np.column_stack(([1.0, 1, 1, 1, 0], [0.0, 0, 1, 1, 0]))
    graph = grown(X, stats, np.array([False]), rule("gini", 1))
    scores = leaf_scores(graph, np.zeros(2), np.ones(2), X, stats[:, 0], "path")
    out = np.zeros(5)
    scores.add_to(out, graph, X)
    assert out.tolist() == [0, 1, 0, 1, 1]
