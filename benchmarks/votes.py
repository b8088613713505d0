"""How fast are the neighbour methods beside scikit-learn's searches?"""

from __future__ import annotations

import warnings

from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

import scarce
from benchmarks.rows import Bar, Row, Run, fastest
from benchmarks.speed import rare_class
from scarce.neighbors import KENN, KRNN, PNN

_QUERIES = 500


def rare_predict_time(run: Run) -> list[Row]:
    """Compare with sorting all rows by distance, which is what it takes to walk outwards without an index."""
    stored = 2_000 if run.quick else 20_000
    X, y = rare_class(stored + _QUERIES, 10)
    X, y, queries = X[:stored], y[:stored], X[stored:]
    everything = NearestNeighbors(n_neighbors=len(X), algorithm="brute").fit(X)
    models = {rule.__name__: rule().fit(X, y) for rule in (KRNN, PNN, KENN)}
    calls = {name: lambda model=model: model.predict(queries) for name, model in models.items()}
    for call in calls.values():
        call()  # builds the search engines, once
    *ours, peer = fastest(run, 3, one_core=True, **calls, all=lambda: everything.kneighbors(queries))
    return [
        Row(
            f"{name} predicts {_QUERIES} rows from {stored:,} × 10; peer: the {stored:,} nearest; ratio: times faster",
            seconds,
            peer,
            peer / seconds,
            "s",
            # On little data the fixed costs of a call weigh more than the search.
            None if run.quick else Bar(">=", 20),
        )
        for name, seconds in zip(models, ours, strict=True)
    ]


def neighbors_time(run: Run) -> list[Row]:
    """Fit and predict with every neighbour method of the registry as it comes."""
    X, y = rare_class(2_000 if run.quick else 20_000)
    cut = len(X) * 4 // 5
    found = dict(scarce.all_estimators())
    rules = {name: rule for name, rule in found.items() if rule.__module__.startswith("scarce.neighbors")}
    rows = []
    for name, rule in rules.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a small table that has few positives
            rule().fit(X[:500], y[:500]).predict(X[:5])  # compiles, once
        ours, peer = fastest(
            run,
            2,
            one_core=True,
            **{name: lambda rule=rule: rule().fit(X[:cut], y[:cut]).predict(X[cut:])},
            KNeighborsClassifier=lambda: KNeighborsClassifier(3).fit(X[:cut], y[:cut]).predict(X[cut:]),
        )
        what = f"{name}: fit {cut:,} × {X.shape[1]}, predict {len(X) - cut:,}; peer: 3-NN"
        rows.append(Row(what, ours, peer, ours / peer, "s"))
    return rows
