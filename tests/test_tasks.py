"""Fourteen tasks of a bank's data scientist, each as short as it should be."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, brier_score_loss
from sklearn.model_selection import GridSearchCV, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce
from scarce import TunedThreshold
from scarce.datasets import make_transactions
from scarce.metrics import bootstrap_interval, group_precision_at_k, profit_score, value_at_k
from scarce.model_selection import DelayedTimeSplit
from scarce.neighbors import CCNND, GFRNN, GammaKNN
from scarce.objectives import Budget, RecallAtLeast
from scarce.profit import BayesProfitClassifier, Gains
from scarce.sampling import ResampledClassifier
from scarce.trees import APTree, MetaAP

LOGISTIC = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())


@pytest.fixture(scope="module")
def split():
    X, y = make_classification(3000, 6, n_informative=4, n_redundant=0, weights=[0.94], class_sep=0.8, random_state=0)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(6)])
    return train_test_split(frame, y, test_size=0.5, stratify=y, random_state=0)


def test_pipeline_and_grid(split):
    X, X_test, y, y_test = split
    pipeline = make_pipeline(StandardScaler(), GammaKNN(threshold="f1"))
    search = GridSearchCV(pipeline, {"gammaknn__n_neighbors": [3, 9]}, scoring="average_precision", cv=3).fit(X, y)
    assert average_precision_score(y_test, search.decision_function(X_test)) > 3 * y_test.mean()


def test_polars_and_pandas(split):
    X, X_test, y, _ = split
    by_pandas = GammaKNN().fit(X, y).score_samples(X_test)
    by_polars = GammaKNN().fit(pl.from_pandas(X), y).score_samples(pl.from_pandas(X_test))
    np.testing.assert_array_equal(by_pandas, by_polars)


def test_money():
    payments = make_transactions(8000, fraud_rate=0.02, seed=0).frame
    X, y = payments.select_dtypes("number").drop(columns="fraud"), payments["fraud"]
    gains = Gains(tp=0, fn="-0.8 * amount", fp="margin - zeta", tn="margin", zeta=5)(payments)
    frame = pd.DataFrame(gains, columns=["tp", "fp", "tn", "fn"])[["fn", "tn", "fp", "tp"]]  # any order of columns
    past, new = slice(5000), slice(5000, None)
    model = BayesProfitClassifier(LOGISTIC)
    model.fit(X[past], y[past], gains=frame[past])
    accepted_all = profit_score(y[new], np.zeros(3000), gains[new])
    assert profit_score(y[new], model.predict(X[new], gains=frame[new]), frame[new]) >= accepted_all


def test_thresholds(split):
    X, X_test, y, y_test = split
    model = TunedThreshold(LogisticRegression(), threshold=RecallAtLeast(0.8)).fit(X, y)
    assert model.predict(X_test)[y_test == 1].mean() > 0.65
    assert TunedThreshold(LogisticRegression(), threshold=Budget(rows=30)).fit(X, y).predict(X).sum() <= 60


def test_probabilities(split):
    X, X_test, y, y_test = split
    plain = LogisticRegression().fit(X, y).predict_proba(X_test)[:, 1]
    tuned = TunedThreshold(LogisticRegression(), threshold="f1").fit(X, y).predict_proba(X_test)[:, 1]
    np.testing.assert_array_equal(tuned, plain)
    by_neighbours = GammaKNN(15).fit(X, y).predict_proba(X_test)[:, 1]
    assert brier_score_loss(y_test, by_neighbours) < y_test.mean() * (1 - y_test.mean())


def test_time_and_groups():
    payments = make_transactions(6000, fraud_rate=0.03, seed=1).frame
    X, y = payments.select_dtypes("number").drop(columns="fraud"), payments["fraud"]
    cv = DelayedTimeSplit(3, train="60d", delay="7d", test="30d")
    with config_context(enable_metadata_routing=True):
        found = cross_validate(
            LOGISTIC,
            X,
            y,
            cv=cv,
            scoring="average_precision",
            params={"times": payments["date"]},
        )
    assert found["test_score"].mean() > y.mean()
    model = TunedThreshold(LOGISTIC, threshold="f1")
    scores = model.honest_scores(X, y, groups=payments["customer_id"])
    month = payments["date"].dt.month
    assert group_precision_at_k(y, scores, payments["customer_id"], month, k=20) > y.mean()


def test_stream():
    pytest.importorskip("river", reason='needs pip install "scarce[stream]"')
    from river import evaluate, metrics

    from scarce.stream import to_river

    X, y = make_classification(300, 4, n_informative=3, n_redundant=0, weights=[0.8], random_state=0)
    rows = ((dict(zip("abcd", row, strict=True)), int(label)) for row, label in zip(X.tolist(), y, strict=True))
    figure = evaluate.progressive_val_score(rows, to_river(CCNND()), metrics.GeometricMean())
    assert figure.get() > 0.5


def test_explanations(split):
    X, X_test, y, _ = split
    for model in (GammaKNN().fit(X, y), MetaAP(3).fit(X, y), TunedThreshold(LogisticRegression()).fit(X, y)):
        explanation = model.explain(X_test[:2])
        np.testing.assert_allclose(explanation.score, model.score_samples(X_test[:2]))
        assert list(explanation.to_frame().columns) == ["row", "feature", "value", "usual", "effect"]
        assert "score" in str(explanation)


def test_safe_files(split, tmp_path):
    skops = pytest.importorskip("skops.io")
    X, X_test, y, _ = split
    model = make_pipeline(StandardScaler(), GammaKNN()).fit(X, y)
    skops.dump(model, tmp_path / "model.skops")
    loaded = skops.load(tmp_path / "model.skops", trusted=scarce.trusted_types())
    np.testing.assert_array_equal(loaded.score_samples(X_test), model.score_samples(X_test))


def test_several_classes():
    X, y = make_classification(
        600, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, weights=[0.7, 0.2], random_state=0
    )
    for model in (GammaKNN(), GFRNN(), CCNND()):
        model.fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        assert len(model.explain(X[:2])) == 2


def test_metrics(split):
    X, X_test, y, y_test = split
    score = LogisticRegression().fit(X, y).decision_function(X_test)
    amount = np.arange(len(y_test))
    assert 0 < value_at_k(y_test, score, 50, amount) < amount[y_test == 1].sum()
    customer = np.arange(len(y_test)) // 4
    wide = bootstrap_interval(average_precision_score, y_test, score, clusters=customer, n_resamples=200)
    assert wide.low < wide.estimate < wide.high


def test_samplers(split):
    X, X_test, y, y_test = split
    model = ResampledClassifier(LogisticRegression(), sampler="smote", random_state=0).fit(X, y)
    assert model.predict_proba(X_test)[:, 1].mean() == pytest.approx(y_test.mean(), abs=0.04)


def test_comparison(split, tmp_path):
    from scarce.study import Store, own_study, run_study, tabulate

    X, _, y, _ = split
    X[:600].assign(fraud=y[:600]).to_csv(tmp_path / "mine.csv", index=False)
    study = own_study([tmp_path / "mine.csv"], "fraud", ["GammaKNN"], splits=1)
    with Store(tmp_path / "store.sqlite") as store:
        assert run_study(study, store).failed == 0
        assert {column["label"] for column in tabulate(study, store)["tables"][0]["columns"]} >= {"GammaKNN"}


def test_sql(split):
    duckdb = pytest.importorskip("duckdb")
    X, X_test, y, _ = split
    model = APTree(max_depth=4).fit(X, y)
    by_sql = duckdb.sql(f"SELECT {model.to_sql()} AS score FROM X_test").df()["score"]
    np.testing.assert_array_equal(by_sql, model.score_samples(X_test))
