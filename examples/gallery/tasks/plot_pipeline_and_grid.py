"""
Pipelines and grid searches
===========================

Every method is a scikit-learn classifier, so that it goes into a pipeline, and a search finds its parameters. Here a
grid tries the number of neighbours and the scaling of γk-NN by average precision. The tumours come with scikit-learn;
most of the malignant ones are left out, so that they are rare.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from scarce.neighbors import GammaKNN

X, benign = load_breast_cancer(return_X_y=True)
rows = np.flatnonzero((benign == 1) | (np.arange(len(X)) % 4 == 0))
X, y = X[rows, :10], benign[rows] == 0

# %%
# The threshold that is best for F1 is found within each fit, so that it needs no place in the grid.
search = GridSearchCV(
    Pipeline([("scale", StandardScaler()), ("neighbours", GammaKNN(threshold="f1"))]),
    {"scale": [StandardScaler(), MinMaxScaler(), RobustScaler()], "neighbours__n_neighbors": [1, 3, 5, 9, 15, 25]},
    scoring="average_precision",
).fit(X, y)

fig, ax = plt.subplots(layout="constrained")
found = search.cv_results_
for scaler in (StandardScaler, MinMaxScaler, RobustScaler):
    mine = np.array([isinstance(each, scaler) for each in found["param_scale"]])
    k = found["param_neighbours__n_neighbors"][mine].astype(int)
    ax.errorbar(k, found["mean_test_score"][mine], found["std_test_score"][mine], marker="o", label=scaler.__name__)
ax.set(xlabel="n_neighbors", ylabel="average precision, mean and deviation of 5 folds")
ax.legend()
plt.show()
