"""
One score, many objectives
==========================

The number of cases to check depends on the objective. A statistician wants the best F1; a screening programme the best
F2, which weighs missed cases more than false positives. A laboratory has time for 25 samples. A surgeon acts only on a
list that is nearly always right. A hospital counts what each mistake costs.

None of them needs a model of their own. All five are thresholds of the same score, so the model below is fitted once,
and each objective picks its own point of the precision-recall curve, exactly. The scores are honest, which means that
each row was scored by the other rows alone: a model's scores of rows that it has seen make every threshold look too
good.

The data are the breast tumours that come with scikit-learn, with 20 of the malignant ones left among the 357 benign.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import PrecisionRecallDisplay
from sklearn.preprocessing import StandardScaler

from scarce.neighbors import GammaKNN
from scarce.objectives import Budget, FBeta, PrecisionAtLeast, Profit

# A biopsy costs 1, for a true and for a false positive; a tumour that is missed costs 50.
COSTS = (-1, -1, 0, -50)

# The objectives and their marks, which differ in shape and in colour.
OBJECTIVES = {
    "Precision of at least 0.9": (PrecisionAtLeast(0.9), "s", "#000000"),
    "Best F1": (FBeta(1), "o", "#D55E00"),
    "At most 25 checks": (Budget(rows=25), "D", "#CC79A7"),
    "Best F2": (FBeta(2), "^", "#009E73"),
    "Lowest cost": (Profit(COSTS), "v", "#56B4E9"),
}


def make_rare(n_positive: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Return the ten mean measurements of each tumour, and whether it is malignant, with few that are."""
    X, benign = load_breast_cancer(return_X_y=True)
    malignant = np.random.default_rng(0).choice(np.flatnonzero(benign == 0), n_positive, replace=False)
    rows = np.concatenate((np.flatnonzero(benign), malignant))
    return StandardScaler().fit_transform(X[rows, :10]), benign[rows] == 0


# %%
# One neighbour search gives honest scores, and every objective is a threshold on them.
X, y = make_rare()
scores = GammaKNN().honest_scores(X, y)

figure, ax = plt.subplots(figsize=(6.5, 6.5), layout="constrained")
PrecisionRecallDisplay.from_predictions(y, scores, name="γk-NN, honest scores", ax=ax)
for name, (objective, marker, color) in OBJECTIVES.items():
    best = objective.best_threshold(scores, y)
    called = best.tp + best.fp
    label = f"{name}: check {called:.0f}, find {best.tp:.0f} of {y.sum()}"
    ax.plot(best.tp / y.sum(), best.tp / called, marker, color=color, markersize=9, label=label, clip_on=False)
ax.set(xlabel="Recall", ylabel="Precision")
ax.legend(loc="lower left")
plt.show()
