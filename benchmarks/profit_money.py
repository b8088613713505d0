"""What do methods for profit earn, as a share of what perfect decisions would?"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from benchmarks.profit_models import (
    NO_LIGHTGBM,
    Problem,
    credit,
    creditcard,
    decide,
    decide_as_in_the_thesis,
    earned,
    payments,
)
from benchmarks.rows import Bar, Detail, Row, Run
from scarce.datasets import DatasetUnavailable

# Six orderings of the gap in Table 6.2 of the thesis, which together cover its eight models: the first earns more. And
# the gaps that it prints, in per cent.
ORDERINGS = [
    ("GB_prof", "RF_mean-prof"),
    ("RF_mean-prof", "RF"),
    ("RF_max-prof", "RF_prof"),
    ("GB_prof", "GB_tune-prof"),
    ("GB_tune-prof", "GB_tune-F1"),
    ("GB_tune-F1", "GB_tune-pre"),
]
PRINTED = {
    "RF": 2.99,
    "RF_prof": 2.88,
    "RF_max-prof": 1.81,
    "RF_mean-prof": 1.87,
    "GB_tune-pre": 3.01,
    "GB_tune-prof": 2.26,
    "GB_tune-F1": 2.70,
    "GB_prof": 1.56,
}

_OURS = ("ProfitBoosting()", "ProfitForest()")

# What each model missed, row by row, of each table judged in this run, as shares of the profit of perfect decisions.
_JUDGED: dict[str, dict[str, Any]] = {}


def profit_payments(run: Run) -> list[Row]:
    """Return Table 6.2 of the thesis on ten tables of simulated payments, judged together."""
    size, tables = (20_000, 1) if run.quick else (100_000, 10)
    return _table(run, "payments", lambda: [payments(size, seed) for seed in range(tables)])


def profit_creditcard(run: Run) -> list[Row]:
    """Return the same on card payments, in folds."""
    return _table(run, "card payments", lambda: [creditcard(by_time=False)], slow=True)


def profit_creditcard_time(run: Run) -> list[Row]:
    """Return the same on the later card payments, learned from the earlier ones."""
    return _table(run, "later card payments", lambda: [creditcard(by_time=True)], slow=True)


def profit_creditcard_orderings(run: Run) -> list[Row]:
    """Return the thesis's models alone on card payments, in folds drawn ten times: few frauds leave much to chance."""
    name = "card payments, ten times"
    return _if_possible(run, lambda: _judge_orderings(name, creditcard(by_time=False, repeats=10), run), slow=True)


def profit_credit(run: Run) -> list[Row]:
    """Return the same on loans, in folds."""
    return _table(run, "loans", lambda: [credit()], slow=True)


def _table(run: Run, name: str, problems: Callable[[], list[Problem]], *, slow: bool = False) -> list[Row]:
    return _if_possible(run, lambda: _judge(name, problems(), run), slow=slow)


def _if_possible(run: Run, judge: Callable[[], list[Row]], *, slow: bool) -> list[Row]:
    what = "share of the profit of perfect decisions"
    if run.quick and slow:
        return [Row(what, note="left out by --quick: takes minutes")]
    if not importlib.util.find_spec("lightgbm"):
        return [Row(what, note=NO_LIGHTGBM)]
    try:
        return judge()
    except DatasetUnavailable as error:
        return [Row(what, note=str(error))]


class _Decided(NamedTuple):
    """What models decided on the judged rows, and what that is worth."""

    y: Any
    share: dict[str, Any]  # how often each row was called positive, of the times that it was judged
    missed: dict[str, Any]  # as a share of the profit of perfect decisions, by row
    most: float  # that profit
    nothing_called: float  # what is earned without calling any row


def _judge(name: str, together: list[Problem], run: Run) -> list[Row]:
    decided = _decisions(name, together, run, decide)
    _JUDGED[name] = decided.missed
    _tell_table(name, run, decided)
    _tell_orderings(name, run, decided.missed)
    rows = _against_others(f"share of the profit of perfect decisions, {name}", decided.missed)
    return rows + _on_the_mean(run)


