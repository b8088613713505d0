"""Does growing a tree for a review budget help at that budget? Precision among the first k rows of unseen data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from benchmarks.rows import Detail, Row, Run
from scarce.datasets import DatasetUnavailable, load, make_transactions
from scarce.metrics import precision_at_k
from scarce.trees import APTree

SETS = ["abalone8", "satimage", "pageblocks", "wine4", "yeast3", "letter26", "german", "spambase"]
DEPTHS = (2, 3, 4, 6, 8, 10)
SHARES = (0.01, 0.05, 0.1)
FEWEST = 5  # rows of a leaf: a budget of 1 % of a small set is a handful of rows
SPLITS = 5


def tree_budget(run: Run) -> list[Row]:
    splits = 2 if run.quick else SPLITS
    sets = {"simulated payments": _payments()}
    for name in SETS[:3] if run.quick else SETS:
        try:
            data = load(name)
        except DatasetUnavailable:
            continue
        sets[name] = np.asarray(data.data, dtype=np.float64), np.asarray(data.target)
    rows = []
    for share in SHARES:
        found = {}
        for name, (X, y) in sets.items():
            run.tell(f"{name}, a budget of {share:.0%}")
            found[name] = _precisions(X, y, share, splits)
        table = np.array(list(found.values()))
        columns = [*_trees(share), "share of positives"]
        lines = [
            [name, *map(float, line), float(sets[name][1].mean())]
            for name, line in zip(found, table.mean(axis=1), strict=True)
        ]
        run.details.append(
            Detail(f"precision at a budget of {share:.0%}, mean of {splits} splits", ["set", *columns], lines)
        )
        means = table.mean(axis=(0, 1))
        best = int(means[1:].argmax()) + 1
        rows.append(
            Row(
                f"precision at a budget of {share:.0%}, {len(sets)} sets: grown for the budget, to {columns[best]}",
                float(means[0]),
                float(means[best]),
                float(means[0] / means[best]),
                note="the better of the others on the mean",
            )
        )
    return rows


def _trees(share: float) -> dict[str, APTree]:
    common = {"min_samples_leaf": FEWEST, "max_bins": 255, "pos_label": 1}
    return {
        "top_k": APTree(top_k=share, **common),
        **{name: APTree(criterion=name, **common) for name in ("ap_mean", "ap_max", "gini", "entropy")},
    }


def _precisions(X: NDArray[np.float64], y: NDArray[np.int64], share: float, splits: int) -> NDArray[np.float64]:
    """Return the precision of each tree in each split; the depth is chosen on folds of the training rows."""
    out = []
    for train, test in StratifiedShuffleSplit(splits, test_size=0.3, random_state=0).split(X, y):
        line = []
        for tree in _trees(share).values():
            inner = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X[train], y[train]))
            value = [np.mean([_at(tree, d, X, y, train[a], train[b], share) for a, b in inner]) for d in DEPTHS]
            line.append(_at(tree, DEPTHS[int(np.argmax(value))], X, y, train, test, share))
        out.append(line)
    return np.array(out)


def _at(tree: APTree, depth: int, X, y, train, test, share: float) -> float:
    tree.set_params(max_depth=depth).fit(X[train], y[train])
    return float(precision_at_k(y[test], tree.score_samples(X[test]), max(1, round(share * len(test)))))


def _payments() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    frame = make_transactions(20_000).frame
    X = frame.select_dtypes("number").drop(columns="fraud")
    return X.to_numpy(np.float64), frame["fraud"].to_numpy(np.int64)
