"""Time of ME² beside general solvers for quadratic programs and a forest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from benchmarks.rows import Bar, Row, Run, fastest
from scarce.ellipsoids import ME2

FloatArray = NDArray[np.float64]

MU, LAM = 1.0, 0.01


def _rare(n_rows: int, n_features: int, share: float) -> tuple[FloatArray, NDArray[np.int64]]:
    X, y = make_classification(
        n_rows, n_features, n_informative=n_features // 2, weights=[1 - share], flip_y=0.0, random_state=0
    )
    return StandardScaler().fit_transform(X), y


def _duals(
    X: FloatArray, y: NDArray[np.int64], n_local: int, solve: Callable[[FloatArray, FloatArray], FloatArray]
) -> FloatArray:
    """Return the squared radius of each ellipsoid with a general solver for the quadratic programs."""
    centres, others = X[y == 1], X[y == 0]
    found = NearestNeighbors(n_neighbors=n_local).fit(others).kneighbors(centres, return_distance=False)
    radii = []
    for centre, local in zip(centres, found, strict=True):
        V = others[local] - centre
        reach = (V**2).sum(axis=1).max()
        gram = V @ V.T / reach
        alpha = solve(gram**2 / (2 * LAM) + 1 / (2 * MU), gram.diagonal() - 1)
        radii.append(reach * (1 - alpha.sum() / (2 * MU)))
    return np.array(radii)


def _clarabel(H: FloatArray, q: FloatArray) -> FloatArray:
    import clarabel

    n = len(q)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    box = sparse.vstack((-sparse.eye(n), sparse.eye(n)), format="csc")
    bounds = np.concatenate((np.zeros(n), np.full(n, 1 / n)))
    program = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(H)), q, box, bounds, [clarabel.NonnegativeConeT(2 * n)], settings
    )
    return np.array(program.solve().x)


def _osqp(H: FloatArray, q: FloatArray) -> FloatArray:
    import osqp

    n = len(q)
    program = osqp.OSQP()
    program.setup(
        sparse.csc_matrix(np.triu(H)),
        q,
        sparse.eye(n, format="csc"),
        np.zeros(n),
        np.full(n, 1 / n),
        verbose=False,
        eps_abs=1e-6,
        eps_rel=1e-6,
        max_iter=100_000,
    )
    return np.asarray(program.solve(raise_error=True).x)


def ellipsoid_dual_time(run: Run) -> list[Row]:
    n_centres, n_local = (10, 50) if run.quick else (100, 200)
    X, y = _rare(30 * n_centres, 17, 0.5)
    # As many positives as are asked for, and all negatives.
    kept = np.sort(np.concatenate((np.flatnonzero(y == 1)[:n_centres], np.flatnonzero(y == 0))))
    X, y = X[kept], y[kept]
    model = ME2(n_local, mu=MU, lam=LAM, tune=None, combine="nearest", pos_label=1)  # the duals and nothing else
    ours = model.fit(X, y).radii_  # compiles, once
    rows = []
    for name, solve in (("Clarabel", _clarabel), ("OSQP", _osqp)):
        apart = abs(_duals(X, y, n_local, solve) / ours - 1).max()
        mine, peer = fastest(
            run, 3, one_core=True, ME2=lambda: model.fit(X, y), peer=lambda solve=solve: _duals(X, y, n_local, solve)
        )
        rows.append(
            Row(
                f"ME2 fit, {n_centres} centres, {n_local} local negatives; peer: {name} one by one; times faster",
                mine,
                peer,
                peer / mine,
                "s",
                run.judged(Bar(">=", 30)),
                f"its squared radii differ by up to {apart:.0e} of their size",
            )
        )
    return rows


def ellipsoid_fit_time(run: Run) -> list[Row]:
    X, y = _rare(1_500 if run.quick else 15_000, 17, 0.01)
    models = {
        "fixed mu and lam, rule of the thesis": ME2(mu=MU, lam=LAM, tune=None, combine="nearest"),
        "fixed mu and lam, threshold chosen": ME2(mu=MU, lam=LAM, tune=None),
        "72 pairs, rule of the thesis": ME2(combine="nearest"),
        "all defaults": ME2(),
    }
    for model in models.values():
        model.fit(X[:500], y[:500] | (np.arange(500) < 2))  # compiles, once
    *ours, peer = fastest(
        run,
        3,
        one_core=True,
        **{name: partial(model.fit, X, y) for name, model in models.items()},
        forest=lambda: RandomForestClassifier(100, random_state=0).fit(X, y),
    )
    return [
        Row(
            f"ME2 fit, {name}, {len(X):,} × 17, {y.sum()} positives; peer: a random forest of 100 trees",
            mine,
            peer,
            mine / peer,
            "s",
            run.judged(Bar("<=", 5)) if name.startswith("fixed") else None,
        )
        for name, mine in zip(models, ours, strict=True)
    ]
