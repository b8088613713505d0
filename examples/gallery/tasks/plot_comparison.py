"""
Compare methods over several tables
===================================

A method that wins on one table may lose on the next. Over tables, methods are ranked, and Nemenyi's test says how far
mean ranks must be apart (Demšar, 2006). The tables here are simulated and easy; `scarce study compare` does the same
with tables of your own, with forests and boosting beside the methods.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from scarce.neighbors import GFRNN, GammaKNN
from scarce.plotting import CriticalDifferenceDisplay

METHODS = {
    "GammaKNN": GammaKNN(),
    "GFRNN": GFRNN(),
    "extra trees": ExtraTreesClassifier(50, min_samples_leaf=2, random_state=0),
    "logistic regression": LogisticRegression(),
}
scores = np.empty((8, len(METHODS)))
for seed in range(len(scores)):
    X, y = make_classification(
        400, 8, n_informative=4, n_clusters_per_class=1 + seed % 3, weights=[0.9], class_sep=0.7, random_state=seed
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for column, method in enumerate(METHODS.values()):
        scores[seed, column] = cross_val_score(method, X, y, cv=folds, scoring="average_precision").mean()

# %%
# A bar joins methods that eight tables cannot tell apart.
display = CriticalDifferenceDisplay.from_scores(scores, names=list(METHODS))
plt.show()
