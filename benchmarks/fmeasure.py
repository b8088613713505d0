"""CONE and its rivals on the sets of the thesis: how many models, which test F, how tight a bound, at what cost?

The protocol is that of the thesis's section 5.4: a quarter of the rows for testing where no test set is given, a third
of the rest for validation; C of 2^-6 to 2^6; linear support vector machines (hinge loss) and logistic regression on
features brought to [0, 1]; searches guided by F on the training rows; C, t and the cut chosen by F on the validation
rows. To be affordable, liblinear stops after 5,000 iterations, and after 1,000 on SatImage and the three larger sets,
where the thesis allows 50,000; and of these three, Adult, IJCNN and Letter, 6,000 rows are taken for training and
validation.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

from benchmarks.rows import Bar, Detail, Row, Run
from scarce.datasets import DatasetUnavailable, load
from scarce.datasets._catalogue import get_record
from scarce.datasets._sources import obtain, read
from scarce.fmeasure._predicted_f import ThresholdCurve
from scarce.fmeasure._search import new_search
from scarce.fmeasure.bounds import (
    ErrorProfile,
    certified_bound,
    cones,
    f_measure,
    parambath_cones,
    pooled,
    upper_envelope,
)

FloatArray = NDArray[np.float64]

METHODS = ["SVM", "SVM_IR", "SVM_G", "SVM_C", "SVM_C^T", "LR^T", "LR_IR^T", "LR_B"]
SEARCHES = ["cone", "bisection", "dinkelbach"]
# Test F1 × 100 as printed in the thesis's Table 5.2; LR_B of Yeast as in Table A.1, since that row is out of order.
# fmt: off
PRINTED = {
    "a9a":        [62.5, 64.9, 66.4, 66.5, 66.4, 66.5, 66.5, 66.6],
    "abalone10":  [0.0, 30.9, 32.4, 32.2, 31.8, 30.8, 30.7, 31.6],
    "satimage":   [0.0, 23.4, 20.4, 20.6, 30.9, 21.2, 28.6, 21.4],
    "ijcnn1":     [44.5, 53.3, 61.6, 61.6, 62.6, 59.4, 56.5, 59.2],
    "abalone12":  [0.0, 16.8, 16.8, 18.3, 16.3, 15.5, 17.0, 17.7],
    "pageblocks": [48.1, 39.6, 66.4, 62.8, 67.6, 59.2, 55.9, 55.7],
    "yeast4":     [0.0, 29.4, 38.6, 39.0, 35.4, 37.4, 39.9, 35.4],
    "wine4":      [0.0, 15.6, 20.0, 22.7, 19.3, 21.5, 25.2, 18.3],
    "letter26":   [75.4, 74.9, 80.8, 81.0, 81.0, 82.9, 82.9, 74.9],
}
# fmt: on
# Rows that come first in the file and are the training set as published.
_GIVEN_TRAIN = {"a9a": 32_561, "ijcnn1": 49_990, "satimage": 4_435, "letter26": 16_000}
C_VALUES = [2.0**k for k in range(-6, 7)]
# In place of a t.
UNWEIGHTED, AGAINST_IMBALANCE = -1.0, -2.0
N_MODELS = 19
_MOST = 6_000
# The rows that F is measured on, those that guide the search, and whether the cuts of its models and of the grid's are
# tuned there.
WAYS = {
    "five folds": ("folds", "folds", False, False),
    "a third": ("valid", "valid", False, False),
    "a third, guided by training rows": ("valid", "train", False, False),
    "a third, guided by training rows, all cuts tuned": ("valid", "train", True, True),
    "a third, guided by training rows, cuts tuned but not the grid's": ("valid", "train", True, False),
}
_RUNS_WITH_FOLDS = 3


class Rows(NamedTuple):
    X: FloatArray
    y: NDArray[np.intp]

    def at(self, which: NDArray[np.intp]) -> Rows:
        return Rows(self.X[which], self.y[which])


class Said(NamedTuple):
    """What a model says of rows: how far each is from the default class, and whether its best other class is right."""

    margin: FloatArray
    right: NDArray[np.bool_]
    default: NDArray[np.bool_]

    def profile(self, cut: float = 0.0) -> ErrorProfile:
        called = self.margin > cut
        fn = ~self.default & ~(called & self.right)
        return ErrorProfile(fn.mean(), (self.default & called).mean(), (~self.default).mean())

    def f(self, cut: float = 0.0) -> float:
        return float(f_measure(self.profile(cut)))

    def best_cut(self) -> tuple[float, float]:
        """Return the highest F of all cuts, and its cut."""
        order = np.argsort(-self.margin, kind="stable")
        margin, found = self.margin[order], np.cumsum(self.right[order] & ~self.default[order])
        wrong, positives = np.cumsum(self.default[order]), np.count_nonzero(~self.default)
        f = 2 * found / (positives + found + wrong)
        f[:-1][margin[:-1] == margin[1:]] = 0
        best = int(np.argmax(f))
        below = margin[best + 1] if best + 1 < len(margin) else margin[best] - 1
        return float(f[best]), float((margin[best] + below) / 2)


@dataclass
class Split:
    """One run on one set: its three parts, and models by C and t, each fitted once."""

    name: str
    parts: dict[str, Rows]
    models: dict[tuple[str, float, float], Any] = field(default_factory=dict)
    heard: dict[tuple[str, float, float, str], Said] = field(default_factory=dict)

    @property
    def default(self) -> int:
        return int(np.bincount(self.parts["train"].y).argmax())

    def said(self, kind: str, C: float, t: float, part: str) -> Said:
        """Return what the model with the weights of t (or one of the two below) says of the rows of a part.

        The part "folds" is all rows but those for testing, each judged by the one of five models that did not see it.
        """
        key = kind, C, t
        if (*key, part) not in self.heard:
            if part == "folds":
                rows = self.all_but_test
                folds = StratifiedKFold(5, shuffle=True, random_state=0).split(rows.X, rows.y)
                pieces = [self._said(self._fit(kind, C, t, rows.at(fit)), rows.at(judge)) for fit, judge in folds]
                self.heard[(*key, part)] = Said(*(np.concatenate(piece) for piece in zip(*pieces, strict=True)))
            else:
                if key not in self.models:
                    self.models[key] = self._fit(kind, C, t, self.parts["train"])
                self.heard[(*key, part)] = self._said(self.models[key], self.parts[part])
        return self.heard[(*key, part)]

    @property
    def all_but_test(self) -> Rows:
        train, valid = self.parts["train"], self.parts["valid"]
        return Rows(np.concatenate((train.X, valid.X)), np.concatenate((train.y, valid.y)))

    def _fit(self, kind: str, C: float, t: float, rows: Rows) -> Any:
        counts = np.bincount(rows.y)
        if t == UNWEIGHTED:
            weights = np.ones(len(counts))
        elif t == AGAINST_IMBALANCE:
            weights = 1 - counts / counts.sum()
        else:
            weights = np.full(len(counts), 2 - t)
            weights[self.default] = t
        model = self._machine(C) if kind == "SVM" else LogisticRegression(C=C, max_iter=5_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(rows.X, rows.y, sample_weight=weights[rows.y])

    def _said(self, model: Any, rows: Rows) -> Said:
        if hasattr(model, "predict_proba"):
            # The log of a ratio, whatever the number of classes, has the same order and the same sign for two.
            scores = np.log(np.maximum(model.predict_proba(rows.X), 1e-300))
        else:
            scores = model.decision_function(rows.X)
            scores = np.column_stack((np.zeros(len(scores)), scores)) if scores.ndim == 1 else scores
        others = scores.copy()
        others[:, self.default] = -np.inf
        best = others.argmax(axis=1)
        margin = others.max(axis=1) - scores[:, self.default]
        return Said(margin, best == rows.y, rows.y == self.default)

    def _machine(self, C: float) -> LinearSVC:
        large = len(self.parts["train"].y) > 2_800 or self.parts["train"].y.max() > 1
        return LinearSVC(loss="hinge", C=C, max_iter=1_000 if large else 5_000, random_state=0)

    def search(self, name: str, C: float, guide: str, *, scored: bool = True) -> list[float]:
        """Return the t of a search in their order, guided by the rows of one part, as `ConeClassifier` would be.

        Scores of training rows are never read.
        """
        scored = scored and guide != "train"
        rows = self.parts.get(guide, self.all_but_test)
        shares = np.delete(np.bincount(rows.y) / len(rows.y), self.default)
        floor = float(f_measure(ErrorProfile(shares.sum() - shares.max(), 1 - shares.sum(), shares.sum())))
        search = new_search(name, N_MODELS, floor=floor, scored=scored)
        while asked := search.ask():
            said = self.said("SVM", C, asked[0], guide)
            found = ~said.default, ~said.default & said.right
            curve = ThresholdCurve(asked[0], said.margin, *found, None, 1.0) if scored else None
            search.record(asked[0], said.profile(), curve)
        return search.tried


def _all_labels(name: str) -> Rows | None:
    """Return a set with the classes of the thesis, where those of the library are others."""
    if name not in {"letter26", "pageblocks"}:
        return None
    table = read(obtain(get_record(name)))
    if name == "letter26":
        return Rows(table.data, np.unique(table.labels, return_inverse=True)[1])
    # 231 positives, which is the imbalance of 22.7 that the thesis gives.
    return Rows(table.data, np.isin(table.labels.astype(float).astype(int), [3, 4, 5]).astype(np.intp))


def new_split(name: str, seed: int) -> Split:
    found = _all_labels(name)
    if found is None:
        data = load(name)
        found = Rows(np.asarray(data.data, dtype=np.float64), data.target.astype(np.intp))
    rows, y = np.arange(len(found.y)), found.y
    if name in _GIVEN_TRAIN:
        train, test = rows[: _GIVEN_TRAIN[name]], rows[_GIVEN_TRAIN[name] :]
    else:
        train, test = train_test_split(rows, test_size=0.25, stratify=y, random_state=seed)
    if len(train) > _MOST:
        train = train_test_split(train, train_size=_MOST, stratify=y[train], random_state=seed)[0]
    train, valid = train_test_split(train, test_size=1 / 3, stratify=y[train], random_state=seed)
    scaler = MinMaxScaler().fit(found.X[train])
    parts = {"train": train, "valid": valid, "test": test}
    return Split(name, {part: Rows(scaler.transform(found.X[r]), y[r]) for part, r in parts.items()})


class Choice(NamedTuple):
    """The best of some models on the validation rows."""

    valid: float
    test: float
    C: float


def choose(split: Split, candidates: list[tuple[str, float, float]], *, tune: bool = False) -> Choice:
    found = []
    for candidate in candidates:
        said = split.said(*candidate, "valid")
        valid, cut = said.best_cut() if tune else (said.f(), 0.0)
        found.append((valid, cut, candidate))
    valid, cut, best = max(found, key=lambda choice: choice[0])
    return Choice(valid, split.said(*best, "test").f(cut), best[1])


def _bisected(split: Split, c_values: tuple[float, ...]) -> float:
    """Return the test F of Narasimhan et al.'s plug-in rule, whose cut on probabilities is found by bisection."""
    best = (-1.0, 0.0)
    for C in c_values:
        valid, test = (split.said("LR", C, UNWEIGHTED, part) for part in ("valid", "test"))
        low, high = 0.0, 1.0
        for _ in range(50):
            g = (low + high) / 2
            low, high = (g, high) if valid.f(_plug_in_cut(g)) >= g else (low, g)
        best = max(best, (valid.f(_plug_in_cut(low)), test.f(_plug_in_cut(low))))
    return best[1]


