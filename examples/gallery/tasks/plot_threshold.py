"""
Choose a threshold
==================

A probability of 1/2 is rarely the right threshold for a rare class. Here logistic regression gets the one with the best
F1, and the one with the best precision among those that find 80 % of the positives. Both are chosen on *honest scores*:
each training row is scored by a model that did not see it, and every threshold is tried.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import train_test_split

from scarce import TunedThreshold
from scarce.objectives import RecallAtLeast
from scarce.plotting import PrecisionRecallThresholdDisplay, ThresholdCurveDisplay

X, y = make_classification(6_000, weights=[0.95], n_informative=4, class_sep=0.9, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

# %%
# On the left is F1 at every threshold of the training rows, on the right precision and recall of the test rows.
best_f1 = TunedThreshold(LogisticRegression(), threshold="f1").fit(X, y)
high_recall = TunedThreshold(LogisticRegression(), threshold=RecallAtLeast(0.8)).fit(X, y)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ThresholdCurveDisplay.from_training(best_f1, X, y, ax=left)
left.set_title("Training rows, honest scores")
PrecisionRecallThresholdDisplay.from_estimator(best_f1, X_test, y_test, ax=right)
right.set_title("Test rows")
plt.show()

# %%
# Each threshold keeps its promise on the test rows, about.
plain = LogisticRegression().fit(X, y)
for name, model in {"probability > 1/2": plain, "best F1": best_f1, "recall of 0.8": high_recall}.items():
    called = model.predict(X_test)
    figures = (metric(y_test, called) for metric in (f1_score, precision_score, recall_score))
    print(f"{name:>18}: F1 {next(figures):.2f}, precision {next(figures):.2f}, recall {next(figures):.2f}")
