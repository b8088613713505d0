"""
Which model earns most?
=======================

A retailer's payments are not equal: a missed fraud costs most of its amount, a refused customer costs a margin and some
goodwill, ζ. The thesis behind this library compares eight models on ten months of payments, six for training and four
for testing, by the gap between what their decisions earn and what perfect decisions would (its Table 6.2). Below
is the same comparison on simulated payments, beside the Bayes rule: a calibrated probability, compared with a
threshold that depends on the amount of each payment.

The picture on the right is the menu for a retailer that would rather not annoy customers: the model is trained with a
higher ζ than the real one, gives up some profit, and is right more often when it refuses (Figure 6.1 of the thesis).

The data are simulated, and few: the figures show how to compare models, not which of them is best.
"""

import matplotlib.pyplot as plt
import numpy as np
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import precision_score

from scarce.boosting import ProfitBoosting
from scarce.datasets import make_transactions
from scarce.metrics import profit_gap_score
from scarce.objectives import FBeta, PrecisionAtLeast, Profit
from scarce.plotting import ProfitMenuDisplay
from scarce.profit import BayesProfitClassifier, Gains
from scarce.trees import ProfitForest

# The gains of accepting or refusing a payment. A refused customer pays otherwise, but may not come back.
COSTS = Gains(tp=0, fn="-0.8 * amount", fp="margin - zeta", tn="margin", zeta=5)
TREES = {"n_estimators": 60, "num_leaves": 8, "learning_rate": 0.1, "reg_lambda": 5.0, "random_state": 0, "n_jobs": 1}
FOREST = {"n_estimators": 24, "max_depth": 10, "random_state": 0}
OF_THESIS = {"max_features": "sqrt", "min_samples_leaf": 20}  # it gives neither; RF has the first
MIN_VOTES = 9 / 24  # of the trees, as at the company of the thesis


def votes(forest, X):
    """Return the share of a forest's trees that call each row a fraud."""
    return np.mean([tree.predict_proba(X)[:, 1] > 0.5 for tree in forest.estimators_], axis=0)


def decide(X, y, gains, X_new, gains_new):
    """Return which of the new payments each model refuses."""
    train, valid = np.split(np.arange(len(y)), [2 * len(y) // 3])  # four months and two
    refused = {"RF": votes(RandomForestClassifier(**FOREST).fit(X, y), X_new) >= MIN_VOTES}
    for vote, name in (("majority", "RF_prof"), ("max", "RF_max-prof"), ("mean", "RF_mean-prof")):
        model = ProfitForest(vote=vote, min_votes=MIN_VOTES, **OF_THESIS, **FOREST).fit(X, y, gains=gains)
        refused[name] = model.predict(X_new) == 1

    boosting = LGBMClassifier(**TREES, verbose=-1).fit(X[train], y[train])
    scores, scores_new = boosting.predict_proba(X[valid])[:, 1], boosting.predict_proba(X_new)[:, 1]
    rivals = votes(RandomForestClassifier(**FOREST).fit(X[train], y[train]), X[valid]) >= MIN_VOTES
    wanted = min(precision_score(y[valid], rivals), precision_score(y[valid], scores >= scores.max()))
    for name, objective in (
        ("GB_tune-pre", PrecisionAtLeast(wanted)),
        ("GB_tune-prof", Profit(gains[valid])),
        ("GB_tune-F1", FBeta(1)),
    ):
        refused[name] = scores_new > objective.best_threshold(scores, y[valid]).threshold

    refused["GB_prof"] = ProfitBoosting("exponential", **TREES).fit(X, y, gains=gains).predict(X_new) == 1
    refused["ProfitBoosting"] = ProfitBoosting(**TREES).fit(X, y, gains=gains).predict(X_new) == 1
    bayes = BayesProfitClassifier(LGBMClassifier(**TREES, verbose=-1)).fit(X, y, gains=gains)
    refused["Bayes rule"] = bayes.predict(X_new, gains=gains_new) == 1
    return refused


# %%
# Six months train the models, and four test them.
payments = make_transactions(12_000, fraud_rate=0.03, seed=1)
frame = payments.data
past = (frame["date"].dt.month <= 6).to_numpy()
gains, y = COSTS(frame), payments.target.to_numpy()
table = frame.drop(columns=["date", "customer_id"])
words = table.select_dtypes("category").columns
table[words] = table[words].apply(lambda column: column.cat.codes)
X = table.astype(float)

refused = decide(X[past].to_numpy(), y[past], gains[past], X[~past].to_numpy(), gains[~past])
gaps = {name: profit_gap_score(y[~past], called, gains[~past]) for name, called in refused.items()}

figure, axes = plt.subplot_mosaic([["gap", "profit"], ["gap", "rates"]], figsize=(11, 6), layout="constrained")
names = sorted(gaps, key=gaps.get, reverse=True)
bars = axes["gap"].barh(names, [100 * gaps[name] for name in names], color="#0072B2")
axes["gap"].bar_label(bars, fmt="%.2f %%", padding=3)
axes["gap"].margins(x=0.2)
axes["gap"].set(xlabel="Gap to the profit of perfect decisions, in %", title="Less is better")

axes["rates"].sharex(axes["profit"])
split = [(np.flatnonzero(past), np.flatnonzero(~past))]
model = ProfitBoosting(**TREES)
ProfitMenuDisplay.from_training(model, X, y, COSTS, [2, 5, 15, 40], cv=split, axes=(axes["profit"], axes["rates"]))
axes["profit"].set(title="The menu of GB_prof")
plt.show()
