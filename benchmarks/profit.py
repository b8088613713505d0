"""What do methods for profit earn, how long do they learn, and how fast do they answer?"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import precision_recall_fscore_support, precision_score
from sklearn.model_selection import StratifiedKFold, train_test_split

import scarce
from benchmarks.rows import Bar, Detail, Row, Run, fastest
from scarce.boosting import ProfitBoosting
from scarce.datasets import DatasetUnavailable, load, make_transactions
from scarce.objectives import FBeta, PrecisionAtLeast, Profit
from scarce.profit import BayesProfitClassifier, Gains

_NO_LIGHTGBM = 'LightGBM is not installed: pip install "scarce[boost]"'
# The settings of `scarce audit`, and the defaults of ProfitBoosting: the library's own run away on so few positives.
_TREES: dict[str, Any] = {
    "n_estimators": 150,
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_child_samples": 20,
    "reg_lambda": 5.0,
    "colsample_bytree": 0.5,
    "random_state": 0,
    "n_jobs": 1,
}
_FOREST: dict[str, Any] = {"n_estimators": 24, "max_depth": 10, "random_state": 0}
_MIN_VOTES = 9 / 24

# What each model earned, row by row, of each table judged in this run, as shares of the profit of perfect decisions.
_JUDGED: dict[str, dict[str, Any]] = {}

# Six orderings of the gap in Table 6.2 of the thesis, which together cover its eight models: the first earns more.
ORDERINGS = [
    ("GB_prof", "RF_mean-prof"),
    ("RF_mean-prof", "RF"),
    ("RF_max-prof", "RF_prof"),
    ("GB_prof", "GB_tune-prof"),
    ("GB_tune-prof", "GB_tune-F1"),
    ("GB_tune-F1", "GB_tune-pre"),
]


def _lightgbm(**changed: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(**{**_TREES, **changed}, verbose=-1)


# Speed ----------------------------------------------------------------------------------------------------------


def profit_fit_time(run: Run) -> list[Row]:
    what = "ProfitBoosting.fit, 200,000 x 30, 100 trees of 31 leaves; peer: LightGBM's classifier, same trees"
    bar = None if run.quick else Bar("<=", 1.3)
    if not importlib.util.find_spec("lightgbm"):
        return [Row(what, bar=bar, note=_NO_LIGHTGBM)]
    n = 20_000 if run.quick else 200_000
    X, y = make_classification(n, 30, n_informative=10, weights=[0.98], random_state=0)
    amount = np.random.default_rng(0).lognormal(4, 1, n)
    gains = np.column_stack((0 * amount, 0.1 * amount - 5, 0.1 * amount, -0.8 * amount))
    size = {"n_estimators": 100, "num_leaves": 31, "colsample_bytree": 1.0}
    rows = []
    for loss in ("log_loss", "exponential", "logistic"):
        ours, peer = fastest(
            run,
            3,
            one_core=True,
            ours=lambda loss=loss: ProfitBoosting(loss, **{**_TREES, **size}).fit(X, y, gains=gains),
            peer=lambda: _lightgbm(**size).fit(X, y),
        )
        rows.append(
            Row(f"{what}, loss={loss!r}", ours, peer, ours / peer, "s", bar, f"{n:,} rows" if run.quick else "")
        )
    return rows


def profit_latency(run: Run) -> list[Row]:
    what = "one row, 99th percentile of 10,000 calls, ms of the processor; peer: the LightGBM booster itself"
    bar = None if run.quick else Bar("<", 10, on="ours")
    if not importlib.util.find_spec("lightgbm"):
        return [Row(what, bar=bar, note=_NO_LIGHTGBM)]
    X, y = make_classification(20_000, 30, n_informative=10, weights=[0.98], random_state=0)
    gains = np.array([0, -5, 0, -80.0])
    model = ProfitBoosting(**_TREES).fit(X, y, gains=gains)
    bayes = BayesProfitClassifier(_lightgbm()).fit(X, y, gains=gains)
    calls: dict[str, Callable[[Any], Any]] = {
        "booster": partial(model.booster_.predict, num_threads=1),
        "ProfitBoosting.predict": model.predict,
        "ProfitBoosting.score_samples": model.score_samples,
        "BayesProfitClassifier.predict with gains": partial(bayes.predict, gains=gains),
    }
    if forest := dict(scarce.all_estimators()).get("ProfitForest"):
        calls["ProfitForest.predict"] = forest(**_FOREST).fit(X, y, gains=gains).predict
    # The processor's time hardly depends on what else the machine does, the clock's does; calls take turns in both.
    times = 1_000 if run.quick else 10_000
    taken: dict[str, Any] = {name: np.empty((times, 2)) for name in calls}
    for i in range(-times // 100, times):
        row = X[i][None]
        for name, call in calls.items():
            clock, processor = time.perf_counter(), time.process_time()
            call(row)
            if i >= 0:  # the first calls load and compile
                taken[name][i] = time.process_time() - processor, time.perf_counter() - clock
    peer, peer_clock = np.percentile(taken["booster"], 99, axis=0) * 1000
    rows = []
    for name in list(calls)[1:]:
        median = np.median(taken[name][:, 0]) * 1000
        p99, p99_clock = np.percentile(taken[name], 99, axis=0) * 1000
        note = f"median {median:.2f}; by the clock, p99 {p99_clock:.2f}, the booster's {peer_clock:.2f}"
        rows.append(Row(f"{name}, {what}", float(p99), float(peer), float(p99 / peer), "", bar, note))
    return rows


# Money ----------------------------------------------------------------------------------------------------------


@dataclass
class Problem:
    """Rows, what their outcomes earn, and the parts on which models are learned and judged."""

    name: str
    X: Any
    y: Any
    gains: Any
    splits: list[tuple[Any, Any]]
    in_order: bool  # of time, so that the last third of the training rows serves for validation


def _payments(n: int, seed: int) -> Problem:
    payments = make_transactions(n, fraud_rate=0.0033, months=10, seed=seed)
    frame = payments.data
    gains = Gains(tp=0, fn="-0.8 * amount", fp="margin - zeta", tn="margin", zeta=5)(frame)
    month = frame["date"].dt.month.to_numpy()
    table = frame.drop(columns=["date", "customer_id"])
    words = table.select_dtypes("category").columns
    table[words] = table[words].apply(lambda column: column.cat.codes).astype(float).replace(-1, np.nan)
    splits = [(np.flatnonzero(month <= 6), np.flatnonzero(month > 6))]
    return Problem("payments", table.to_numpy(dtype=float), payments.target.to_numpy(), gains, splits, True)


def _creditcard() -> Problem:
    data = load("creditcard")
    gains = Gains(tp=0, fn="-Amount", fp="0.02 * Amount - zeta", tn="0.02 * Amount", zeta=5, columns=data.feature_names)
    splits = [tuple(np.split(np.arange(len(data.target)), [len(data.target) * 6 // 10]))]
    return Problem("creditcard", data.data, data.target, gains(data.data), splits, True)


def _credit() -> Problem:
    data = load("give-me-some-credit")
    income = {"income": data.feature_names.index("MonthlyIncome")}
    X = SimpleImputer(strategy="median").fit_transform(data.data)  # whoever does not tell gets the usual loan
    # Three incomes are lent, 25,000 at the most; interest earns 5 %, and 75 % of a bad loan are lost.
    lent = "min(3 * income, 25000)"
    gains = Gains(tp=0, fn=f"-0.75 * {lent}", fp="-zeta", tn=f"0.05 * {lent}", zeta=5, columns=income)
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    return Problem("give-me-some-credit", X, data.target, gains(X), list(folds.split(X, data.target)), False)


def _decisions(X: Any, y: Any, gains: Any, X_new: Any, gains_new: Any, in_order: bool, tell: Any) -> dict[str, Any]:
    """Return which of the new rows each model calls positive."""
    called: dict[str, Any] = {}
    if in_order:
        train, valid = np.split(np.arange(len(y)), [2 * len(y) // 3])
    else:
        train, valid = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=0)

    tell("RF")
    called["RF"] = _votes(RandomForestClassifier(**_FOREST).fit(X, y), X_new) >= _MIN_VOTES
    if forest := dict(scarce.all_estimators()).get("ProfitForest"):
        for vote, name in (("majority", "RF_prof"), ("max", "RF_max-prof"), ("mean", "RF_mean-prof")):
            tell(name)
            called[name] = forest(vote=vote, min_votes=_MIN_VOTES, **_FOREST).fit(X, y, gains=gains).predict(X_new) == 1
        tell("ProfitForest()")
        called["ProfitForest()"] = forest(random_state=0).fit(X, y, gains=gains).predict(X_new) == 1

    tell("GB, tuned")
    boosting = _lightgbm().fit(X[train], y[train])
    score, score_new = boosting.predict_proba(X[valid])[:, 1], boosting.predict_proba(X_new)[:, 1]
    rivals = _votes(RandomForestClassifier(**_FOREST).fit(X[train], y[train]), X[valid]) >= _MIN_VOTES
    reached = np.nanmax(_precision_curve(score, y[valid]))
    wanted = precision_score(y[valid], rivals, zero_division=0.0) or reached
    objectives = {
        "GB_tune-pre": PrecisionAtLeast(min(wanted, reached)),
        "GB_tune-prof": Profit(gains[valid]),
        "GB_tune-F1": FBeta(1),
    }
    for name, objective in objectives.items():
        called[name] = score_new > objective.best_threshold(score, y[valid]).threshold

    for name, loss in (("GB_prof", "exponential"), ("GB_prof, logistic", "logistic")):
        tell(name)
        model = ProfitBoosting(loss, **_TREES, threshold=Profit()).fit(X, y, gains=gains)
        score_new = model.score_samples(X_new)
        called[name] = score_new > 0  # the rule of threshold="default", for the same trees
        called[f"{name}, honest cut"] = score_new > model.threshold_
    tell("ProfitBoosting()")
    called["ProfitBoosting()"] = ProfitBoosting(**_TREES).fit(X, y, gains=gains).predict(X_new) == 1
    tell("Bayes rule")
    bayes = BayesProfitClassifier(_lightgbm()).fit(X, y, gains=gains)
    called["Bayes rule"] = bayes.predict(X_new, gains=gains_new) == 1
    called |= _empulse(X, y, gains, X_new, tell)
    return called


def _precision_curve(score: Any, y: Any) -> Any:
    curve = FBeta(1).curve(score, y)
    return np.divide(curve.tp, curve.tp + curve.fp, out=np.full_like(curve.tp, np.nan), where=curve.tp + curve.fp > 0)


def _votes(forest: Any, X: Any) -> Any:
    """Return the share of the trees that call each row positive."""
    return np.mean([tree.predict_proba(X)[:, 1] > 0.5 for tree in forest.estimators_], axis=0)


def _empulse(X: Any, y: Any, gains: Any, X_new: Any, tell: Any) -> dict[str, Any]:
    """Return the decisions of another library, where it is installed: it is no dependency, not even of this."""
    if not importlib.util.find_spec("empulse"):
        return {}
    from empulse.models import CSBoostClassifier, CSForestClassifier

    costs = {f"{name}_cost": -column for name, column in zip(("tp", "fp", "tn", "fn"), gains.T, strict=True)}
    called = {}
    models = {"empulse CSBoost": CSBoostClassifier(_lightgbm()), "empulse CSForest": CSForestClassifier(**_FOREST)}
    for name, model in models.items():
        tell(name)
        called[name] = np.asarray(model.fit(X, y, **costs).predict(X_new)) == 1
    return called


def _earned(y: Any, called: Any, gains: Any) -> Any:
    tp, fp, tn, fn = gains.T
    return np.where(called, np.where(y, tp, fp), np.where(y, fn, tn))


def profit_payments(run: Run) -> list[Row]:
    """Return Table 6.2 of the thesis on five tables of simulated payments, judged together."""
    size, tables = (20_000, 1) if run.quick else (100_000, 5)
    return _table(run, lambda: [_payments(size, seed) for seed in range(tables)])


def profit_creditcard(run: Run) -> list[Row]:
    """Return the same on card payments."""
    return _table(run, lambda: [_creditcard()], slow=True)


def profit_credit(run: Run) -> list[Row]:
    """Return the same on loans."""
    return _table(run, lambda: [_credit()], slow=True)


def _table(run: Run, problems: Callable[[], list[Problem]], *, slow: bool = False) -> list[Row]:
    what = "share of the profit of perfect decisions"
    if run.quick and slow:
        return [Row(what, note="left out by --quick: takes minutes")]
    if not importlib.util.find_spec("lightgbm"):
        return [Row(what, note=_NO_LIGHTGBM)]
    try:
        return _judge(problems(), run)
    except DatasetUnavailable as error:
        return [Row(what, note=str(error))]


def _judge(together: list[Problem], run: Run) -> list[Row]:
    name = together[0].name
    called: dict[str, list[Any]] = {}
    truths, tables = [], []
    for problem in together:
        for train, test in problem.splits:
            part = len(truths) + 1
            fill = SimpleImputer(strategy="median").fit(problem.X[train])
            X, X_new = fill.transform(problem.X[train]), fill.transform(problem.X[test])
            found = _decisions(
                X,
                problem.y[train],
                problem.gains[train],
                X_new,
                problem.gains[test],
                problem.in_order,
                lambda model, part=part: run.tell(f"{name}, part {part}, {model}"),
            )
            for model, decisions in found.items():
                called.setdefault(model, []).append(decisions)
            truths.append(problem.y[test])
            tables.append(problem.gains[test])
    y, gains = np.concatenate(truths), np.concatenate(tables)
    decisions = {model: np.concatenate(parts) for model, parts in called.items()}
    earned = {model: _earned(y, flags, gains) for model, flags in decisions.items()}
    most = _earned(y, y == 1, gains).sum()
    base = _earned(y, np.zeros(len(y), dtype=bool), gains).sum()

    table: list[list[str | float]] = []
    for model, by_row in earned.items():
        precision, recall, f1, _ = precision_recall_fscore_support(
            y, decisions[model], average="binary", zero_division=0.0
        )
        profit = by_row.sum()
        low, high = _interval(earned["Bayes rule"] - by_row, most)
        table.append(
            [
                model,
                f"{(most - profit) / most:.2%}",
                f"{low:+.2%} to {high:+.2%}" if model != "Bayes rule" else "",
                f"{profit / most:.4f}",
                float((profit - base) / (most - base)),
                float(precision),
                float(recall),
                float(f1),
            ]
        )
    title = f"{name}: {len(y):,} rows judged, {int(y.sum())} positives, perfect decisions earn {most:,.0f}"
    columns = [
        "model",
        "gap",
        "less the Bayes rule's, 95 %",
        "share of perfect",
        "of what can be gained",
    ]
    run.details.append(Detail(title, [*columns, "precision", "recall", "F1"], table))

    verdicts: list[list[str | float]] = []
    for better, worse in ORDERINGS:
        if better not in earned or worse not in earned:
            verdicts.append([f"{better} < {worse}", "", "not measured: ProfitForest is not there"])
            continue
        low, high = _interval(earned[worse] - earned[better], most)
        verdict = "confirmed" if high < 0 else "refuted" if low > 0 else "undecided"
        verdicts.append([f"{better} < {worse}", f"{low:+.2%} to {high:+.2%}", verdict])
    run.details.append(
        Detail(f"{name}: orderings of the gap", ["ordering", "difference of the gaps, 95 %", ""], verdicts)
    )

    rows = []
    bayes = earned["Bayes rule"].sum() / most
    for model in ("ProfitBoosting()", "ProfitForest()", "GB_prof", "RF_mean-prof"):
        if model in earned:
            share = float(earned[model].sum() / most)
            rows.append(
                Row(
                    f"share of the profit of perfect decisions, {name}, {model}; peer: the Bayes rule on LightGBM",
                    share,
                    float(bayes),
                    share / float(bayes),
                    note=", ".join(f"{m} {e.sum() / most:.4f}" for m, e in earned.items() if "empulse" in m),
                )
            )
    _JUDGED[name] = {model: by_row / most for model, by_row in earned.items()}
    return rows + _on_the_mean(run)


def _on_the_mean(run: Run) -> list[Row]:
    """Return the mean shares of perfect profit over the tables judged so far, once there are three."""
    if len(_JUDGED) < 3:
        return []
    shares = {
        model: float(np.mean([table[model].sum() for table in _JUDGED.values()]))
        for model in next(iter(_JUDGED.values()))
    }
    table: list[list[str | float]] = []
    for model, share in shares.items():
        sums = [_resampled(earned["Bayes rule"] - earned[model]) for earned in _JUDGED.values()]
        low, high = np.quantile(np.mean(sums, axis=0), [0.025, 0.975])
        table.append([model, f"{share:.4f}", f"{low:+.2%} to {high:+.2%}" if model != "Bayes rule" else ""])
    columns = ["model", "mean share of perfect", "gap less the Bayes rule's, 95 %"]
    run.details.append(Detail("mean of " + ", ".join(_JUDGED), columns, table))
    bayes = shares["Bayes rule"]
    return [
        Row(
            f"share of the profit of perfect decisions, mean of three sets, {model}; peer: the Bayes rule on LightGBM",
            shares[model],
            bayes,
            shares[model] / bayes,
            bar=Bar(">=", 1.0),
        )
        for model in ("ProfitBoosting()", "ProfitForest()")
    ]


def _interval(missed: Any, most: float) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a sum over the rows, relative to the profit of perfect decisions."""
    low, high = np.quantile(_resampled(missed), [0.025, 0.975]) / most
    return float(low), float(high)


def _resampled(missed: Any, draws: int = 2000) -> Any:
    """Return bootstrap draws of a sum over the rows."""
    # Only rows that the two models decide otherwise count. Counts of a row in a resample are nearly Poisson.
    some = missed[missed != 0]
    rng = np.random.default_rng(0)
    return np.array([rng.poisson(1.0, len(some)) @ some for _ in range(draws)])
