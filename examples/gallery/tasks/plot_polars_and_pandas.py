"""
polars, pandas and NumPy give the same scores
=============================================

A model takes any of them, and remembers the names of the columns. The explanation of a row is a frame of the caller's
choice of words: `to_frame()` gives pandas, `to_dicts()` plain data. The payments are **simulated**.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from scarce.datasets import make_transactions
from scarce.trees import MetaAPForest

frame = make_transactions(3_000, fraud_rate=0.05, seed=0).frame
columns = ["amount", "distance_home", "payments_7d", "amount_30d", "hour"]
in_pandas = frame[columns].fillna(0.0)
in_polars = pl.from_pandas(in_pandas)

# %%
# A model that was fitted on polars scores pandas, and the other way round.
model = MetaAPForest(20, random_state=0).fit(in_polars[:2_000], frame["fraud"][:2_000])
by_polars = model.score_samples(in_polars[2_000:])
by_pandas = model.score_samples(in_pandas[2_000:])
print("equal scores:", bool(np.all(by_polars == by_pandas)), "- columns:", *model.feature_names_in_)

effects = pl.from_pandas(model.explain(in_polars[2_000:2_400]).to_frame())
strength = effects.group_by("feature").agg(pl.col("effect").abs().mean()).sort("effect")
fig, ax = plt.subplots(layout="constrained")
ax.barh(strength["feature"], strength["effect"])
ax.set_xlabel("mean absolute effect on the score")
plt.show()
