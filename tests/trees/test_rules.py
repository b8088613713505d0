"""Rules and reasons: they describe exactly the rows of a leaf, with no more conditions than needed."""

import json
import re
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from scarce.trees import APTree, category_names
from scarce.trees._engine.boxes import Codes, Interval
from scarce.trees._engine.format import describe
from scarce.trees._engine.rules import compactness, explain_rows, rules
from tests.trees.growing import grow, kinds


@given(kinds)
def test_a_rule_holds_for_the_rows_of_its_leaf_and_for_no_others(kind):
    graph, scores, names, X, new = grow(**kind)
    found = rules(graph, names, scores)
    assert sorted(rule.leaf for rule in found) == list(range(graph.n_leaves))
    for rows in (X, new):
        leaf = graph.apply(rows)
        for rule in found:
            np.testing.assert_array_equal(rule.holds(rows), leaf == rule.leaf)
    assert [rule.number for rule in found] == list(range(1, graph.n_leaves + 1))
    assert [rule.score for rule in found] == sorted(scores.value, reverse=True)
    assert sum(rule.rows for rule in found) == graph.n_rows[0]
    assert sum(rule.positives for rule in found) == pytest.approx(graph.sums[0, 1])


@given(kinds)
def test_nothing_in_a_rule_can_be_dropped_from_the_conditions_that_always_hold(kind):
    graph, scores, names, *_ = grow(**{**kind, "meta": False})
    for rule in rules(graph, names, scores):
        assert not rule.any_of  # one path
        assert len({c.feature for c in rule.always}) == len(rule.always)
        assert not any(c.values.is_everything or c.values.is_empty for c in rule.always)


@given(kinds)
def test_the_parts_of_a_rule_agree(kind):
    graph, scores, names, *_ = grow(**kind)
    for rule in rules(graph, names, scores):
        always = {c.column: c.values for c in rule.always}
        for step in rule.any_of:
            assert len(step) >= 2
            for alternative in step:
                assert alternative
                for condition in alternative:
                    values = condition.values
                    assert not values.is_empty
                    if condition.column in always:  # it adds something, and does not contradict
                        both = values.meet(always[condition.column])
                        assert not both.is_empty
                        assert both != always[condition.column]


@given(kinds)
def test_the_reasons_of_a_row_put_it_into_its_leaf(kind):
    graph, scores, names, X, new = grow(**kind)
    found = {rule.number: rule for rule in rules(graph, names, scores)}
    rows = np.vstack((X, new))
    reasons = explain_rows(graph, names, rows, scores)
    np.testing.assert_array_equal([found[row.number].leaf for row in reasons], graph.apply(rows))
    for row, x in zip(reasons, rows, strict=True):
        rule = found[row.number]
        assert (row.rows, row.share) == (rule.rows, rule.share)
        assert all(condition.holds(x[None]).all() for condition in row.conditions)
        text = " and ".join(c.text for c in row.conditions) or "every row"
        assert str(row) == f"{text} (rule {rule.number}: {rule.share:.1%} of {rule.rows} training rows positive)"


@given(kinds)
def test_the_reasons_of_a_row_suffice(kind):
    """Whatever its other features are, a row that meets the conditions is in the leaf."""
    graph, scores, names, X, new = grow(**kind)
    rows = np.vstack((X, new))
    of_path = {}
    for row, x in zip(explain_rows(graph, names, rows, scores), rows, strict=True):
        of_path.setdefault(row.conditions, (row, x))
    leaf = graph.apply(rows)
    number = np.argsort(np.argsort(-scores.value, kind="stable")) + 1
    for row, x in of_path.values():
        fixed = [c.column for c in row.conditions]
        others = rows.copy()
        others[:, fixed] = x[fixed]
        assert set(number[graph.apply(others)]) == {row.number}
    assert leaf.max() < graph.n_leaves


def test_rules_are_short_where_paths_are_many():
    graph, scores, names, *_ = grow(1, n=3000, d=8, depth=4, meta_depth=4, missing=False, categories=False)
    paths = np.zeros(len(graph.first))  # of each block the ways to enter it
    paths[0] = 1
    ways = np.zeros(graph.n_leaves)
    for block, (first, end) in enumerate(zip(graph.first, graph.end, strict=True)):
        for target in graph.jump[first:end][graph.feature[first:end] < 0]:
            if target < 0:
                ways[-1 - target] += paths[block]
            else:
                paths[target] += paths[block]
    start = time.process_time()
    found = rules(graph, names, scores)
    assert time.process_time() - start < 10
    read = sum(len(step) for rule in found for step in rule.any_of)
    assert read < ways.sum() / 5