def _judge_orderings(name: str, problem: Problem, run: Run) -> list[Row]:
    decided = _decisions(name, [problem], run, decide_as_in_the_thesis)
    times = Counter(_tell_orderings(name, run, decided.missed))
    note = ", ".join(f"{n} {verdict}" for verdict, n in times.items())
    return [Row(f"orderings of the thesis that are told, {name}", times.total() - times["undecided"], note=note)]


def _decisions(name: str, together: list[Problem], run: Run, decide: Callable[..., dict[str, Any]]) -> _Decided:
    first = np.cumsum([0] + [len(problem.y) for problem in together])
    y = np.concatenate([problem.y for problem in together])
    gains = np.concatenate([problem.gains for problem in together])
    parts = [(i, split) for i, problem in enumerate(together) for split in range(len(problem.splits))]
    run.tell(f"{name}, {len(parts)} parts")
    found = Parallel(n_jobs=-1, return_as="generator")(
        delayed(decide)(together[i], split, seed) for seed, (i, split) in enumerate(parts)
    )
    # How often each row was judged, and how often each model called it positive.
    judged, called = np.zeros(len(y)), dict[str, Any]()
    for done, ((i, split), decisions) in enumerate(zip(parts, found, strict=True), 1):
        rows = first[i] + together[i].splits[split][1]
        judged[rows] += 1
        for model, positive in decisions.items():
            called.setdefault(model, np.zeros(len(y)))[rows] += positive
        run.tell(f"{name}, {done} of {len(parts)} parts")
    some = judged > 0
    y, gains = y[some], gains[some]
    share = {model: times[some] / judged[some] for model, times in called.items()}
    flagged, passed = earned(y, np.ones(len(y), dtype=bool), gains), earned(y, np.zeros(len(y), dtype=bool), gains)
    perfect = np.where(y, flagged, passed)
    most = perfect.sum()
    missed = {model: (perfect - often * flagged - (1 - often) * passed) / most for model, often in share.items()}
    return _Decided(y, share, missed, most, passed.sum())


def _tell_table(name: str, run: Run, decided: _Decided) -> None:
    y, share, missed, most, nothing_called = decided
    table: list[list[str | float]] = []
    for model, lost in missed.items():
        low, high = _interval(_resampled(lost - missed["Bayes rule"]))
        gap, hits, calls = lost.sum(), share[model] @ y, share[model].sum()
        table.append(
            [
                model,
                f"{gap:.2%}",
                f"{low:+.2%} to {high:+.2%}" if model != "Bayes rule" else "",
                f"{1 - gap:.4f}",
                float(1 - gap * most / (most - nothing_called)),
                float(hits / calls) if calls else 0.0,
                float(hits / y.sum()),
                float(2 * hits / (calls + y.sum())),
            ]
        )
    title = f"{name}: {len(y):,} rows judged, {int(y.sum())} positives, perfect decisions earn {most:,.0f}"
    columns = ["model", "gap", "less the Bayes rule's, 95 %", "share of perfect", "of what can be gained"]
    run.details.append(Detail(title, [*columns, "precision", "recall", "F1"], table))


def _tell_orderings(name: str, run: Run, missed: Any) -> list[str]:
    """Say of each ordering whether the smaller gap is smaller, and if that is open, whether by as much as printed."""
    table: list[list[str | float]] = []
    verdicts = []
    for better, worse in ORDERINGS:
        less, more = _resampled(missed[better], missed[worse])
        low, high = _interval(less - more)
        ratio, printed, verdict = _verdict((better, worse), _interval(less / more))
        table.append([f"{better} < {worse}", f"{low:+.2%} to {high:+.2%}", ratio, printed, verdict])
        verdicts.append(verdict)
    columns = ["ordering", "difference of the gaps, 95 %", "ratio, 95 %", "printed", ""]
    run.details.append(Detail(f"{name}: orderings of the gap", columns, table))
    return verdicts