def _plug_in_cut(g: float) -> float:
    """Return where calling a row positive pays: the probability of its class is g / (2 - g) of the default one's."""
    return float(np.log(g / (2 - g))) if g > 0 else -np.inf


def _models_needed(split: Split, C: float, grid_t: list[float], *, folds: bool) -> dict[tuple[str, str], float]:
    """Return how many models each search needs for 99 % of what the grid reaches, by how F is measured."""
    needed: dict[tuple[str, str], float] = {}
    for way, (part, guide, tune, tune_grid) in WAYS.items():
        if part == "folds" and not folds:
            continue
        goal, grid = max(f_of(split, C, grid_t, part, tune=tune_grid)), f_of(split, C, grid_t, part, tune=tune)
        for search in SEARCHES:
            needed[way, search] = first(f_of(split, C, split.search(search, C, guide), part, tune=tune), goal)
        # Drawn without replacement until the first of the good ones comes.
        needed[way, "grid at random"] = (len(grid) + 1) / (1 + np.count_nonzero(np.array(grid) >= 0.99 * goal))
    return needed


def f_of(split: Split, C: float, ts: list[float], part: str, *, tune: bool = False) -> list[float]:
    """Return the F of the model of each t, on the rows of a part."""
    said = [split.said("SVM", C, t, part) for t in ts]
    return [one.best_cut()[0] if tune else one.f() for one in said]


