"""
Time, delay and groups
======================

An outcome becomes known late, and a customer has many rows. A test on rows drawn at random ignores both: it learns from
frauds that nobody knew of yet, and recognises customers that it has seen. `DelayedTimeSplit` trains on the past, leaves
out the days whose outcomes were unknown, and tests on what follows. The payments are **simulated**.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold

from scarce.datasets import make_transactions
from scarce.metrics import group_precision_at_k
from scarce.model_selection import DelayedTimeSplit

payments = make_transactions(8_000, fraud_rate=0.03, seed=1).frame
X, y = payments.select_dtypes("number").drop(columns="fraud"), payments["fraud"]
day = (payments["date"] - payments["date"].min()).dt.days

# %%
# Above are the days that each split learns from and is tested on, below the average precision on them.
model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, random_state=0)
splits = {
    "by time, 14 days of delay": DelayedTimeSplit(5, train="120d", delay="14d", test="30d"),
    "at random": StratifiedKFold(5, shuffle=True, random_state=0),
}
fig, (above, below) = plt.subplots(2, 1, figsize=(8, 6), layout="constrained")
for name, cv in splits.items():
    by_time = isinstance(cv, DelayedTimeSplit)
    found = []
    for i, (train, test) in enumerate(cv.split(X, y, **({"times": payments["date"]} if by_time else {}))):
        model.fit(X.iloc[train], y.iloc[train])
        score = model.predict_proba(X.iloc[test])[:, 1]
        found.append(average_precision_score(y.iloc[test], score))
        if by_time:
            for rows, colour, part in ((train, "#0072B2", "train"), (test, "#D55E00", "test")):
                above.plot(day.iloc[rows], np.full(len(rows), i), "|", color=colour, label=part if i == 0 else None)
            customers = group_precision_at_k(y.iloc[test], score, payments["customer_id"].iloc[test], k=20)
            print(f"split {i}: of the first 20 customers, {20 * customers:.0f} have a fraud")
    below.plot(found, "o-", label=f"{name}: mean {np.mean(found):.2f}")
above.set(xlabel="day", ylabel="split", title="DelayedTimeSplit")
below.set(xlabel="split", ylabel="average precision", ylim=(0, None))
above.legend(loc="lower right")
below.legend()
plt.show()
