"""The one schema of explanations: its checks, its rows, its forms, and the parts that methods fill it with."""

import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from scarce.explanation import Explanation, Neighbour, distance_effects, neighbours, usual_values
from tests import naive

KEYS = {
    "label", "score", "probability", "base_value", "unit", "additive", "contributions", "neighbours", "rule",
}  # fmt: skip


def make(n=4, p=12, **changes):
    rng = np.random.default_rng(0)
    effects = rng.normal(size=(n, p))
    known = {
        "score": 0.5 + effects.sum(axis=1),
        "label": "fraud",
        "features": [f"f{j}" for j in range(p)],
        "values": rng.normal(size=(n, p)),
        "unit": "log-odds",
        "probability": rng.random(n),
        "base_value": 0.5,
        "usual": np.arange(p),
        "effects": effects,
        "additive": True,
        "neighbours": [[Neighbour(i, "ok", 0.5), (None, "fraud", 1.0, 0.25)] for i in range(n)],
        "rule": [None, "f0 <= 3"] * (n // 2),
    }
    return Explanation(**known | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": np.zeros((4, 11))}, r"values must have the shape \(4, 12\); got \(4, 11\)"),
        ({"effects": np.zeros((3, 12))}, r"effects must have the shape \(4, 12\); got \(3, 12\)"),
        ({"usual": [1.0]}, r"usual must have the shape \(12,\); got \(1,\)"),
        ({"probability": [0.5, 0.5]}, "probability must have the shape"),
        ({"base_value": [0.5]}, "base_value must have the shape"),
        ({"score": np.zeros((4, 2))}, "score must have the shape"),
        ({"unit": "euro"}, "unit must be one of probability, log-odds, score; got 'euro'"),
        ({"rule": ["a"]}, "rule must have an entry for each of 4 rows; got 1"),
        ({"neighbours": [[]]}, "neighbours must have an entry for each of 4 rows; got 1"),
        ({"base_value": None}, "need effects and a base_value"),
        ({"effects": None}, "need effects and a base_value"),
        ({"base_value": 0.6}, "do not add up to score less base_value: they are off by up to 0.1"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        make(**changes)


def test_effects_that_need_not_add_up_are_not_checked():
    assert not make(base_value=0.6, additive=False).additive


def test_usual_values_of_a_frame_whose_names_are_numbers():
    np.testing.assert_array_equal(usual_values(pd.DataFrame([[1.0, 5.0], [2.0, 7.0], [9.0, 7.0]])), [2, 7])


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        make().score = np.zeros(4)


def test_rows():
    explanation = make()
    assert len(explanation) == 4
    assert [one.score[0] for one in explanation] == explanation.score.tolist()
    assert explanation[-1].rule == ("f0 <= 3",)
    assert explanation[1].neighbours == explanation.neighbours[1:2]
    some = explanation[1:3]
    np.testing.assert_array_equal(some.effects, explanation.effects[1:3])
    assert some.features == explanation.features
    assert some.label.tolist() == ["fraud", "fraud"]
    assert explanation[np.int64(2)].score[0] == explanation.score[2]
    assert len(explanation[4:]) == 0
    for beyond in (4, -5):
        with pytest.raises(IndexError):
            explanation[beyond]


def test_what_is_not_known_stays_unknown():
    bare = Explanation(score=[1.0, 2.0], label=["a", "b"], features=["x"], values=[[1], [2]])
    assert bare[1].effects is None
    assert bare.neighbours == ((), ())
    assert bare.rule == (None, None)
    assert bare[1].label.tolist() == ["b"]
    assert [set(one) for one in bare.to_dicts()] == [KEYS, KEYS]
    assert bare.to_dicts()[1]["contributions"] == [{"feature": "x", "value": 2, "usual": None, "effect": None}]
    assert str(bare) == "Row 0: score 1 for class a\n\nRow 1: score 2 for class b"
    assert bare.to_frame()["effect"].isna().all()
    with pytest.raises(ValueError, match="no effects of features to draw"):
        bare.plot()


def test_contributions_come_by_the_size_of_their_effects():
    found = make().contributions(2)
    sizes = [abs(c.effect) for c in found]
    assert sizes == sorted(sizes, reverse=True)
    assert {c.feature for c in found} == set(make().features)
    first = int(np.abs(make().effects[2]).argmax())
    assert found[0] == (f"f{first}", make().values[2, first], first, make().effects[2, first])


def test_frame():
    explanation = make()
    frame = explanation.to_frame()
    assert list(frame) == ["row", "feature", "value", "usual", "effect"]
    assert frame["feature"].tolist() == list(explanation.features) * 4
    for _, line in frame.iterrows():
        j = explanation.features.index(line["feature"])
        assert line["value"] == explanation.values[line["row"], j]
        assert line["usual"] == j
        assert line["effect"] == explanation.effects[line["row"], j]


def test_a_frame_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "scarce\[audit\]"'):
        make().to_frame()


def test_dicts_are_json():
    values = np.array([[np.nan, "FR", None, pd.Timestamp("2024-01-02"), True, np.float32(0.5)]], dtype=object)
    one = Explanation(
        score=[0.5], label=np.int64(1), features=list("abcdef"), values=values, usual=values[0],
        neighbours=[[(np.int64(3), np.str_("ok"), np.float64(1.5))]],
    )  # fmt: skip
    (found,) = one.to_dicts()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert set(found) == KEYS
    assert [c["value"] for c in found["contributions"]] == [None, "FR", None, "2024-01-02 00:00:00", True, 0.5]
    assert found["neighbours"] == [{"row": 3, "label": "ok", "distance": 1.5, "effect": None}]
    assert found["label"] == 1


def test_text():
    explanation = make(5, rule=(), label=1)
    rows = str(explanation).split("\n\n")
    assert rows[-1] == "… and 2 more rows"
    lines = rows[0].splitlines()
    score, probability = explanation.score[0], explanation.probability[0]
    assert lines[0] == f"Row 0: score {score:.4g} (log-odds) for class 1, probability {probability:.4g}, base value 0.5"
    assert lines[1].split() == ["feature", "value", "usual", "effect"]
    assert len(lines) == 2 + 10 + 1 + 3
    assert lines[12] == "… and 2 more features"
    assert lines[-1].split() == ["fraud", "1", "0.25"]
    assert str(make()[1]).endswith("Rule: f0 <= 3")
    assert repr(make()) == "<Explanation of 4 rows, 12 features>"
    assert str(make()[:0]) == "<Explanation of 0 rows, 12 features>"


texts = st.text(max_size=120) | st.sampled_from(["a" * 200, "word " * 60, "\n\n"])


@given(names=st.lists(texts, min_size=1, max_size=14), label=texts, rule=st.none() | texts, number=st.floats())
def test_text_is_at_most_80_columns_wide(names, label, rule, number):
    p = len(names)
    values = np.array([[name if j % 2 else number for j, name in enumerate(names)]], dtype=object)
    explanation = Explanation(
        score=[0.1], label=label, features=names, values=values, usual=values[0], effects=np.full((1, p), 1e-300 / 3),
        base_value=0.1, probability=[1 / 3], neighbours=[[Neighbour(10**15, label, 1 / 3, -1e-300 / 3)]], rule=[rule],
    )  # fmt: skip
    assert max(map(len, str(explanation).splitlines())) <= 80


ROWS = [[3.0, "FR"], [1.0, "BE"], [2.0, "FR"], [np.nan, None]]
FRAMES = {
    "lists": ROWS,
    "objects": np.array(ROWS, dtype=object),
    "pandas": pd.DataFrame(ROWS, columns=["amount", "country"]),
    "category": pd.DataFrame(ROWS, columns=["amount", "country"]).astype({"country": "category"}),
    "polars": pl.DataFrame(ROWS, schema=["amount", "country"], orient="row"),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_rows_of_every_kind(kind):
    X = FRAMES[kind]
    assert usual_values(X).tolist() == [2.0, "FR"]
    found = Explanation.from_effects(X, np.ones((4, 2)), 1.0, features=["amount", "country"], label=1)
    assert found.score.tolist() == [3.0] * 4
    assert [c.value for c in found.contributions(1)] == [1.0, "BE"]
    assert [c.value for c in found.contributions(3)] == [None, None]


def test_usual_values():
    X = np.array([[1, 5.0, np.nan], [2, np.nan, np.nan], [9, 7.0, np.nan]])
    np.testing.assert_array_equal(usual_values(X), [2, 6, np.nan])
    np.testing.assert_array_equal(usual_values(X.astype(np.float32)), [2, 6, np.nan])
    np.testing.assert_array_equal(usual_values(sparse.csr_matrix(np.eye(3))), [0, 0, 0])
    frame = pd.DataFrame({"flag": [True, False, True], "n": pd.array([1, None, 4], dtype="Int64")})
    assert usual_values(frame).tolist() == [True, 2.5]


def test_from_effects_checks_a_score_of_its_own():
    with pytest.raises(ValueError, match="do not add up"):
        Explanation.from_effects([[1.0]], [[1.0]], 1.0, score=[3.0], features=["a"], label=1)


def test_neighbours_are_sorted_and_absent_ones_left_out():
    rows, labels = [[3, 1, -1, -1]], [["ok", "fraud", "ok", "fraud"]]
    distances, votes = [[2.0, 1.0, np.inf, 1.5]], [[0.1, 0.2, 0.3, 0.4]]
    expected = [Neighbour(1, "fraud", 1.0, 0.2), Neighbour(None, "fraud", 1.5, 0.4), Neighbour(3, "ok", 2.0, 0.1)]
    (found,) = neighbours(rows, labels, distances, votes)
    assert list(found) == expected
    near = Explanation.from_neighbours([[1.0]], rows, labels, distances, votes, score=[0.5], features=["a"], label=1)
    assert near.neighbours == (found,)
    assert near.values.tolist() == [[1.0]]


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 1.0, 3.0])] * 4), min_size=1, max_size=6))
def test_distance_effects(rows):
    own, other = np.array(rows)[:, :2], np.array(rows)[:, 2:]
    effects = distance_effects(own, other)
    for i, (a, b) in enumerate(zip(own.tolist(), other.tolist(), strict=True)):
        total = sum(a) + sum(b)
        expected = [(b[j] - a[j]) / total if total else 0.0 for j in range(2)]
        assert effects[i].tolist() == pytest.approx(expected)
        assert effects[i].sum() == pytest.approx((sum(b) - sum(a)) / total if total else 0.0)