def first(f: list[float], goal: float) -> int:
    """Return the number of the first model that is good enough; if there is none, that of all and one more."""
    reached = np.flatnonzero(np.array(f) >= 0.99 * goal)
    return int(reached[0]) + 1 if len(reached) else N_MODELS + 1


@cache
def _one_run(name: str, seed: int, c_values: tuple[float, ...]) -> dict[str, Any]:
    split = new_split(name, seed)
    grid_t = [(i + 0.5) / N_MODELS for i in range(N_MODELS)]
    grid = [("SVM", C, t) for C in c_values for t in grid_t]
    cone = [("SVM", C, t) for C in c_values for t in split.search("cone", C, "train")]
    chosen = {
        "SVM": choose(split, [("SVM", C, UNWEIGHTED) for C in c_values]),
        "SVM_IR": choose(split, [("SVM", C, AGAINST_IMBALANCE) for C in c_values]),
        "SVM_G": choose(split, grid),
        "SVM_C": choose(split, cone),
        "SVM_C^T": choose(split, cone, tune=True),
        "LR^T": choose(split, [("LR", C, UNWEIGHTED) for C in c_values], tune=True),
        "LR_IR^T": choose(split, [("LR", C, AGAINST_IMBALANCE) for C in c_values], tune=True),
    }
    C = chosen["SVM_G"].C
    errors = ErrorProfile(*np.array([split.said("SVM", C, t, "train").profile() for t in grid_t]).T)
    ours, theirs = cones(grid_t, errors), parambath_cones(grid_t, errors)
    return {
        "test": [*(choice.test for choice in chosen.values()), _bisected(split, c_values)],
        "needed": _models_needed(split, C, grid_t, folds=seed < _RUNS_WITH_FOLDS),
        "area": [upper_envelope(ours).area, upper_envelope(theirs).area],
        "bound": [
            float(f_measure(errors).max()),
            *(certified_bound(of) for of in (cones(grid_t, pooled(grid_t, errors)), ours)),
        ],
        "models": len(cone) / len(c_values),
        "sizes": [len(split.parts[part].y) for part in ("train", "valid", "test")],
    }


