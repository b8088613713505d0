"""The audit's own winner beside the methods that others would use: on card payments, and by money."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from proofs.cases import Case, MissingSets, Proof, sets_of
from scarce._typing import Estimator, FloatArray, IntArray
from scarce.audit import audit
from scarce.datasets import handbook_split, make_transactions
from scarce.metrics import group_precision_at_k

DAYS = (10, 31, 52)
RAW = ["TX_DATETIME", "CUSTOMER_ID", "TERMINAL_ID", "TX_AMOUNT", "TX_FRAUD"]
CARDS, RESAMPLES = 100, 200
WORST, WORST_PROFIT = -0.01, -0.005
FORESTS = {"n_estimators": [200], "min_samples_leaf": [1, 5, 20], "max_features": ["sqrt", 0.5]}
BOOSTINGS = {"n_estimators": [50, 150, 400], "max_depth": [3, 6], "learning_rate": [0.05, 0.1, 0.3]}


def prove_payments(days: Sequence[int] = DAYS, share: float = 1.0, methods: Sequence[str] = ()) -> Proof:
    """Audit card payments by five raw columns, and compare the winner with tuned rivals on 15 features."""
    xgboost = _xgboost()
    data = sets_of(["handbook-payments"])["handbook-payments"]
    frame, features = data.frame.reset_index(drop=True), list(data.feature_names)
    if share < 1:
        kept = np.random.default_rng(0).random(int(frame["CUSTOMER_ID"].max()) + 1) < share
        frame = frame[kept[frame["CUSTOMER_ID"].astype(int)]].reset_index(drop=True)
    first = frame["TX_DATETIME"].min().normalize()
    lines = []
    for day in days:
        start = first + pd.Timedelta(days=day)
        train, test = handbook_split(frame, start)
        y = frame["TX_FRAUD"].to_numpy()
        scores = {"audit": _of_audit(frame, train, test, start, methods)}
        for name, model, grid in (
            ("random forest", RandomForestClassifier(random_state=0), FORESTS),
            ("XGBoost", xgboost, BOOSTINGS),
        ):
            search = GridSearchCV(model, grid, scoring="average_precision", cv=TimeSeriesSplit(3))
            scores[name] = search.fit(frame[features].iloc[train], y[train]).predict_proba(frame[features].iloc[test])[
                :, 1
            ]
        for rival in list(scores)[1:]:
            lines += list(_differences(day, rival, y[test], scores["audit"], scores[rival], frame.iloc[test]))
    return Proof(
        "Card payments from five raw columns",
        f"The winner of an audit of {', '.join(RAW)}, with `--entity` customer and terminal and a delay of 7 days, "
        "beside rivals tuned by average precision on three splits by time with the Handbook's 15 features: average "
        f"precision, and card precision at {CARDS} a day. The audit sees the payments before the start as well, as the "
        f"features do. Intervals of the difference, customers drawn {RESAMPLES} times. Bar: lower end at least -0.01.",
        ("day", "rival", "figure", "audit", "rival's", "low", "high", "verdict"),
        lines,
    )


def _of_audit(
    frame: pd.DataFrame, train: IntArray, test: IntArray, start: pd.Timestamp, methods: Sequence[str]
) -> FloatArray:
    """Return the scores of the tested payments by the winner of an audit that ranks them."""
    moment = frame["TX_DATETIME"]
    inside = np.flatnonzero((moment < start + pd.Timedelta("21D")).to_numpy())
    table = frame.loc[inside, RAW].copy()
    table["TX_FRAUD"] = table["TX_FRAUD"].astype(float).where(moment[inside] < start + pd.Timedelta("7D"))
    table["week"] = np.where(np.isin(inside, test), "to rank", "before")
    result = audit(
        table.reset_index(drop=True),
        "TX_FRAUD",
        time="TX_DATETIME",
        delay="7d",
        entity=("CUSTOMER_ID", "TERMINAL_ID"),
        rank="week=to rank",
        budget=len(test),
        positive="1",
        methods=tuple(methods),
    )
    score = pd.Series(result.queue["score"].to_numpy(), index=inside[result.queue["row"].to_numpy()])
    return np.asarray(score.reindex(test), dtype=np.float64)


def _differences(
    day: int, rival: str, y: IntArray, ours: FloatArray, theirs: FloatArray, rows: pd.DataFrame
) -> Iterator[Case]:
    """Yield both figures and the interval of their difference, customers drawn with replacement."""
    customer, number = np.unique(rows["CUSTOMER_ID"].to_numpy(), return_inverse=True)
    of_day = rows["TX_DATETIME"].dt.normalize().to_numpy()
    places = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[places], np.arange(len(customer) + 1))
    rng = np.random.default_rng(0)
    draws = [np.arange(len(y))]
    owner = [number]
    for _ in range(RESAMPLES):
        drawn = rng.integers(len(customer), size=len(customer))
        draws.append(np.concatenate([places[bounds[c] : bounds[c + 1]] for c in drawn]))
        owner.append(np.repeat(np.arange(len(drawn)), np.diff(bounds)[drawn]))

    def average(score: FloatArray, draw: IntArray, _: IntArray) -> float:
        return float(average_precision_score(y[draw], score[draw]))

    def of_cards(score: FloatArray, draw: IntArray, who: IntArray) -> float:
        return group_precision_at_k(y[draw], score[draw], who, of_day[draw], CARDS)

    for name, figure in (("AP", average), (f"CP@{CARDS}", of_cards)):
        apart = [figure(ours, draw, who) - figure(theirs, draw, who) for draw, who in zip(draws, owner, strict=True)]
        low, high = np.quantile(apart[1:], [0.025, 0.975])
        both = (figure(ours, draws[0], number), figure(theirs, draws[0], number))
        yield Case((str(day), rival, name), (*both, float(low), float(high)), bool(low >= WORST))


def _xgboost() -> Estimator:
    try:
        return importlib.import_module("xgboost").XGBClassifier(random_state=0, n_jobs=1, tree_method="hist")
    except ImportError as error:
        raise MissingSets("The proof needs xgboost, which comes with the extra 'study'.") from error


def prove_profit(rows: int = 20_000, borrowers: int | None = 30_000) -> Proof:
    """Compare the best profit method with the Bayes rule, on simulated payments and on borrowers."""
    lines = []
    payments = make_transactions(rows, fraud_rate=0.02, seed=11).frame
    options = {"objective": "profit", "time": "date", "amount": "amount", "check_cost": 10.0}
    lines.append(_by_profit("simulated payments", payments, "fraud", **options))
    credit = sets_of(["give-me-some-credit"])["give-me-some-credit"]
    frame = pd.DataFrame(credit.data, columns=credit.feature_names).assign(late=credit.target)
    frame = frame.sample(borrowers or len(frame), random_state=0).reset_index(drop=True)
    frame["line"] = (3 * frame["MonthlyIncome"].fillna(frame["MonthlyIncome"].median())).clip(0, 25_000)
    # A refused good borrower costs the interest, a bad one that is accepted most of the line.
    gains = {"tp": 0.0, "fp": "-0.05*line", "tn": 0.0, "fn": "-0.75*line"}
    lines.append(_by_profit("give-me-some-credit", frame, "late", objective="profit", gains=gains, drop=("line",)))
    return Proof(
        "Money",
        f"Audits for profit of {rows:,} simulated payments (a check costs 10) and {len(frame):,} borrowers (a refused "
        "good one costs 5 % of the line, a bad one 75 %): the best method of ours beside the Bayes rule on calibrated "
        "LightGBM, as shares of perfect profit, counted from what flagging nothing earns. Bar: lower end of the "
        "interval of the difference at least -0.5 %.",
        ("table", "ours", "of perfect", "Bayes rule", "low", "high", "verdict"),
        lines,
    )


def _by_profit(name: str, frame: pd.DataFrame, target: str, **options: object) -> Case:
    result = audit(frame, target, **options)
    task, folds = result.task, result.comparison.folds
    y, gains = task.y[folds.tested], np.asarray(task.gains)[folds.tested]
    tp, fp, tn, fn = gains.T
    perfect = float(np.where(y == 1, np.maximum(tp - fn, 0), np.maximum(fp - tn, 0)).sum())
    nothing = float(np.where(y == 1, fn, tn).sum())
    bayes = next(o for o in result.comparison.outcomes if o.candidate.key == "bayes")
    ours = next(o for o in result.comparison.outcomes if o.candidate.key != "bayes")
    apart = (ours.draws["profit"] - bayes.draws["profit"]) / perfect
    low, high = (float(q) for q in np.quantile(apart[1:], [0.025, 0.975]))
    shares = [(float(o.draws["profit"][0]) - nothing) / perfect for o in (ours, bayes)]
    return Case((name, ours.candidate.name), (*shares, low, high), low >= WORST_PROFIT)