def test_ten_thousand_rows_are_explained_in_seconds():
    graph, scores, names, *_ = grow(2, n=3000, d=8, depth=4, meta_depth=4)
    rows = np.random.default_rng(0).normal(size=(10_000, 8))
    start = time.process_time()
    assert len(explain_rows(graph, names, rows, scores)) == 10_000
    assert time.process_time() - start < 10


def test_texts():
    for values, expected in (
        (Interval(-np.inf, 5, False), "x <= 5"),
        (Interval(5, np.inf, False), "x > 5"),
        (Interval(5, 7.25, True), "5 < x <= 7.25 (or missing)"),
        (Interval(0.1234567, 0.1234568, False), "0.1234567 < x <= 0.1234568"),
        (Interval(20240101.5, np.inf, False), "x > 20240101.5"),
        (Interval(np.inf, -np.inf, True), "x is missing"),
        (Interval(missing=False), "x is not missing"),
        (Codes(0b0110, 4, False), "x in {1, 2}"),
        (Codes(0b0111, 4, True), "x not in {3} (or missing)"),
        (Codes(0b0111, 4, False), "x in {0, 1, 2}"),
        (Codes(0, 4, True), "x is missing"),
        (Codes(0b1111, 4, False), "x is not missing"),
    ):
        assert describe("x", values) == expected
    assert describe("x", Interval(5, np.inf, True), show_missing=False) == "x > 5"
    assert describe("x", Codes(0b0111, 4, False), show_missing=False) == "x not in {3}"


def test_texts_name_categories():
    names = ["AT", "BE", "CH", "DE"]
    for values, expected in (
        (Codes(0b0110, 4, False), "x in {BE, CH}"),
        (Codes(0b0111, 4, True), "x not in {DE} (or missing)"),
        (Codes(0b0010, 3, False), "x in {BE}"),  # training lacked the last category
        # An unknown category, -1, is below all thresholds.
        (Interval(-np.inf, 1.5, True), "x not in {CH, DE} (or missing)"),
        (Interval(-np.inf, 1.5, False), "x not in {CH, DE} (not missing)"),
        (Interval(1.5, np.inf, False), "x in {CH, DE}"),
        (Interval(-0.5, np.inf, True), "x in {AT, BE, CH, DE} (or missing)"),
        (Interval(0.5, 1.5, False), "x in {BE}"),
        (Interval(-np.inf, 7.0, False), "x <= 7"),
        (Interval(7.0, np.inf, False), "x > 7"),
        (Interval(np.inf, -np.inf, True), "x is missing"),
    ):
        assert describe("x", values, categories=names) == expected
    assert describe("x", Interval(-np.inf, 1.5, False), False, names) == "x not in {CH, DE}"


@given(kinds)
def test_names_of_categories_change_the_texts_alone(kind):
    graph, scores, names, X, new = grow(**{**kind, "categories": True})
    rows = np.vstack((X, new))
    labels = [f"<{code}>" for code in range(max(int(graph.n_categories[0]), 1))]
    given_names = [labels] + [None] * (len(names) - 1)
    plain, named = (rules(graph, names, scores, categories=known) for known in (None, given_names))
    for one, other in zip(plain, named, strict=True):
        np.testing.assert_array_equal(one.holds(rows), other.holds(rows))
        # The names are put where the codes were.
        for a, b in zip(one.always, other.always, strict=True):
            if a.column == 0:
                codes = [int(code) for code in re.findall(r"\d+", a.text.split("{")[-1])] if "{" in a.text else []
                assert [int(code) for code in re.findall(r"<(\d+)>", b.text)] == codes
            else:
                assert a.text == b.text