def _runs(run: Run) -> tuple[dict[str, list[dict[str, Any]]], str]:
    names = ["yeast4"] if run.quick else os.environ.get("SCARCE_BENCH_SETS", " ".join(PRINTED)).split()
    found, missing = {}, []
    for name in names:
        try:
            new_split(name, 0)
        except DatasetUnavailable:
            missing.append(name)
            continue
        found[name] = []
        for seed in range(1 if run.quick else 5):
            run.tell(f"{name}, run {seed + 1}")
            found[name].append(_one_run(name, seed, (1.0,) if run.quick else tuple(C_VALUES)))
    return found, f"without {', '.join(missing)}, which cannot be had here" if missing else ""


def fmeasure(run: Run) -> list[Row]:
    """Return test F, models needed and tightness: the same models serve all three."""
    found, note = _runs(run)
    everything = set(found) == set(PRINTED)
    return [
        *_test_f(run, found, note, everything),
        *_needed(run, found, note, everything),
        *_tightness(run, found, note),
    ]


def _test_f(run: Run, found: dict[str, list[dict[str, Any]]], note: str, everything: bool) -> list[Row]:
    table = np.array([np.mean([one["test"] for one in runs], axis=0) for runs in found.values()]) * 100
    spread = np.array([np.std([one["test"] for one in runs], axis=0) for runs in found.values()]) * 100
    printed = np.array([PRINTED[name] for name in found])
    for title, shown in (("Test F1 × 100", table), ("its standard deviation", spread), ("as printed", printed)):
        lines: list[list[str | float]] = [[name, *line] for name, line in zip(found, shown.tolist(), strict=True)]
        run.details.append(Detail(title, ["set", *METHODS], [*lines, ["mean", *shown.mean(axis=0).tolist()]]))
    rows = []
    for i, method in enumerate(METHODS):
        ours, peer = float(table[:, i].mean()), float(printed[:, i].mean())
        bar = Bar(">=", peer - 1, on="ours") if everything and method == "SVM_C^T" else None
        what = f"mean test F1 × 100 of {method} on {len(found)} sets; peer: as printed"
        rows.append(Row(what, ours, peer, ours / peer if peer else None, "", bar, note))
    return rows


