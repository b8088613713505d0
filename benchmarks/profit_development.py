"""How ProfitForest's trees, the weights of their paths and the short trees were chosen, on what was set aside for it.

What card payments earn hangs on a few dear frauds. So money is counted in two ways that lean less on them.
"Own stakes": with the gains as they are, and with false alarms that cost a quarter, half, twice and four times as much.
"Any stakes": each row weighed against the stakes of all rows in turn. This does not see whether probabilities are right
where much is at stake.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.profit_models import Problem, credit, creditcard, earned, lightgbm, payments
from benchmarks.rows import Detail, Row, Run
from scarce.profit import BayesProfitClassifier
from scarce.profit._gains import gain_of_flagging
from scarce.trees import ProfitForest

_BAGS_ALONE: dict[str, Any] = {"n_boosted": 0}
FORESTS: dict[str, dict[str, Any]] = {
    "ProfitForest()": {},
    "n_boosted=75": {"n_boosted": 75},
    "n_boosted=0": _BAGS_ALONE,
    "n_boosted=0, max_features='sqrt'": {**_BAGS_ALONE, "max_features": "sqrt"},
    "n_boosted=0, min_samples_leaf=5": {**_BAGS_ALONE, "min_samples_leaf": 5},
    "n_boosted=0, min_samples_leaf=20": {**_BAGS_ALONE, "min_samples_leaf": 20},
    "n_boosted=0, max_features='sqrt', min_samples_leaf=20": {
        **_BAGS_ALONE,
        "max_features": "sqrt",
        "min_samples_leaf": 20,
    },
}
PEER = "Bayes rule"
MEASURES = ("own stakes", "any stakes", "log-loss")


def profit_development(run: Run) -> list[Row]:
    """Return how much less forests lose than the Bayes rule, on sets or rows set aside for choices."""
    kinds = {"payments": _payments(run.quick)}
    if not run.quick:
        kinds |= {"card payments": _cards(), "loans": _loans()}
    columns: dict[str, dict[str, tuple[float, ...]]] = {}
    for kind, parts in kinds.items():
        run.tell(kind)
        judged = Parallel(n_jobs=-1)(delayed(_judge)(*part, seed) for seed, part in enumerate(parts))
        total = {model: np.sum([part[model] for part in judged], axis=0) for model in judged[0]}
        columns[kind] = {model: tuple(1 - lost / total[PEER]) for model, lost in total.items()}
    table: list[list[str | float]] = [
        [model, *(f"{100 * figure:+.2f} %" for kind in kinds for figure in columns[kind][model])]
        for model in columns["payments"]
    ]
    names = [f"{kind}, {what}" for kind in kinds for what in MEASURES]
    run.details.append(Detail("how much less is lost than by the Bayes rule", ["model", *names], table))
    what = "loss of ProfitForest() as a share of the Bayes rule's, mean of " + ", ".join(kinds)
    return [Row(what, float(np.mean([1 - columns[kind]["ProfitForest()"][0] for kind in kinds])))]


def _payments(quick: bool) -> Iterator[tuple[Problem, Any, Any]]:
    for seed in range(100, 101 if quick else 106):
        problem = payments(20_000 if quick else 100_000, seed)
        yield problem, *problem.splits[0]


def _cards() -> Iterator[tuple[Problem, Any, Any]]:
    problem = creditcard(by_time=True)
    earlier, _ = problem.splits[0]
    for train, test in StratifiedKFold(5, shuffle=True, random_state=77).split(earlier, problem.y[earlier]):
        yield problem, earlier[train], earlier[test]


def _loans() -> Iterator[tuple[Problem, Any, Any]]:
    problem = credit()
    half, _ = train_test_split(np.arange(len(problem.y)), train_size=0.5, stratify=problem.y, random_state=123)
    for seed in (7, 8):
        for train, test in StratifiedKFold(2, shuffle=True, random_state=seed).split(half, problem.y[half]):
            yield problem, half[train], half[test]


def _judge(problem: Problem, train: Any, test: Any, seed: int) -> dict[str, tuple[float, ...]]:
    """Return for each model what it loses by each measure, as sums over the judged rows."""
    X, X_new = problem.X[train], problem.X[test]
    y, gains = problem.y[train], problem.gains[train]
    y_new, gains_new = problem.y[test], problem.gains[test]
    chance = {PEER: BayesProfitClassifier(lightgbm(random_state=seed)).fit(X, y, gains=gains).score_samples(X_new)}
    for name, changed in FORESTS.items():
        model = ProfitForest(max_bins=255, random_state=seed, **changed).fit(X, y, gains=gains)
        assert model.stakes_ is not None
        chance[name] = expit(model.score_samples(X_new) - model.stakes_.score(X_new))
        if name == list(FORESTS)[-1]:
            chance[f"{name}, the same weight for all steps"] = _one_curve(model, X, y, X_new)
    return {
        name: (
            loss_with_own_stakes(y_new, gains_new, p).sum(),
            loss_with_any_stakes(y_new, gains_new, p).sum(),
            len(test) * log_loss(y_new, np.clip(p, 1e-6, 1 - 1e-6)),
        )
        for name, p in chance.items()
    }


def _one_curve(model: ProfitForest, X: Any, y: Any, X_new: Any) -> Any:
    """Return probabilities by a logistic curve on the mean log-odds of the leaves."""
    steps = model._out_of_bag_steps(X).sum(axis=1)[:, None]
    new = np.mean([model._steps(tree).sum(axis=1)[tree.graph.apply(X_new)] for tree in model.trees_], axis=0)[:, None]
    return LogisticRegression(C=np.inf, solver="newton-cholesky").fit(steps, y).predict_proba(new)[:, 1]


def loss_with_own_stakes(y: Any, gains: Any, chance: Any) -> Any:
    """Return what each row loses against a perfect decision, on the mean of five prices of a false alarm."""
    tp, fp, tn, fn = gains.T
    lost = np.zeros(len(y))
    for price in (0.25, 0.5, 1.0, 2.0, 4.0):
        changed = np.column_stack((tp, tn - price * (tn - fp), tn, fn))
        missed = earned(y, y == 1, changed) - earned(y, gain_of_flagging(changed, chance) > 0, changed)
        lost += missed / np.sqrt(price)  # dear alarms lose more, and are to count about as much as the others
    return lost / 5


def loss_with_any_stakes(y: Any, gains: Any, chance: Any) -> Any:
    """Return what each row is expected to lose against a perfect decision if its stakes were those of any row."""
    tp, fp, tn, fn = gains.T
    up, down = tp - fn, tn - fp
    # The odds above which to call a row positive.
    needed = np.divide(down, up, out=np.full(len(y), np.inf), where=up > 0)
    order = np.argsort(needed)
    called = np.searchsorted(needed[order], chance / np.maximum(1 - chance, 1e-12))  # with the stakes of so many rows
    missed = np.append(np.cumsum(up[order][::-1])[::-1], 0)[called]
    alarm = np.insert(np.cumsum(down[order]), 0, 0)[called]
    return np.where(y == 1, missed, alarm) / len(y)
