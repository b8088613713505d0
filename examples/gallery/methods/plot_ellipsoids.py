"""
An ellipsoid around each known fraud
====================================

ME² puts an ellipsoid around each positive row, as large as it can be while it keeps negative rows out. A new row inside
one resembles that fraud. A large `lam` keeps the shapes round. The rows are simulated.
"""

import matplotlib.pyplot as plt
import numpy as np

from scarce.ellipsoids import ME2
from scarce.plotting import EllipsoidDisplay

rng = np.random.default_rng(0)
negatives = rng.uniform(0, 1, (280, 2))
positives = rng.normal([0.7, 0.35], [0.16, 0.03], (12, 2))
X, y = np.concatenate((negatives, positives)), np.repeat([False, True], (280, 12))

# %%
# The same rows with free and with round shapes.
fig, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, lam in zip(axes, (1e-4, 100), strict=True):
    model = ME2(50, tune=None, lam=lam).fit(X, y)
    EllipsoidDisplay.from_estimator(model, X, y, ax=ax)
    ax.set(title=f"lam = {lam:g}", aspect="equal", xlim=(0, 1), ylim=(0, 1))
plt.show()
