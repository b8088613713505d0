"""
One row, three methods, one form of reasons
===========================================

A score alone does not help the person who has to check the case. Every method of this library explains its scores in
the same form: what each feature of the row adds to its score, beside the usual value of the feature, and where the
method knows them the training rows that decided, or the rule that the row meets.

Three methods explain the score of the same tumour. A forest of readable trees shares the score out by exact Shapley
values, so that the bars lead from the mean score to that of the row. Nearest neighbours compare the distances to the
malignant and the benign tumours that decide, and each feature has its part in them; the bars add up too. Around any
other classifier, here logistic regression, a bar is what the score loses when that feature alone becomes a usual one;
such bars do not add up, and each starts from the same base.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from scarce import TunedThreshold
from scarce.neighbors import GammaKNN
from scarce.plotting import ExplanationDisplay
from scarce.trees import MetaAPForest

FEATURES = ["radius", "texture", "smoothness", "concavity", "symmetry"]
METHODS = {
    "MetaAPForest: Shapley values": MetaAPForest(20, max_depth=3, random_state=0),
    "GammaKNN: parts in two distances": GammaKNN(),
    "LogisticRegression: occlusion": TunedThreshold(LogisticRegression()),
}


# %%
# The case is a malignant tumour that is not among the training rows.
tumours = load_breast_cancer(as_frame=True)
X = tumours.data[[f"mean {name}" for name in FEATURES]].set_axis(FEATURES, axis="columns")
X = ((X - X.mean()) / X.std()).round(2)
y = tumours.target_names[tumours.target]
rare = np.flatnonzero((y == "benign") | (np.arange(len(y)) % 8 == 0))
case = X.iloc[[2]]  # a malignant one, which is not among the training rows

figure, axes = plt.subplots(3, 1, figsize=(7, 10), layout="constrained")
for ax, (name, method) in zip(axes, METHODS.items(), strict=True):
    model = method.fit(X.iloc[rare], y[rare])
    ExplanationDisplay.from_estimator(model, case, ax=ax)
    ax.set_title(name, loc="left", pad=20)
    print(model.explain(case), end="\n\n")
plt.show()
