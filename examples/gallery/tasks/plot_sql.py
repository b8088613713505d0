"""
Score in a database with SQL
============================

A tree is a sum of conditions, and `pipeline_to_sql` writes it as an expression. Behind a scaler the thresholds are
those of the raw columns. Here DuckDB scores the table, without Python's model.
"""

import duckdb
import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce.datasets import make_transactions
from scarce.trees import APTree, pipeline_to_sql

payments = make_transactions(4_000, fraud_rate=0.05, seed=0).frame
X = payments[["amount", "distance_home", "account_age", "payments_7d", "hour"]].astype(float)
model = make_pipeline(SimpleImputer(), StandardScaler(), APTree(max_depth=3)).fit(X[:3_000], payments["fraud"][:3_000])

# %%
# The expression, and the scores of both.
expression = pipeline_to_sql(model)
print(expression[:600])
new = X[3_000:]
by_sql = duckdb.sql(f"SELECT {expression} AS score FROM new").df()["score"].to_numpy()
by_python = model.score_samples(new)

fig, ax = plt.subplots(layout="constrained")
ax.plot(by_python, by_sql, "o", alpha=0.3)
ax.set(xlabel="score by Python", ylabel="score by DuckDB")
ax.set_title(f"largest difference {np.abs(by_sql - by_python).max():.1g}")
plt.show()
