"""
A tree of rules that a person can read
======================================

`MetaAP` is a tree of trees: several paths lead to the same rule, so that few rules are left to read. They are ordered
by their precision, which is what a queue needs. The tumours come with scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from scarce.plotting import MetaTreeDisplay
from scarce.trees import MetaAP

tumours = load_breast_cancer(as_frame=True)
rows = np.flatnonzero((tumours.target == 1) | (np.arange(len(tumours.target)) % 4 == 0))
X = tumours.data.iloc[rows, :10].rename(columns=lambda name: name.removeprefix("mean "))
y = tumours.target.iloc[rows] == 0

# %%
# The colour of a box is the share of malignant tumours.
model = MetaAP(max_depth=2).fit(X, y)
fig, ax = plt.subplots(figsize=(11, 6), layout="constrained")
MetaTreeDisplay.from_estimator(model, ax=ax)
plt.show()

# %%
# The rule of one case in words.
print(model.explain(X[y].head(1)).rule[0])