def _tell_orderings_together(run: Run, names: tuple[str, ...]) -> None:
    """Say the same of several tables at once: of the geometric mean of their ratios, in which each counts the same."""
    verdicts: list[list[str | float]] = []
    for better, worse in ORDERINGS:
        logs = []
        for seed, name in enumerate(names):
            less, more = _resampled(_JUDGED[name][better], _JUDGED[name][worse], seed=seed)
            logs.append(np.log(less / more))
        ratio, printed, verdict = _verdict((better, worse), _interval(np.exp(np.mean(logs, axis=0))))
        verdicts.append([f"{better} < {worse}", ratio, printed, verdict])
    columns = ["ordering", "ratio of the gaps, 95 %", "printed", ""]
    run.details.append(Detail(f"{', '.join(names)} together: orderings of the gap", columns, verdicts))


def _verdict(ordering: tuple[str, str], ratio: Any) -> tuple[str, str, str]:
    """Return the interval of the ratio of two gaps and the ratio printed, as text, and what follows."""
    better, worse = ordering
    printed = PRINTED[better] / PRINTED[worse]
    low, high = ratio
    verdict = "confirmed" if high < 1 else "refuted" if low > 1 else "undecided"
    if verdict == "undecided" and low > printed:
        verdict = "refuted as to its size"
    return f"{low:.2f} to {high:.2f}", f"{printed:.2f}", verdict


def _against_others(what: str, missed: Any, bar: Bar | None = None) -> list[Row]:
    """Return a row for each model of ours: its share beside that of the Bayes rule, and what another library has."""
    shares = {model: 1 - float(lost.sum()) for model, lost in missed.items()}
    bayes = shares["Bayes rule"]
    rows = []
    for model in _OURS:
        others = []
        for other in (name for name in missed if "empulse" in name):
            low, high = 100 * _interval(_resampled(missed[other] - missed[model]))
            others.append(f"{other} {shares[other]:.4f}, ours more by {low:+.2f} to {high:+.2f} points")
        name = f"{what}, {model}; peer: the Bayes rule on LightGBM"
        rows.append(Row(name, shares[model], bayes, shares[model] / bayes, bar=bar, note="; ".join(others)))
    return rows


def _on_the_mean(run: Run) -> list[Row]:
    """Return the mean shares of perfect profit over three tables, once they were judged: with either card payments."""
    rows = []
    *_, latest = _JUDGED
    for cards in ("card payments", "later card payments"):
        three = ("payments", cards, "loans")
        if latest not in three or not all(name in _JUDGED for name in three):
            continue
        missed = {model: np.concatenate([_JUDGED[name][model] / 3 for name in three]) for model in _JUDGED["payments"]}
        title = "mean of " + ", ".join(three)
        rows += _against_others(f"share of the profit of perfect decisions, {title}", missed, Bar(">=", 1.0))
        table: list[list[str | float]] = []
        for model, lost in missed.items():
            low, high = 100 * _interval(_resampled(lost - missed["Bayes rule"]))
            interval = f"{low:+.3f} to {high:+.3f}" if model != "Bayes rule" else ""
            table.append([model, f"{1 - lost.sum():.4f}", interval])
        columns = ["model", "mean share of perfect", "gap less the Bayes rule's, points, 95 %"]
        run.details.append(Detail(title, columns, table))
        _tell_orderings_together(run, three)
    return rows


def _resampled(*lost: Any, draws: int = 2000, seed: int = 0) -> Any:
    """Return bootstrap draws of sums over the rows, the same rows in each."""
    # Rows where nothing is lost do not count. The number of times a row is drawn is nearly Poisson.
    both = np.column_stack(lost)
    both = both[both.any(axis=1)]
    rng = np.random.default_rng(seed)
    sums = np.array([rng.poisson(1.0, len(both)) @ both for _ in range(draws)])
    return sums.T if len(lost) > 1 else sums[:, 0]


def _interval(draws: Any) -> Any:
    """Return the middle 95 % of draws."""
    return np.quantile(draws, [0.025, 0.975])
