"""
Metrics for few positives, with intervals
=========================================

With 60 positives a figure is uncertain, and the rows of one customer are alike. `bootstrap_interval` draws rows, or
whole customers, and gives the interval of any metric: average precision, precision and recall among the first k rows,
or the money among them. The payments are **simulated**.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score

from scarce.datasets import make_transactions
from scarce.metrics import bootstrap_interval, precision_at_k, recall_at_k, value_at_k

payments = make_transactions(6_000, fraud_rate=0.03, seed=0)
X, y = payments.data.select_dtypes("number"), payments.target
past, new = slice(4_000), slice(4_000, None)
model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, random_state=0).fit(X[past], y[past])
score, customer = model.predict_proba(X[new])[:, 1], payments.data["customer_id"][new]
print(f"money in the first 50 rows: {value_at_k(y[new], score, 50, X['amount'][new]):,.0f}")

# %%
# The rows of a customer are not independent, which intervals by customers take into account.
metrics = {
    "average precision": average_precision_score,
    "precision at 50": lambda y, score: precision_at_k(y, score, 50),
    "recall at 50": lambda y, score: recall_at_k(y, score, 50),
}
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for row, metric in enumerate(metrics.values()):
    for shift, (drawn, clusters) in enumerate({"rows": None, "customers": customer}.items()):
        found = bootstrap_interval(metric, y[new], score, clusters=clusters, n_resamples=200)
        error = [[found.estimate - found.low], [found.high - found.estimate]]
        label = f"95 % interval, drawing {drawn}" if row == 0 else None
        ax.errorbar(found.estimate, row + 0.2 * shift, xerr=error, fmt="o", color=f"C{shift}", capsize=3, label=label)
ax.set(yticks=[0.1, 1.1, 2.1], yticklabels=metrics, xlim=(0, 1))
ax.legend()
plt.show()
