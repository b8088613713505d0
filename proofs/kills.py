"""Commands that are killed at random moments: what they leave is whole, and the next run works."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import tempfile
import time
import traceback
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from proofs.cases import Case, Proof

KILLS = int(os.environ.get("SCARCE_KILLS", "50"))
ROWS = 300


class Trial(ABC):
    """A command that is run in children of this process, which are killed."""

    name: str

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def work(self) -> None:
        """Do the work of one run, in a child."""

    @abstractmethod
    def check(self, ended: bool) -> None:
        """Look at what a run left; `ended` if it came to its end."""


def in_child(trial: Trial, seconds: float | None) -> bool:
    """Run in a child, which is killed after some seconds, and return whether it came to its end."""
    start = time.monotonic()
    child = os.fork()
    if not child:
        _be_child(trial)
    done = 0
    while seconds is None or time.monotonic() - start < seconds:
        done, status = os.waitpid(child, 0 if seconds is None else os.WNOHANG)
        if done:
            break
        time.sleep(0.001)
    if not done:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise AssertionError((trial.folder / "error").read_text())
    return os.WIFEXITED(status)


def _be_child(trial: Trial) -> None:
    code = 1
    try:
        with (
            (trial.folder / "printed").open("w") as printed,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            trial.work()
        code = 0
    except BaseException:
        (trial.folder / "error").write_text(traceback.format_exc())
    os._exit(code)


def command(*arguments: object) -> None:
    """Run a command in this process."""
    from scarce.cli import app

    app([str(argument) for argument in arguments], standalone_mode=False)


def _table(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3)).round(3)
    y = (X[:, 0] + rng.normal(size=rows) > 1).astype(int)
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(id=[f"R{i}" for i in range(rows)], bad=y)


class Auditing(Trial):
    """Audits that replace each other; each is of another seed, so that their folders differ."""

    name = "audit"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.file, self.out = folder / "table.csv", folder / "out"
        _table().to_csv(self.file, index=False)
        self.seed, self.finished = 0, 0
        self.kept: set[str] = set()
        self.whole: dict[int, str] = {}
        for seed in (0, 1):
            self.seed = seed
            in_child(self, None)
            self.whole[seed] = self.mark()

    def mark(self) -> str:
        return hashlib.sha256((self.out / "queue.csv").read_bytes()).hexdigest()

    def work(self) -> None:
        options = ("--target", "bad", "--budget", 20, "--methods", "logistic,knn", "--seed", self.seed)
        command("audit", self.file, *options, "--out", self.out, "--force")

    def check(self, ended: bool) -> None:
        from scarce._files import check_free
        from scarce.audit import load_model

        check_free(self.out, force=True, marker="manifest.json")  # with which the next run begins
        load_model(self.out)
        held = {path.name for path in self.out.iterdir()}
        assert {"queue.csv", "queue.xlsx", "report.html", "cases.json"} <= held, f"of {held}"
        allowed = [self.whole[self.seed]] if ended else list(self.whole.values())
        assert self.mark() in allowed, "the queue is neither the old nor the new one"
        if ended or self.mark() == self.whole[self.seed]:
            self.seed, self.kept = 1 - self.seed, set()
            return
        kept = {path.name for path in (self.folder / ".out.partial").glob("*.npz")}
        assert self.kept <= kept, "a finished method is lost"
        self.kept = kept


class Scoring(Trial):
    """Files that are scored into a folder."""

    name = "score"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.model, self.files, self.out = folder / "model", folder / "files", folder / "scores"
        _table().to_csv(folder / "table.csv", index=False)
        options = ("--target", "bad", "--budget", 20, "--methods", "logistic", "--out", self.model)
        command("audit", folder / "table.csv", *options)
        self.files.mkdir()
        for number in range(8):
            _table(20_000).drop(columns="bad").to_parquet(self.files / f"part-{number}.parquet")
        in_child(self, None)
        self.whole = self.mark()
        self.finished: set[str] = set()

    def mark(self) -> str:
        held = [path.read_bytes() for path in sorted(self.out.iterdir())]
        return hashlib.sha256(b"\0".join(held)).hexdigest()

    def work(self) -> None:
        command("score", self.model, self.files, "--out", self.out, "--top", 20, "--reasons", 0, "--force")

    def check(self, ended: bool) -> None:
        from scarce._files import check_free

        check_free(self.out, force=True, marker="_score.json")
        assert self.mark() == self.whole, "the scores differ from those of a run that was not killed"
        unfinished = self.folder / ".scores.unfinished"
        if ended:
            assert not unfinished.exists()
            self.finished = set()
            return
        finished = {path.name for path in unfinished.glob("part-*.json")}
        assert self.finished <= finished or not (unfinished / "result").exists(), "a finished file is lost"
        self.finished = finished


class Studying(Trial):
    """A study whose cells go into a store, which begins anew when it is complete."""

    name = "study"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        _table(120).drop(columns="id").to_csv(folder / "table.csv", index=False)
        self.round, self.cells = 0, 0
        in_child(self, None)
        self.whole = self.figures()
        self.round = 1

    @property
    def store(self) -> Path:
        return self.folder / f"study-{self.round}" / "store.sqlite"

    def work(self) -> None:
        from scarce.study import Store, own_study, run_study

        study = own_study([self.folder / "table.csv"], "bad", ["GammaKNN", "KRNN", "PNN", "FRNN"], splits=3)
        ours = study.reduce(methods=[m.column for m in study.methods if not m.rival])
        with Store(self.store) as store:
            assert not run_study(ours, store, n_jobs=1).failed

    def figures(self) -> dict[tuple[str, ...], float]:
        import sqlite3

        with contextlib.closing(sqlite3.connect(self.store)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            lines = db.execute("SELECT method, split, metric, value FROM figures JOIN cells USING (cell)").fetchall()
        return {tuple(map(str, line[:3])): line[3] for line in lines}

    def check(self, ended: bool) -> None:
        if not self.store.exists():
            assert not self.cells
            return
        try:
            found = self.figures()
        except Exception as error:
            if self.cells or "no such table" not in str(error):
                raise
            return
        assert len(found) >= self.cells, "a finished cell is lost"
        assert all(self.whole[place] == value for place, value in found.items()), "a figure differs"
        self.cells = len(found)
        if ended:
            assert found == self.whole
            self.round, self.cells = self.round + 1, 0


class Reviewing(Trial):
    """A person who decides case after case; every verdict that was acknowledged is there."""

    name = "review"

    def __init__(self, folder: Path) -> None:
        from scarce.desk.imports import import_folder
        from scarce.desk.store import Store, store_url

        super().__init__(folder)
        _table().to_csv(folder / "table.csv", index=False)
        options = ("--target", "bad", "--budget", 100, "--methods", "logistic", "--out", folder / "audit")
        command("audit", folder / "table.csv", *options)
        self.url = store_url(folder / "audit")
        store = Store(self.url)
        import_folder(store, folder / "audit")
        store.close()
        self.told = folder / "told"
        self.told.write_text("")

    def work(self) -> None:
        from sqlalchemy import select

        from scarce.desk.schema import Case
        from scarce.desk.store import Store
        from scarce.desk.verdicts import Given, decide

        store = Store(self.url)
        with store.read() as transaction:
            cases = list(transaction.scalars(select(Case.id)))
        rng = np.random.default_rng()
        with self.told.open("a") as told:
            for case in rng.choice(cases, 150):
                request = f"{os.getpid()}-{rng.integers(2**40)}"
                decide(store, int(case), "ann", Given(["positive", "negative"][case % 2], request=request))
                told.write(f"{request}\n")
                told.flush()
        store.close()

    def check(self, ended: bool) -> None:
        from sqlalchemy import func, select

        from scarce.desk.schema import Case, Verdict
        from scarce.desk.store import Store

        store = Store(self.url)
        with store.read() as transaction:
            held = set(transaction.scalars(select(Verdict.request)))
            last = select(Verdict.case_id, func.max(Verdict.id).label("id")).group_by(Verdict.case_id).subquery()
            pairs = transaction.execute(
                select(Case.status, Verdict.new)
                .join(last, last.c.case_id == Case.id)
                .join(Verdict, Verdict.id == last.c.id)
            ).all()
        store.close()
        told = set(self.told.read_text().split("\n")[:-1])
        assert told <= held, "an acknowledged verdict is lost"
        assert len(held - told) <= len(self.told.read_text()) + 1_000
        assert all(status == new for status, new in pairs), "a case and its last verdict differ"


TRIALS: tuple[type[Trial], ...] = (Auditing, Scoring, Studying, Reviewing)


def kill_often(kind: type[Trial], kills: int, seed: int = 0) -> tuple[int, int, int, str]:
    """Kill runs at random moments; return the kills, the runs that came to their end, the faults, and the first one."""
    for room in ("audit.inside", "audit.folder", "cli", "desk.imports", "study"):
        import_module(f"scarce.{room}")  # here, once, so that the moments are of the work
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory(prefix="scarce-kills-") as place:
        trial = kind(Path(place))
        start = time.monotonic()
        ended = in_child(trial, None)
        length = time.monotonic() - start
        trial.check(ended)
        killed, finished, faults, first = 0, 1, 0, ""
        while killed < kills:
            try:
                ended = in_child(trial, float(rng.uniform(0, length)))
                killed, finished = killed + (not ended), finished + ended
                trial.check(ended)
            except Exception as error:
                killed, faults, first = killed + 1, faults + 1, first or f"{type(error).__name__}: {error}"
        try:  # the next run works
            trial.check(in_child(trial, None))
            finished += 1
        except Exception as error:
            faults, first = faults + 1, first or f"{type(error).__name__}: {error}"
    return killed, finished, faults, first


def prove(kills: int = KILLS, trials: tuple[type[Trial], ...] = TRIALS) -> Proof:
    """Kill all kinds of runs."""
    cases = []
    for kind in trials:
        killed, finished, faults, first = kill_often(kind, kills)
        print(f"{kind.name}: {killed} killed, {finished} finished, {faults} faults {first}", flush=True)
        cases.append(Case((kind.name, str(killed), str(finished)), (float(faults),), not faults))
    return Proof(
        "Killed runs",
        f"Each command is run again and again on a small table and killed with SIGKILL, {kills} times, at a moment "
        "drawn from the time that a whole run takes. After each kill: what is there is whole; nothing "
        "that was finished is lost; the next run goes on, and what it gives is that of a run that was never killed. "
        "An audit replaces one of another seed by force; a review is a person who decides case after case. Bar: no "
        "fault. `SCARCE_KILLS` sets another number of kills.",
        ("what", "kills", "runs that came to their end", "faults", "verdict"),
        cases,
    )
