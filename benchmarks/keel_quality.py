"""The neighbour rules on KEEL's imbalanced sets: does GFRNN have the best mean rank, as its paper claims?"""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from benchmarks.rows import Detail, Row, Run
from scarce.datasets import DatasetUnavailable, load, load_keel_folds
from scarce.metrics import gmean_score
from scarce.neighbors import CCNND, GFRNN, KENN, PNN, GammaKNN, InformativeKNN
from scarce.study.statistics import Ranking, bonferroni_dunn, critical_difference, rank_methods

FloatArray = NDArray[np.float64]

# fmt: off
SETS = [
    "abalone19", "abalone9-18", "ecoli-0-1-3-7_vs_2-6", "ecoli-0_vs_1", "ecoli1", "ecoli2", "ecoli3", "ecoli4",
    "glass-0-1-2-3_vs_4-5-6", "glass-0-1-6_vs_2", "glass-0-1-6_vs_5", "glass0", "glass1", "glass2", "glass4",
    "glass5", "glass6", "haberman", "iris0", "new-thyroid1", "new-thyroid2", "page-blocks-1-3_vs_4", "page-blocks0",
    "pima", "segment0", "shuttle-c0-vs-c4", "shuttle-c2-vs-c4", "vehicle0", "vehicle1", "vehicle2", "vehicle3",
    "vowel0", "wisconsin", "yeast-0-5-6-7-9_vs_4", "yeast-1-2-8-9_vs_7", "yeast-1-4-5-8_vs_7", "yeast-1_vs_7",
    "yeast-2_vs_4", "yeast-2_vs_8", "yeast1", "yeast3", "yeast4", "yeast5", "yeast6",
]
# fmt: on
CONTROL = "GFRNN"
DEFAULTS: dict[str, list[ClassifierMixin]] = {
    "GFRNN": [GFRNN(pos_label=1)],
    "GFRNN, mean radius": [GFRNN(radius="mean", pos_label=1)],
    "CCNND": [CCNND(pos_label=1)],
    "KENN": [KENN(pos_label=1)],
    "PNN": [PNN(pos_label=1)],
    "InformativeKNN": [InformativeKNN(pos_label=1)],
    "GammaKNN": [GammaKNN(pos_label=1)],
    "1NN": [KNeighborsClassifier(1)],
    "5NN": [KNeighborsClassifier(5)],
}
FIVE = {name: DEFAULTS[name] for name in ("GFRNN", "CCNND", "KENN", "PNN", "InformativeKNN")}
# What the paper tried for each rival, to report the best on the test folds.
TRIED: dict[str, list[ClassifierMixin]] = {
    "GFRNN": [GFRNN(pos_label=1)],
    "CCNND": [CCNND(k, pos_label=1) for k in (1, 3)],
    "KENN": [KENN(k, pos_label=1) for k in (1, 3)],
    "PNN": [PNN(k, pos_label=1) for k in (1, 3)],
    "InformativeKNN": [
        InformativeKNN(k, n_informative=i, pos_label=1) for k in (7, 9, 11, 13, 15, 17, 19) for i in (1, 3)
    ],
}
MEASURES = {"GM": gmean_score, "AA": balanced_accuracy_score}
_QUICK_ROWS = 500

Folds = list[tuple[FloatArray, NDArray[np.int64], FloatArray, NDArray[np.int64]]]


def keel_quality(run: Run) -> list[Row]:
    """Mean g-mean and balanced accuracy, mean ranks, and the tests, at the rules of the papers."""
    try:
        sets, note = _sets(run)
    except DatasetUnavailable as problem:
        return [Row("neighbour rules on KEEL's imbalanced sets", note=str(problem))]
    found: dict[str, dict[str, FloatArray]] = {}
    models = {repr(model): model for group in (DEFAULTS, TRIED) for tried in group.values() for model in tried}
    for label, model in models.items():
        run.tell(label)
        by_set = np.array([_measure(model, folds) for folds in sets.values()])
        found[label] = dict(zip(MEASURES, by_set.T, strict=True))
    comparisons = {
        "default parameters": DEFAULTS,
        "the paper's five, default parameters": FIVE,
        "the paper's five, each at its best parameters on the test folds": TRIED,
    }
    return [row for how, group in comparisons.items() for row in _report(run, how, group, found, sets, note)]


