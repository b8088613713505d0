"""
How γ widens the regions of the rare class
==========================================

In a nearest-neighbour vote each positive row owns a piece of the plane: the queries that are closer to it than to
any negative row. Where positives are scarce these pieces are small, and most new positives fall outside. γk-NN
multiplies the distances to positive rows by γ < 1, so the pieces grow: a little with γ near 1, until with a small γ
they leave nothing but islands around the negative rows.

Which γ is right? Every row's score is the γ at which it changes sides, so one neighbour search gives the F1 of all
γ at once. The last panel shows that curve, measured on each row by the others, and the γ that `GammaKNN` picks.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from scarce.neighbors import GammaKNN
from scarce.plotting import GammaPathDisplay

POSITIVE, NEGATIVE = "#0072B2", "#E69F00"  # a blue and an orange that colour-blind readers tell apart


def make_toy() -> tuple[np.ndarray, np.ndarray]:
    """Return 80 negatives all over the plane and 12 positives in two crowds among them."""
    rng = np.random.default_rng(0)
    negatives = rng.uniform((-3, -2), (3, 2), size=(80, 2))
    positives = rng.normal(np.repeat([(-1.4, 0.7), (1.5, -0.7)], 6, axis=0), 0.3)
    return np.concatenate((negatives, positives)), np.repeat([0, 1], (80, 12))


def draw_regions(ax: plt.Axes, model: GammaKNN, X: np.ndarray, y: np.ndarray, title: str) -> None:
    """Colour the plane by the predictions of the model, and put the rows on top."""
    # scikit-learn's own display does it: GammaKNN is a classifier like any other.
    regions = DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        response_method="predict",
        plot_method="contourf",
        levels=[-0.5, 0.5, 1.5],
        colors=[NEGATIVE, POSITIVE],
        alpha=0.25,
        grid_resolution=300,
        eps=0.3,
        ax=ax,
    )
    ax.contour(regions.xx0, regions.xx1, regions.response, levels=[0.5], colors="black", linewidths=0.7)
    ax.scatter(*X[y == 0].T, s=12, color=NEGATIVE, edgecolor="black", linewidth=0.4, label="negative row")
    ax.scatter(*X[y == 1].T, s=45, color=POSITIVE, marker="P", edgecolor="white", linewidth=0.6, label="positive row")
    ax.set(title=title, xticks=[], yticks=[], xlabel="", ylabel="", aspect="equal")


# %%
# One search gives each row the γ at which it would change sides, had it not been among the training rows.
X, y = make_toy()
tuned = GammaKNN(n_neighbors=1).fit(X, y)
gammas = {"a": 1.0, "b": tuned.gamma_, "c": 0.3, "d": 0.1}
models = {panel: GammaKNN(n_neighbors=1, gamma=gamma).fit(X, y) for panel, gamma in gammas.items()}

figure, axes = plt.subplot_mosaic("abcd;pppp", figsize=(12, 6.4), layout="constrained", height_ratios=(1, 1.4))
for panel, model in models.items():
    draw_regions(axes[panel], model, X, y, f"({panel}) γ = {model.gamma_:.2g}")
figure.legend(*axes["a"].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)

names = {"a": "a, plain k-NN", "b": "b, the best", "c": "c", "d": "d"}
GammaPathDisplay.from_scores(
    tuned.honest_scores(X, y),
    y,
    thresholds={names[panel]: model.threshold_ for panel, model in models.items()},
    ax=axes["p"],
)
plt.show()
