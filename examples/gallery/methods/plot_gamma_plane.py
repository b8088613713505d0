"""
One γ for real rows and one for made-up rows
============================================

SMOTE fills the space between positive rows with synthetic ones. Where positives are scattered, some of these land
among negatives. γk-NN on resampled rows therefore has two γ: distances to real positives are multiplied by one,
distances to synthetic positives by the other, and with a γ above 1 synthetic rows are pushed away.

The upper panel shows the F1 of every pair of γ, measured on each row by rows that were resampled without it, and the
pair that `ResampledGammaKNN` picks: it is the best of the whole plane, found without a grid. Below, the γ of real rows
is kept and that of synthetic rows grows: the bridges that SMOTE built from the crowds to stray rows give way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from scarce.plotting import GammaPlaneDisplay
from scarce.sampling import ResampledGammaKNN, resample

POSITIVE, NEGATIVE = "#0072B2", "#E69F00"  # a blue and an orange that colour-blind readers tell apart


def make_toy() -> tuple[np.ndarray, np.ndarray]:
    """Return 200 negatives all over the plane and 26 positives: two crowds, and two strays."""
    rng = np.random.default_rng(0)
    negatives = rng.uniform((-3, -2), (3, 2), size=(200, 2))
    crowds = rng.normal(np.repeat([(-1.5, 0.8), (1.5, -0.8)], 12, axis=0), 0.3)
    strays = rng.uniform((-3, -2), (3, 2), size=(2, 2))
    return np.concatenate((negatives, crowds, strays)), np.repeat([0, 1], (200, 26))


def draw_regions(ax: plt.Axes, gamma: tuple[float, float], X: np.ndarray, y: np.ndarray) -> None:
    """Colour the plane by the predictions at a pair of γ, and put the rows on top."""
    model = ResampledGammaKNN(gamma=gamma, random_state=0).fit(X, y)
    regions = DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        response_method="predict",
        plot_method="contourf",
        levels=[-0.5, 0.5, 1.5],
        colors=[NEGATIVE, POSITIVE],
        alpha=0.25,
        grid_resolution=250,
        eps=0.1,
        ax=ax,
    )
    ax.contour(regions.xx0, regions.xx1, regions.response, levels=[0.5], colors="black", linewidths=0.7)
    rows = resample(X, y, random_state=0)
    ax.scatter(*X[y == 0].T, s=6, color=NEGATIVE, edgecolor="black", linewidth=0.2, label="negative row")
    ax.scatter(*rows.X[rows.synthetic].T, s=5, color="grey", label="synthetic positive row")
    ax.scatter(*X[y == 1].T, s=35, color=POSITIVE, marker="P", edgecolor="white", linewidth=0.5, label="positive row")
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="", aspect="equal")
    ax.set_title(f"γ = {gamma[0]:.2g} real, {gamma[1]:.2g} synthetic", fontsize=10)


# %%
# `GammaPlaneDisplay` draws the whole plane; scikit-learn's own display draws the regions.
X, y = make_toy()
model = ResampledGammaKNN(random_state=0).fit(X, y)

figure, axes = plt.subplot_mosaic("ppp;abc", figsize=(11, 8.4), layout="constrained", height_ratios=(1.7, 1))
GammaPlaneDisplay.from_training(model, X, y, ax=axes["p"])
for panel, synthetic in zip("abc", (0.5, 1.0, model.gamma_synthetic_), strict=True):
    draw_regions(axes[panel], (model.gamma_real_, synthetic), X, y)
figure.legend(*axes["a"].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()
