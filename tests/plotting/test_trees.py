"""The picture of a tree of trees: every test and every final leaf once, joined as the tree joins them."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from scarce.neighbors import GammaKNN
from scarce.plotting import MetaTreeDisplay
from scarce.trees import APTree, MetaAP, MetaAPForest


@pytest.fixture(scope="module")
def data():
    return make_classification(600, 5, n_informative=4, n_redundant=0, weights=[0.9], flip_y=0.05, random_state=2)


MODELS = [
    MetaAP(max_depth=2),
    MetaAP(max_depth=3, criterion="ap_max", order="precision"),
    MetaAP(max_depth=1, max_leaf_depth=2),
    APTree(criterion="ap_max", max_depth=3),
]


@pytest.mark.parametrize("model", MODELS, ids=["meta", "deeper", "one block", "tree"])
def test_every_test_and_leaf_is_drawn_once_and_joined(data, model):
    model.fit(*data)
    graph = model.tree_
    display = MetaTreeDisplay.from_estimator(model)
    tests = set(np.flatnonzero(graph.feature >= 0).tolist())
    assert set(display.boxes_) == tests | {-1 - leaf for leaf in range(graph.n_leaves)}
    assert len({text.get_position() for text in display.boxes_.values()}) == len(display.boxes_)
    node, leaf = np.zeros(len(data[0]), np.int64), graph.apply(data[0])
    seen = set()
    for _ in range(50):  # follow the training rows, and see every arrow
        inner = graph.feature[node] >= 0
        x = data[0][np.arange(len(node)), np.maximum(graph.feature[node], 0)]
        after = np.where(inner, np.where(x <= graph.threshold[node], graph.left[node], graph.right[node]), node)
        jump = np.where(graph.feature[after] < 0, graph.jump[after], -1)
        after = np.where(jump >= 0, graph.first[np.maximum(jump, 0)], after)
        box = np.where(graph.feature[after] < 0, -1 - leaf, after)
        seen |= set(zip(node[inner].tolist(), box[inner].tolist(), strict=True))
        node = after
    assert set(display.arrows_) == seen
    display.figure_.canvas.draw()


def test_merged_leaves_have_one_box_with_all_their_rows(data):
    display = MetaTreeDisplay.from_estimator(MODELS[0].fit(*data))
    rules = MODELS[0].rules()
    assert display.compactness["rules"] == len(rules) < display.compactness["leaves"]
    for rule in rules:
        text = display.boxes_[-1 - rule.leaf].get_text()
        assert text.startswith(f"rule {rule.number}: score ")
        assert f"{rule.rows} rows, {rule.positives:g} positive" in text
    ways_in = [stop for _, stop in display.arrows_ if stop < 0]
    assert len(ways_in) > len(set(ways_in))


def test_arrows_show_which_side(data):
    display = MetaTreeDisplay.from_estimator(MODELS[0].fit(*data))
    graph = display.graph
    starts = [start for start, _ in display.arrows_]
    for start, stop in display.arrows_:
        color = display.arrows_[start, stop].arrow_patch.get_edgecolor()
        assert (color[:3] == (0, 0, 0)) == (starts.count(start) == 1)
        if stop == graph.left[start]:
            assert display.arrows_[start, stop].arrow_patch.get_linestyle() in ("-", "solid")


def test_shares_are_colours_and_names_are_shown(data):
    names = ["age", "amount", "hour", "distance", "count"]
    ax = Figure().subplots()
    display = MetaTreeDisplay.from_estimator(MODELS[0].fit(*data), feature_names=names, ax=ax, fontsize=5)
    assert display.ax_ is ax
    assert display.boxes_[0].get_text().startswith(names[display.graph.feature[0]] + " <= ")
    assert display.boxes_[0].get_fontsize() == 5
    sums = display.graph.leaf_sums()
    by_share = np.argsort(sums[:, 1] / sums[:, 0])
    green = [display.boxes_[-1 - leaf].get_bbox_patch().get_facecolor()[1] for leaf in by_share.tolist()]
    assert green == sorted(green, reverse=True)  # from yellow to red


def test_others_are_refused(data):
    with pytest.raises(TypeError, match="draws a single tree"):
        MetaTreeDisplay.from_estimator(GammaKNN().fit(*data))
    with pytest.raises(NotFittedError):
        MetaTreeDisplay.from_estimator(MetaAP())
    with pytest.raises(ValueError, match="must name all 5 features; got 1"):
        MetaTreeDisplay.from_estimator(MODELS[0].fit(*data), feature_names=["a"])
    forest = MetaAPForest(2, max_depth=2, random_state=0).fit(*data)
    with pytest.raises(TypeError, match="of a forest one of its trees"):
        MetaTreeDisplay.from_estimator(forest)
    names = [f"x{i}" for i in range(5)]
    assert MetaTreeDisplay(*forest.trees_[0], names).plot().boxes_


def test_a_tree_of_one_leaf(data):
    X, y = data
    display = MetaTreeDisplay.from_estimator(APTree().fit(np.ones_like(X), y))
    assert list(display.boxes_) == [-1]
    assert not display.arrows_
    display.figure_.canvas.draw()
