"""
Decide by money
===============

A missed fraud costs 80 % of its amount, a refused customer costs 5 euros and the margin. So the probability above which
it pays to refuse depends on the payment: for a large amount a small one is enough. `BayesProfitClassifier` compares a
calibrated probability with the threshold of each row. The payments are **simulated**.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from scarce.datasets import make_transactions
from scarce.metrics import profit_score
from scarce.plotting import ProfitCurveDisplay
from scarce.profit import BayesProfitClassifier, Gains

payments = make_transactions(8_000, fraud_rate=0.03, seed=1)
X, y = payments.data.select_dtypes("number"), payments.target.to_numpy()
gains = Gains(tp=0, fn="-0.8 * amount", fp="margin - zeta", tn="margin", zeta=5)
past, new = slice(5_000), slice(5_000, None)

# %%
# On the left is the profit of every single threshold for all rows, beside that of deciding row by row. On the right are
# the payments: the line is the threshold of each amount, and what lies above it is refused.
boosting = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, random_state=0)
model = BayesProfitClassifier(boosting).fit(X[past], y[past], gains=gains(X[past]))
called = model.predict(X[new], gains=gains(X[new]))

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ProfitCurveDisplay.from_estimator(model, X[new], y[new], gains, ax=left)
amount, probability = X["amount"][new].to_numpy(), model.predict_proba(X[new])[:, 1]
for refused, name in ((False, "accepted"), (True, "refused")):
    right.plot(amount[called == refused], probability[called == refused], ".", markersize=4, label=name)
order = np.argsort(amount)
right.plot(amount[order], gains.thresholds(X[new])[order], ".", color="black", markersize=1, label="threshold")
right.set(xscale="log", yscale="log", xlabel="amount", ylabel="probability of fraud")
right.legend()
plt.show()

# %%
# Profit of three rules on the new payments.
rules = {"accept all": np.zeros(len(called)), "probability > 1/2": probability > 0.5, "row by row": called}
for name, decisions in rules.items():
    print(f"{name:>18}: {profit_score(y[new], decisions, gains(X[new])):,.0f}")
