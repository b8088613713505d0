"""The γ that `GammaKNN` chooses is the best of all γ, so no grid has a higher leave-one-out F1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from sklearn.metrics import f1_score
from sklearn.preprocessing import MinMaxScaler, Normalizer

from proofs.cases import Case, Proof, sets_of
from scarce.neighbors import GammaKNN
from scarce.study import load_study

SCALERS = {"row-l2": Normalizer, "min-max": lambda: MinMaxScaler((-1, 1))}
# The sets of the paper of γk-NN (Viola et al., ICTAI 2019).
SETS = tuple(str(set_["name"]) for set_ in load_study("gamma/table2").sets)


def prove(names: Iterable[str] = SETS, n_gammas: int = 1_000) -> Proof:
    """Compare the leave-one-out F1 of the chosen γ with the best of a fine grid of γ in (0, 1]."""
    return Proof(
        "The exact γ",
        f"The leave-one-out F1 of the γ that `GammaKNN` chooses is never below the best of {n_gammas:,} γ in (0, 1].",
        ("set", "scaling", "chosen γ", "best of the grid", "verdict"),
        list(_cases(names, n_gammas)),
    )


def _cases(names: Iterable[str], n_gammas: int) -> Iterator[Case]:
    # The threshold of a fixed γ does not depend on the rows.
    tiny = np.arange(8.0)[:, None], np.arange(8) % 2
    grid = np.arange(1, n_gammas + 1) / n_gammas
    thresholds = np.array([GammaKNN(gamma=gamma).fit(*tiny).threshold_ for gamma in grid])
    for name, data in sets_of(names).items():
        for scaling, scaler in SCALERS.items():
            X, y = scaler().fit_transform(data.data), data.target
            model = GammaKNN(pos_label=1).fit(X, y)
            score = model.honest_scores(X, y)
            chosen = f1_score(y, score > model.threshold_)
            called = score[:, None] > thresholds
            best = (2 * called[y == 1].sum(axis=0) / (called.sum(axis=0) + y.sum())).max()
            yield Case((name, scaling), (float(chosen), float(best)), bool(chosen >= best - 1e-12))