def by_class(rows):
    return np.column_stack([rows[:, 0], rows[:, 0] * rows[:, 1], 2 * rows[:, 1]])


def test_from_occlusion():
    rng = np.random.default_rng(0)
    X, background = rng.normal(size=(9, 2)), rng.normal(size=(5, 2))

    def score(rows):
        return by_class(rows)[:, 1]

    found = Explanation.from_occlusion(score, X, background, features=["a", "b"], label=1)
    np.testing.assert_allclose(found.effects, naive.occlusion(score, X, background))
    np.testing.assert_allclose(found.base_value, score(background).mean())
    np.testing.assert_array_equal(found.usual, np.median(background, axis=0))
    np.testing.assert_array_equal(found.score, score(X))
    assert not found.additive


@pytest.mark.parametrize("code", [None, [0, 1, 2] * 3])
def test_from_occlusion_with_several_classes(code):
    rng = np.random.default_rng(0)
    X, background = rng.normal(size=(9, 2)), rng.normal(size=(5, 2))
    column = by_class(X).argmax(axis=1) if code is None else code
    found = Explanation.from_occlusion(by_class, X, background, code=code, features=["a", "b"], label=column)
    assert len(set(column)) == 3
    for i, k in enumerate(column):
        expected = naive.occlusion(lambda rows, k=k: by_class(rows)[:, k], X[i : i + 1], background)
        np.testing.assert_allclose(found.effects[i : i + 1], expected)
        assert found.base_value[i] == pytest.approx(by_class(background)[:, k].mean())
        assert found.score[i] == by_class(X)[i, k]
        assert found.label[i] == k