def _needed(run: Run, found: dict[str, list[dict[str, Any]]], note: str, everything: bool) -> list[Row]:
    columns = list(next(iter(found.values()))[0]["needed"])
    counts = {c: [[one["needed"][c] for one in runs if c in one["needed"]] for runs in found.values()] for c in columns}
    table = np.array([[np.mean(counted) for counted in counts[c]] for c in columns]).T
    for way in dict.fromkeys(way for way, _ in columns):
        shown = [i for i, column in enumerate(columns) if column[0] == way]
        lines: list[list[str | float]] = [[n, *line] for n, line in zip(found, table[:, shown].tolist(), strict=True)]
        failed = [float(np.mean(np.concatenate(counts[columns[i]]) > N_MODELS)) for i in shown]
        lines += [["mean", *table[:, shown].mean(axis=0).tolist()], ["share of runs without", *failed]]
        title = f"Models needed for 99 % of the grid's F ({way}); {N_MODELS + 1} if never reached"
        run.details.append(Detail(title, ["set", *(columns[i][1] for i in shown)], lines))
    means = dict(zip(columns, table.mean(axis=0).tolist(), strict=True))
    # The bar is for F as ConeClassifier measures it if nothing else is asked for.
    judged = "five folds", min(SEARCHES, key=lambda search: means["five folds", search])
    return [
        Row(
            f"models for 99 % of the F of a grid of {N_MODELS}, {search} ({way}), mean of {len(found)} sets",
            mean,
            note=note,
            bar=Bar("<=", 4, on="ours") if everything and (way, search) == judged else None,
        )
        for (way, search), mean in means.items()
    ]


def _tightness(run: Run, found: dict[str, list[dict[str, Any]]], note: str) -> list[Row]:
    columns = ["area, ours", "area, Parambath", "best F", "certified", "not pooled"]
    table = np.array([np.mean([[*one["area"], *one["bound"]] for one in runs], axis=0) for runs in found.values()])
    lines: list[list[str | float]] = [[name, *line] for name, line in zip(found, table.tolist(), strict=True)]
    title = f"Area under the bound on [0, 1], {N_MODELS} models of the grid, training rows"
    run.details.append(Detail(title, ["set", *columns], [*lines, ["mean", *table.mean(axis=0).tolist()]]))
    ours, peer = table[:, 0].mean(), table[:, 1].mean()
    what = f"area under the bound, mean of {len(found)} sets; peer: Parambath's"
    return [Row(what, float(ours), float(peer), float(ours / peer), note=note)]