def test_trees_name_the_categories_of_a_pipeline():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"country": rng.choice(["AT", "BE", "CH", None], 400), "amount": rng.normal(size=400)})
    y = ((X["country"] == "BE") | (X["amount"] > 1.5)).astype(int)
    steps = ColumnTransformer([("code", OrdinalEncoder(), ["country"])], remainder="passthrough")
    for categorical in ([0], None):
        pipeline = make_pipeline(steps, APTree(max_depth=3, categorical_features=categorical)).fit(X, y)
        tree, known = pipeline[-1], category_names(pipeline)
        assert known == {"x0": ["AT", "BE", "CH"]}
        for text in ("\n".join(map(str, tree.rules(categories=known))), tree.to_text(categories=known)):
            assert "BE" in text
            assert not re.search(r"x0 (<=|>|in \{\d)", text)
        assert tree.rules(categories={"x0": ["AT", "BE", "CH", np.nan]}) == tree.rules(categories=known)
    with pytest.raises(ValueError, match="names 'land', which is not a feature"):
        tree.rules(categories={"land": ["AT"]})
    tree.set_params(categorical_features=[0]).fit(steps.transform(X), y)
    with pytest.raises(ValueError, match="has 2 names for 'x0', which has 3 codes"):
        tree.to_text(categories={"x0": ["AT", "BE"]})


def test_missing_values_are_shown_for_features_that_had_some():
    graph, scores, names, *_ = grow(0, categories=False)
    for missing in (None, np.zeros(4, dtype=bool), np.array([False, True, False, False])):
        texts = "\n".join(str(rule) for rule in rules(graph, names, scores, missing=missing))
        shown = [name for name in names if f"{name} <= " in texts or f"{name} > " in texts]
        assert set(shown) == set(names)
        mentioned = {line.split("(or missing)")[0].split()[-3] for line in texts.splitlines() if "(or missing)" in line}
        assert bool(mentioned) == (missing is None or missing.any())
        if missing is not None:
            assert mentioned <= {"f1"}


def test_a_rule_is_printed():
    graph, scores, names, *_ = grow(3, n=400, missing=False, categories=False)
    for rule in rules(graph, names, scores):
        text = str(rule)
        assert text.startswith(f"Rule {rule.number}: score ")
        assert f"{rule.rows} rows, {rule.positives:g} positive ({rule.share:.1%})" in text
        assert all(condition.text in text for condition in rule.always)
        assert text.count("any of") == len(rule.any_of)
        plain = json.loads(json.dumps(rule.to_dict(), allow_nan=False))
        assert [c["text"] for c in plain["always"]] == [str(c) for c in rule.always]
        assert rule.n_conditions == len(rule.always) + sum(len(a) for s in plain["any_of"] for a in s)


def test_one_leaf():
    graph, scores, names, X, _ = grow(0, n=30, depth=0, meta=False)
    [rule] = rules(graph, names, scores)
    assert "every row" in str(rule)
    assert rule.holds(X).all()
    assert {row.conditions for row in explain_rows(graph, names, X, scores)} == {()}
    assert str(explain_rows(graph, names, X, scores)[0]).startswith("every row (rule 1: ")
    assert compactness(graph) == {"nodes": 0, "leaves": 1, "rules": 1, "blocks": 1, "mean_length": 0.0}
    assert explain_rows(graph, names, X[:0], scores) == []


@settings(max_examples=10)
@given(kinds)
def test_compactness_counts(kind):
    graph, _, _, X, _ = grow(**{**kind, "weighted": False})
    found = compactness(graph)
    assert found["nodes"] + found["leaves"] == len(graph.feature)
    assert found["leaves"] == found["nodes"] + found["blocks"]
    assert found["rules"] == graph.n_leaves
    if found["blocks"] > 1 or kind["meta"]:
        assert found["rules"] <= found["blocks"] + 1
    passed = 0
    for x in X:
        node = 0
        while graph.feature[node] >= 0 or graph.jump[node] >= 0:
            if graph.feature[node] < 0:
                node = graph.first[graph.jump[node]]
                continue
            alone = graph._replace(jump=-1 - np.arange(len(graph.feature)))
            value, feature = x[graph.feature[node]], graph.feature[node]
            if np.isnan(value):
                left = graph.missing_left[node]
            elif graph.n_categories[feature]:
                left = int(alone.subset[node, int(value) >> 6]) >> (int(value) & 63) & 1
            else:
                left = value <= graph.threshold[node]
            node = graph.left[node] if left else graph.right[node]
            passed += 1
    assert found["mean_length"] == pytest.approx(passed / len(X))
