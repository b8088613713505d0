"""Trees for profit: how long does a forest grow, and what are its choices worth?"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.profit_models import earned, payments
from benchmarks.rows import Bar, Detail, Row, Run, fastest
from scarce.objectives import Profit
from scarce.trees import ProfitForest, ProfitTree


def profit_forest_time(run: Run) -> list[Row]:
    n = 10_000 if run.quick else 50_000
    X, y = make_classification(n, 20, n_informative=8, weights=[0.97], random_state=0)
    amount = np.random.default_rng(0).lognormal(3, 1, n)
    gains = np.column_stack((0 * amount, 0.1 * amount - 5, 0.1 * amount, -0.8 * amount))
    for bins in (None, 255):  # compile
        ProfitForest(1, max_depth=3, max_bins=bins).fit(X[:500], y[:500], gains=gains[:500])
    rows = []
    for depth in (10, None):
        size: dict[str, Any] = {"n_estimators": 24, "max_depth": depth, "min_samples_leaf": 1, "random_state": 0}
        size["max_features"] = "sqrt"
        exact, binned, peer = fastest(
            run,
            3,
            one_core=True,
            exact=lambda size=size: ProfitForest(**size).fit(X, y, gains=gains),
            binned=lambda size=size: ProfitForest(max_bins=255, **size).fit(X, y, gains=gains),
            peer=lambda size=size: RandomForestClassifier(**size).fit(X, y),
        )
        for name, ours in (("", exact), (", max_bins=255", binned)):
            what = f"ProfitForest.fit{name}, {n:,} x 20, 24 trees of depth {depth}; peer: RandomForestClassifier"
            rows.append(Row(what, ours, peer, ours / peer, "s", Bar("<=", 3)))
        model, rival = ProfitForest(**size).fit(X, y, gains=gains), RandomForestClassifier(**size).fit(X, y)
        ours, peer = fastest(
            run,
            3,
            one_core=True,
            ours=lambda model=model: model.predict(X),
            peer=lambda rival=rival: rival.predict(X),
        )
        rows.append(Row(f"ProfitForest.predict of these rows, depth {depth}", ours, peer, ours / peer, "s"))
    return rows


def profit_tree_choices(run: Run) -> list[Row]:
    """Say what each option earns on the simulator: six months of payments to learn from, four to judge."""
    forest: dict[str, Any] = {"n_estimators": 24, "max_bins": 255, "random_state": 0}
    models = {
        "tree": ProfitTree(max_depth=10),
        "tree, weighting='equal'": ProfitTree(max_depth=10, weighting="equal"),
        "tree, criterion='cost'": ProfitTree(max_depth=10, criterion="cost"),
        "tree, prune=0.3": ProfitTree(max_depth=10, prune=0.3, random_state=0),
        "tree, criterion='cost', prune=0.3": ProfitTree(max_depth=10, criterion="cost", prune=0.3, random_state=0),
        "tree, min_samples_leaf=20": ProfitTree(max_depth=10, min_samples_leaf=20),
        "forest": ProfitForest(**forest),
        "forest, vote='mean'": ProfitForest(vote="mean", **forest),
        "forest, vote='max'": ProfitForest(vote="max", **forest),
        "forest, vote='majority'": ProfitForest(vote="majority", **forest),
        "forest, weighting='equal'": ProfitForest(weighting="equal", **forest),
        "forest, criterion='cost'": ProfitForest(criterion="cost", **forest),
        "forest, min_samples_leaf=1": ProfitForest(min_samples_leaf=1, **forest),
        "forest, min_samples_leaf=5": ProfitForest(min_samples_leaf=5, **forest),
        "forest, max_depth=10": ProfitForest(max_depth=10, **forest),
        "forest, max_features='sqrt'": ProfitForest(max_features="sqrt", **forest),
        "forest, max_features=None": ProfitForest(max_features=None, **forest),
        "forest, 100 trees": ProfitForest(**{**forest, "n_estimators": 100}),
        "forest, max_bins=None": ProfitForest(**{**forest, "max_bins": None}),
        "forest, threshold=Profit()": ProfitForest(threshold=Profit(), **forest),
    }
    seeds = range(1 if run.quick else 3)
    gained: dict[str, list[float]] = {name: [] for name in models}
    leaves: dict[str, list[float]] = {name: [] for name in models}
    for seed in seeds:
        problem = payments(20_000 if run.quick else 120_000, seed)
        train, test = problem.splits[0]
        X, X_new = problem.filled(0)
        y, gains = problem.y[test], problem.gains[test]
        most, base = (earned(y, called, gains).sum() for called in (y == 1, np.zeros(len(y), dtype=bool)))
        for name, model in models.items():
            run.tell(name)
            model.fit(X, problem.y[train], gains=problem.gains[train])
            profit = earned(y, model.predict(X_new) == 1, gains).sum()
            gained[name].append((profit - base) / (most - base))
            trees = [model.tree_] if isinstance(model, ProfitTree) else [tree.graph for tree in model.trees_]
            leaves[name].append(float(np.mean([tree.n_leaves for tree in trees])))
    table: list[list[str | float]] = [
        [
            name,
            float(np.mean(gained[name])),
            f"{min(gained[name]):.3f} to {max(gained[name]):.3f}",
            np.mean(leaves[name]),
        ]
        for name in models
    ]
    columns = ["model", "of what can be gained", "over the seeds", "leaves of a tree"]
    run.details.append(Detail("profit beyond calling all payments genuine, as a share of the most", columns, table))
    what = "share of what can be gained, payments, ProfitForest; peer: vote='majority'"
    ours, peer = (float(np.mean(gained[name])) for name in ("forest", "forest, vote='majority'"))
    return [Row(what, ours, peer, ours / peer if peer else None)]
