"""
Calibrated probabilities
========================

The score of a method is not a probability. `predict_proba` is one, since a curve is fitted on honest scores: of 100
rows with a probability of 0.2, about 20 are positive. With `calibration=None` the score is only squeezed into (0, 1)
and the points leave the diagonal.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from scarce.metrics import expected_calibration_error
from scarce.neighbors import GFRNN
from scarce.plotting import ReliabilityDisplay

X, y = make_classification(8_000, weights=[0.93], n_informative=4, flip_y=0.05, random_state=0)
train, test = slice(4_000), slice(4_000, None)

# %%
# Points are bins of equally many test rows, with 95 % intervals.
fig, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, {"calibrated": GFRNN(), "squeezed": GFRNN(calibration=None)}.items(), strict=True):
    model.fit(X[train], y[train])
    error = expected_calibration_error(y[test], model.predict_proba(X[test])[:, 1])
    ReliabilityDisplay.from_estimator(model, X[test], y[test], ax=ax, name=name)
    ax.set_title(f"{name}: expected calibration error {error:.3f}")
plt.show()