def _report(
    run: Run,
    how: str,
    group: dict[str, list[ClassifierMixin]],
    found: dict[str, dict[str, FloatArray]],
    sets: dict[str, Folds],
    note: str,
) -> list[Row]:
    names = list(group)
    values = {
        measure: np.column_stack([np.max([found[repr(m)][measure] for m in group[name]], axis=0) for name in names])
        for measure in MEASURES
    }
    rankings = {measure: rank_methods(table) for measure, table in values.items()}
    significant = _difference(names, sets)
    columns = ["method", *(f"{what} {measure}" for measure in MEASURES for what in ("mean", "rank", "Δ rank"))]
    lines: list[list[str | float]] = []
    for j in np.argsort(rankings["GM"].ranks):
        line: list[str | float] = [names[j]]
        for measure, ranking in rankings.items():
            behind = ranking.ranks[j] - ranking.ranks[names.index(CONTROL)]
            far = "*" if abs(behind) >= significant else ""
            line += [float(values[measure][:, j].mean()), float(ranking.ranks[j]), f"{behind:+.3f}{far}"]
        lines.append(line)
    run.details.append(Detail(f"KEEL, {len(sets)} sets, {how}; * differs from {CONTROL}", columns, lines))
    by_set = [[name, *row] for name, row in zip(sets, values["GM"].tolist(), strict=True)]
    run.details.append(Detail(f"GM by set, {how}", ["set", *names], by_set))
    return [_verdict(measure, names, ranking, how, note, sets) for measure, ranking in rankings.items()]


def _difference(names: list[str], sets: Collection[str]) -> float:
    """Return by how much mean ranks must differ from the control's, after Bonferroni and Dunn."""
    return critical_difference(bonferroni_dunn(len(names)), len(names), len(sets))


def _verdict(measure: str, names: list[str], ranking: Ranking, how: str, note: str, sets: Collection[str]) -> Row:
    rank = dict(zip(names, ranking.ranks.tolist(), strict=True))
    own = rank[CONTROL]
    far = _difference(names, sets)
    # Another radius is no rival to the claim.
    rivals = [name for name in names if not name.startswith(CONTROL)]
    best = min(rivals, key=rank.__getitem__)
    beaten = [name for name in rivals if rank[name] - own >= far]
    better = [name for name in rivals if own - rank[name] >= far]
    told = (
        f"claim {'confirmed' if own < rank[best] else 'refuted'}, best of the others: {best}; significantly worse: "
        f"{', '.join(beaten) or 'none'}; significantly better: {', '.join(better) or 'none'}; Friedman "
        f"{ranking.friedman:.1f} (p {ranking.friedman_p:.1g}), Iman-Davenport {ranking.iman_davenport:.1f} "
        f"(p {ranking.iman_davenport_p:.1g}), Bonferroni-Dunn difference {far:.3f}"
    )
    what = f"{CONTROL}'s mean rank of {len(names)} by {measure}, {len(sets)} KEEL sets, {how}; peer: best of the others"
    return Row(what, own, rank[best], own / rank[best], note="; ".join(filter(None, (told, note))))


def _sets(run: Run) -> tuple[dict[str, Folds], str]:
    """Return KEEL's folds of each set; where they are not a partition, folds of our own, and a note on those."""
    sets: dict[str, Folds] = {}
    own = []
    for name in SETS:
        run.tell(f"loading {name}")
        try:
            folds: Folds = [tuple(fold) for fold in load_keel_folds(name)]
        except ValueError:
            own.append(name)
            data = load(f"keel-{name}")
            X, y = data.data, data.target
            split = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
            folds = [(X[train], y[train], X[test], y[test]) for train, test in split]
        if not run.quick or len(folds[0][0]) < _QUICK_ROWS:
            sets[name] = folds
    notes = [f"folds of our own for {', '.join(own)}"] * bool(own)
    if run.quick:
        notes.append(f"only the {len(sets)} sets of fewer than {_QUICK_ROWS} training rows")
    return sets, "; ".join(notes)


def _measure(model: ClassifierMixin, folds: Folds) -> list[float]:
    """Return the mean of each measure over the folds, with features scaled to [0, 1] on the training part."""
    values = []
    for X_train, y_train, X_test, y_test in folds:
        pipeline = make_pipeline(MinMaxScaler(), clone(model))
        with warnings.catch_warnings():
            # Some folds have fewer positive rows than a rule needs to call one; it says so, and it counts.
            warnings.simplefilter("ignore", UserWarning)
            called = pipeline.fit(X_train, y_train).predict(X_test)
        values.append([measure(y_test, called) for measure in MEASURES.values()])
    return np.mean(values, axis=0).tolist()
