"""
Rank cases under a budget of checks
===================================

An office can check 100 payments. A model ranks all of them, the first 100 are the queue, and the question is how many
of these are frauds: the precision at k = 100. Here extra trees and γk-NN rank the same **simulated** payments.

`Budget(rows=100)` chooses the threshold that flags that number of rows, on scores of training rows that the model did
not see. For exactly 100 rows, sort by score and take the first 100.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce import TunedThreshold
from scarce.datasets import make_transactions
from scarce.metrics import precision_at_k
from scarce.neighbors import GammaKNN
from scarce.objectives import Budget
from scarce.plotting import PrecisionAtKDisplay

payments = make_transactions(8_000, fraud_rate=0.03, seed=0)
X, y = payments.data.select_dtypes("number"), payments.target
past, new = slice(5_000), slice(5_000, None)  # rows are in order of date

# %%
# Both are fitted on the past with the same budget.
trees = make_pipeline(SimpleImputer(), ExtraTreesClassifier(100, min_samples_leaf=2, random_state=0))
models = {
    "extra trees": TunedThreshold(trees, threshold=Budget(rows=100)),
    "γk-NN": make_pipeline(SimpleImputer(), StandardScaler(), GammaKNN(threshold=Budget(rows=100))),
}
fig, ax = plt.subplots(layout="constrained")
for name, model in models.items():
    model.fit(X[past], y[past])
    score = model.score_samples(X[new])
    found = precision_at_k(y[new], score, 100)
    PrecisionAtKDisplay.from_predictions(
        y[new], score, k=100, ax=ax, label=f"{name}: {100 * found:.0f} frauds in 100 checks"
    )
ax.set(xlim=(1, 500), title="Simulated payments")
plt.show()

# %%
# The queue itself is the rows in order of their score.
queue = payments.frame[new].iloc[np.argsort(-score)[:5]]
print(queue[["date", "customer_id", "amount", "distance_home", "fraud"]].to_string(index=False))
