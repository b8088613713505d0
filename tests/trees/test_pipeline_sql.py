"""Pipelines as SQL: DuckDB finds the same bits as the pipeline, which is the slow twin."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OrdinalEncoder, RobustScaler, StandardScaler

from scarce.trees import (
    APTree,
    MetaAP,
    MetaAPForest,
    ProfitForest,
    ProfitTree,
    RankingForest,
    TreeRank,
    category_names,
    pipeline_to_sql,
)

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

CATEGORIES = ["it's", "b b", 'say "x"', "ä", "", "NULL", "5"]
MODELS = {
    "APTree": lambda: APTree(max_depth=4),
    "MetaAP": lambda: MetaAP(2, 3),
    "MetaAPForest": lambda: MetaAPForest(3, max_depth=2, random_state=0),
    "TreeRank": lambda: TreeRank(max_depth=3),
    "RankingForest": lambda: RankingForest(3, max_depth=2, random_state=0),
    "ProfitTree": lambda: ProfitTree(max_depth=4),
    "ProfitForest": lambda: ProfitForest(3, n_boosted=3, random_state=0),
}
NUMBERS = {
    "nothing": lambda: "passthrough",
    "standard": StandardScaler,
    "scale": lambda: StandardScaler(with_mean=False),
    "centre": lambda: StandardScaler(with_std=False),
    "min_max": lambda: MinMaxScaler((-1, 3), clip=True),
    "mean": lambda: SimpleImputer(add_indicator=True),
    "two": lambda: make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()),
    "code": lambda: make_pipeline(SimpleImputer(missing_values=0.0, strategy="constant", fill_value=7.5)),
}
TEXTS = {
    "nan": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
    "minus": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2),
    "code": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=99, encoded_missing_value=50),
    "filled": lambda: make_pipeline(
        SimpleImputer(strategy="most_frequent"), OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    ),
    "scaled": lambda: make_pipeline(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), StandardScaler()
    ),
    "error": OrdinalEncoder,
}


def evaluated(sql, frame):
    """Return what DuckDB makes of an expression; missing values are given as NULL."""
    table = pa.table({name: pa.array(frame[name].tolist(), from_pandas=True) for name in frame.columns})
    with duckdb.connect() as connection:
        connection.register("given", table)
        return connection.sql(f"SELECT {sql} AS score FROM given").fetchnumpy()["score"]


def table_of(rng, n, names):
    X = pd.DataFrame(
        {
            names[0]: np.round(rng.normal(100, 30, n), rng.integers(0, 3)),
            names[1]: rng.integers(-2, 3, n).astype(float),
            names[2]: rng.choice(np.array(CATEGORIES, dtype=object), n),
            names[3]: rng.choice([1.0, 2.5, -7.0], n),
        }
    )
    y = (X[names[0]] > 110) ^ X[names[2]].isin(CATEGORIES[:2]) ^ (rng.random(n) < 0.1)
    y.iloc[:4] = True, True, False, False
    return X, y.astype(int).to_numpy()


def with_missing(rng, X, share):
    """Return a copy in which every column has missing values, and not only those."""
    mask = rng.random(X.shape) < share
    mask[0], mask[1] = True, False
    return X.mask(mask)


letters = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(list(MODELS)),
    st.sampled_from(list(NUMBERS)),
    st.sampled_from(list(TEXTS)),
    st.lists(letters, min_size=4, max_size=4, unique_by=str.lower),
    st.booleans(),
    st.booleans(),
)
def test_scores_and_decisions_are_equal_to_the_bit(seed, model, number, text, names, missing, drop):
    rng = np.random.default_rng(seed)
    X, y = table_of(rng, int(rng.integers(30, 120)), names)
    new, _ = table_of(rng, 60, names)
    if missing and number != "code":  # that imputer refuses NaN
        X, new = with_missing(rng, X, 0.2), with_missing(rng, new, 0.2)
    steps = ColumnTransformer(
        [("numbers", NUMBERS[number](), names[:2]), ("texts", TEXTS[text](), [names[2]])],
        remainder="drop" if drop else "passthrough",
    )
    model = MODELS[model]()
    if text == "nan" and number == "nothing":  # codes, so that the tree may take them for categories
        model.set_params(categorical_features=[2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # profit without gains
        pipeline = make_pipeline(steps, model).fit(X, y)
    sql, decision = pipeline_to_sql(pipeline), pipeline_to_sql(pipeline, decision=True)
    if text != "error":
        new[names[2]] = new[names[2]].where(rng.random(len(new)) < 0.9, "unseen")
    for rows in (X, new):
        found = evaluated(sql, rows)
        assert not np.ma.is_masked(found)
        np.testing.assert_array_equal(found, pipeline.score_samples(rows))
        np.testing.assert_array_equal(evaluated(decision, rows), pipeline.predict(rows) == model.pos_label_)


@pytest.mark.parametrize("name", MODELS)
def test_the_decision_of_a_model(name):
    rng = np.random.default_rng(0)
    X, y = table_of(rng, 200, ["a", "b", "c", "d"])
    X = with_missing(rng, X[["a", "b", "d"]], 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name]().fit(X, 1 - y)
    for threshold in (model.threshold_, np.inf, -np.inf):
        model.threshold_ = threshold
        expected = model.predict(X) == model.pos_label_
        np.testing.assert_array_equal(evaluated(model.to_sql(decision=True), X), expected)


def test_a_scaler_is_not_forgotten():
    """The fault that this is for: the score of the last step, on raw names."""
    rng = np.random.default_rng(0)
    X, y = table_of(rng, 300, ["a", "b", "c", "d"])
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), APTree()).fit(X[["a", "b"]], y)
    right = pipeline.score_samples(X[["a", "b"]])
    assert not np.array_equal(evaluated(pipeline[-1].to_sql(), X), right)
    np.testing.assert_array_equal(evaluated(pipeline_to_sql(pipeline), X), right)


def test_arrays_have_numbered_columns_and_integers_are_read():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (80, 3))
    y = (X[:, 0] > 5).astype(int)
    pipeline = Pipeline([("scale", MinMaxScaler()), ("off", "passthrough"), ("tree", APTree())]).fit(X, y)
    found = evaluated(pipeline_to_sql(pipeline), pd.DataFrame(X, columns=["x0", "x1", "x2"]))
    np.testing.assert_array_equal(found, pipeline.score_samples(X))


def test_truth_values_and_numbers_are_categories():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"flag": rng.random(200) < 0.5, "code": rng.choice([3, 7, 11], 200), "x": rng.normal(size=200)})
    y = (X["flag"] & (X["code"] != 7)).astype(int).to_numpy()
    steps = ColumnTransformer([("e", OrdinalEncoder(), ["code", "flag"])], remainder=StandardScaler())
    pipeline = make_pipeline(steps, APTree(categorical_features=[0, 1])).fit(X, y)
    np.testing.assert_array_equal(evaluated(pipeline_to_sql(pipeline), X), pipeline.score_samples(X))
    assert category_names(pipeline) == {"x0": [3, 7, 11], "x1": [False, True]}


def test_a_category_that_the_encoder_refuses_has_no_score():
    X, y = pd.DataFrame({"c": ["a", "b", "a", "b"]}), [0, 1, 0, 1]
    pipeline = make_pipeline(OrdinalEncoder(), APTree(categorical_features=[0])).fit(X, y)
    for decision in (False, True):
        sql = pipeline_to_sql(pipeline, decision=decision)
        found = evaluated(sql, pd.DataFrame({"c": ["a", "b", "z", None]}))
        assert np.ma.getmaskarray(found).tolist() == [False, False, True, True]


def test_tests_are_written_on_categories():
    X, y = pd.DataFrame({"c": ["a", "b", "it's", "b"] * 5}), [0, 1, 0, 1] * 5
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    for categorical in ([0], None):
        tree = APTree(categorical_features=categorical, tie_break=None)
        sql = pipeline_to_sql(make_pipeline(encoder, tree).fit(X, y), quote="`")
        assert "`c` " in sql
        assert "'b'" in sql
        assert "e0 " in sql  # scores
        assert "WHEN `c` =" not in sql  # but no codes


def test_features_without_any_value_are_left_out():
    rng = np.random.default_rng(0)
    X, y = table_of(rng, 100, ["a", "b", "c", "d"])
    X = X[["a", "b", "d"]].assign(b=np.nan)
    for keep in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pipeline = make_pipeline(SimpleImputer(keep_empty_features=keep), APTree()).fit(X, y)
            expected = pipeline.score_samples(X)
        np.testing.assert_array_equal(evaluated(pipeline_to_sql(pipeline), X), expected)


class Doubled(StandardScaler):
    def transform(self, X, copy=None):
        return 2 * super().transform(X, copy)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (RobustScaler(), "The step 'odd', RobustScaler, cannot be written as SQL"),
        (Doubled(), "The step 'odd', Doubled, cannot be written as SQL"),
        (FunctionTransformer(np.abs), "The step 'odd', FunctionTransformer, cannot"),
        (make_pipeline(RobustScaler()), "The step 'robustscaler', RobustScaler, cannot"),
        (OrdinalEncoder(max_categories=2), "The step 'odd', OrdinalEncoder, .* leave min_frequency and max_categories"),
    ],
)
def test_other_steps_are_refused_by_name(step, message):
    X, y = np.arange(12.0)[:, None] % 5, [0, 1] * 6
    with pytest.raises(ValueError, match=message):
        pipeline_to_sql(Pipeline([("odd", step), ("tree", APTree())]).fit(X, y))


def test_other_models_and_columns_are_refused():
    X, y = np.arange(12.0)[:, None] % 5, [0, 1] * 6
    with pytest.raises(ValueError, match="ends in LogisticRegression"):
        pipeline_to_sql(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y))
    with pytest.raises(ValueError, match="this is APTree"):
        pipeline_to_sql(APTree().fit(X, y))
    with pytest.raises(NotFittedError):
        pipeline_to_sql(make_pipeline(StandardScaler(), APTree()))
    twice = pd.DataFrame({"Amount": X[:, 0], "amount": X[:, 0]})
    with pytest.raises(ValueError, match="'Amount', 'amount' have one name"):
        APTree().fit(twice, y).to_sql()
    dates = pd.DataFrame({"day": [datetime.date(2024, 1, 1 + i % 5) for i in range(12)]})
    with pytest.raises(ValueError, match=r"'ordinalencoder', .* cannot be written as SQL: datetime.* is not a text"):
        pipeline_to_sql(make_pipeline(OrdinalEncoder(), APTree()).fit(dates, y))
    both = pd.DataFrame({"c": pd.Series(["a", None, np.nan] * 4, dtype=object)})
    with pytest.raises(ValueError, match="knows both NaN and None"):
        pipeline_to_sql(make_pipeline(OrdinalEncoder(), APTree()).fit(both, y))
