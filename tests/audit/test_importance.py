"""The importance of columns and the dependence on them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scarce.audit.importance import column_importance, dependence
from scarce.tables import Column, summarise_columns


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "noise": rng.random(3_000),
            "signal": rng.random(3_000),
            "shop": rng.choice(["a", "b"], 3_000),
            "paid": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9, 3_000), unit="D"),
        }
    )
    return X, (rng.random(3_000) < X["signal"] ** 8).astype(int).to_numpy()


def test_the_column_that_matters_comes_first(rows):
    X, y = rows
    found = column_importance(lambda frame: frame["signal"].to_numpy(), X, y)
    assert found[0].column == "signal"
    assert found[0].loss > 0.3
    assert found[0].low <= found[0].loss <= found[0].high
    assert [i.loss for i in found[1:]] == [0.0, 0.0, 0.0]


def test_the_loss_is_that_of_exchanged_values(rows):
    """Without the signal, the score is a random one, whose average precision is the share of positives."""
    X, y = rows
    loss = column_importance(lambda frame: frame["signal"].to_numpy(), X, y)[0].loss
    from sklearn.metrics import average_precision_score

    assert loss == pytest.approx(average_precision_score(y, X["signal"]) - y.mean(), abs=0.05)


def test_the_same_seed_gives_the_same_answer(rows):
    X, y = rows
    assert column_importance(lambda f: f["signal"].to_numpy(), X, y) == column_importance(
        lambda f: f["signal"].to_numpy(), X, y
    )


def test_dependence_is_the_mean_over_rows(rows):
    X, _ = rows
    X = X.iloc[:200]  # fewer than are drawn, so that all take part
    columns = [Column("signal", "number"), Column("shop", "category"), Column("paid", "date")]
    usual = summarise_columns(X, columns)

    def probability_of(frame):
        return (0.5 * frame["signal"] + 0.3 * (frame["shop"] == "a") + 0.1 * (frame["paid"].dt.day > 4)).to_numpy()

    signal, shop, paid = dependence(probability_of, X, usual, ["signal", "shop", "paid"])
    rest = probability_of(X.assign(signal=0.0)).mean()
    np.testing.assert_allclose(signal.probability, rest + 0.5 * np.array(signal.values))
    assert shop.probability[shop.values.index("a")] == pytest.approx(shop.probability[shop.values.index("b")] + 0.3)
    assert max(paid.probability) - min(paid.probability) == pytest.approx(0.1)
