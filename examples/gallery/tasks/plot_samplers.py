"""
SMOTE, and what it does to probabilities
========================================

Resampling makes the classes equally frequent, so that a model trained on its rows believes that half of the world is
positive. `ResampledClassifier` resamples inside `fit`, honest scores included, and corrects the probabilities for the
share that positives really have. The samplers are imbalanced-learn's.
"""

import matplotlib.pyplot as plt
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import make_pipeline
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from scarce.plotting import ReliabilityDisplay
from scarce.sampling import ResampledClassifier

X, y = make_classification(8_000, weights=[0.95], n_informative=4, class_sep=0.8, random_state=0)
train, test = slice(4_000), slice(4_000, None)

# %%
# All three rank alike. Only the plain pipeline is far too sure of positives.
models = {
    "SMOTE, as it comes": make_pipeline(SMOTE(random_state=0), LogisticRegression()),
    "SMOTE, corrected": ResampledClassifier(LogisticRegression(), sampler="smote", random_state=0),
    "no resampling": LogisticRegression(),
}
fig, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    probability = model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    ReliabilityDisplay.from_predictions(y[test], probability, ax=ax, name=name)
    ax.set_title(f"average precision {average_precision_score(y[test], probability):.3f}")
plt.show()
