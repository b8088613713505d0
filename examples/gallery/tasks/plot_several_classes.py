"""
Several classes
===============

Two kinds of fraud among many genuine payments are three classes. γk-NN then has a γ for each class but the largest, and
their regions grow; GFRNN gives rare classes more mass. On the left is the plain vote of the nearest neighbours. The
rows are simulated.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier

from scarce.neighbors import GFRNN, GammaKNN

COLOURS = ["#E69F00", "#0072B2", "#009E73"]


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three overlapping classes, of which the first is the large one."""
    y = rng.choice(3, n, p=[0.88, 0.08, 0.04])
    return rng.normal(np.array([(0, 0), (2, 1), (-1, 2.2)])[y], np.array([1, 0.6, 0.5])[y, None]), y


rng = np.random.default_rng(0)
(X, y), (X_test, y_test) = draw(500, rng), draw(3_000, rng)

# %%
# The title has the balanced accuracy, the mean of the classes' recalls, on new rows.
fig, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for ax, model in zip(axes, (KNeighborsClassifier(3), GammaKNN(3), GFRNN()), strict=True):
    model.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", plot_method="pcolormesh", multiclass_colors=COLOURS, alpha=0.3, ax=ax
    )
    for label, colour in enumerate(COLOURS):
        ax.scatter(*X[y == label].T, s=10, color=colour, edgecolor="black", linewidth=0.3)
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{type(model).__name__}: {balanced_accuracy_score(y_test, model.predict(X_test)):.2f}")
plt.show()
