"""The store of results: one SQLite file, only ever added to, shared by several processes, safe when one is killed."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

from scarce._errors import StudyError
from scarce._files import explained
from scarce._processes import is_alive, own_mark
from scarce._typing import Json

__all__ = ["Outcome", "Store", "Stored"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    cell TEXT PRIMARY KEY, "set" TEXT NOT NULL, split INTEGER NOT NULL, method TEXT NOT NULL, settings TEXT NOT NULL,
    versions TEXT NOT NULL, fit_seconds REAL NOT NULL, predict_seconds REAL NOT NULL, cpu_seconds REAL NOT NULL,
    peak_mb REAL NOT NULL, chosen TEXT NOT NULL, note TEXT NOT NULL, written TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS figures (
    cell TEXT NOT NULL REFERENCES cells, metric TEXT NOT NULL, value REAL, PRIMARY KEY (cell, metric)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS resamples (
    cell TEXT NOT NULL REFERENCES cells, metric TEXT NOT NULL, "values" TEXT NOT NULL,
    PRIMARY KEY (cell, metric)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (
    cell TEXT NOT NULL, settings TEXT NOT NULL, message TEXT NOT NULL, written TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS claims (cell TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS results AS
    SELECT "set", split, method, metric, value, fit_seconds + predict_seconds AS seconds, peak_mb, chosen, settings,
           versions, note, written, cell FROM figures JOIN cells USING (cell);
"""
_FOREVER = "".join(
    f"CREATE TRIGGER IF NOT EXISTS no_{verb}_of_{table} BEFORE {verb} ON {table} "
    f"BEGIN SELECT RAISE(ABORT, 'Results are only ever added.'); END;\n"
    for table in ("cells", "figures", "resamples", "failures")
    for verb in ("UPDATE", "DELETE")
)
# SQLite allows about this many placeholders in a statement, whatever its version.
_MANY = 900


@dataclass(frozen=True)
class Outcome:
    """The outcome of a cell: its figures and what they cost, or why there are none.

    `resamples` are the figures of one metric on resamples of the test rows, the same ones for every method.
    """

    figures: dict[str, float] = field(default_factory=dict)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: float = 0.0
    chosen: Json = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    note: str = ""
    error: str = ""
    resamples: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Stored(Outcome):
    """An outcome as it was read back, with the day on which it was written."""

    written: str = ""


class Store:
    """Results of studies in one file.

    A cell is claimed before it is computed and its figures are written in one transaction, so that several processes
    can work on one study without computing anything twice. A claim ends with the process that made it, however that
    process ended. Nothing that was written can be changed or removed through SQL.

    Parameters
    ----------
    path : path-like
        The file; it is made if it does not exist. It must lie on a disk of this machine.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from scarce.study import Outcome, Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
    ...     claimed = store.claim("a"), store.claim("a")
    ...     store.write("a", {"set": "wine", "split": 0, "method": "3-NN"}, Outcome({"f1": 0.9}))
    ...     found = store.read(["a", "b"])
    >>> claimed, {cell: outcome.figures for cell, outcome in found.items()}
    ((True, False), {'a': {'f1': 0.9}})
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with explained(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self._owner = own_mark()
        # joblib asks for the next cell from threads of its own.
        self._lock = RLock()
        with self._usable():
            self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA + _FOREVER)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up what this process claimed and did not finish, and close the file."""
        with self._lock:
            self._db.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
            self._db.close()

    def claim(self, cell: str) -> bool:
        """Claim a cell, unless it is done or a living process has it."""
        with self._transaction():
            if self._db.execute("SELECT 1 FROM cells WHERE cell = ?", (cell,)).fetchone():
                return False
            held = self._db.execute("SELECT owner FROM claims WHERE cell = ?", (cell,)).fetchone()
            if held and is_alive(held[0]):
                return False
            self._db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (cell, self._owner))
            return True

    def write(self, cell: str, settings: Json, outcome: Outcome) -> None:
        """Write the outcome of a cell; `settings` hold its recipe, and name "set", "split" and "method"."""
        written, text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), _json(settings)
        with self._transaction():
            self._db.execute("DELETE FROM claims WHERE cell = ?", (cell,))
            if outcome.error:
                self._db.execute("INSERT INTO failures VALUES (?, ?, ?, ?)", (cell, text, outcome.error, written))
                return
            added = self._db.execute(
                f"INSERT OR IGNORE INTO cells VALUES ({', '.join('?' * 13)})",
                (
                    cell,
                    *(settings[name] for name in ("set", "split", "method")),
                    text,
                    _json(outcome.versions),
                    outcome.fit_seconds,
                    outcome.predict_seconds,
                    outcome.cpu_seconds,
                    outcome.peak_mb,
                    _json(outcome.chosen),
                    outcome.note,
                    written,
                ),
            )
            if added.rowcount:
                figures = ((cell, metric, value) for metric, value in outcome.figures.items())
                self._db.executemany("INSERT INTO figures VALUES (?, ?, ?)", figures)
                resamples = ((cell, metric, _json(values)) for metric, values in outcome.resamples.items())
                self._db.executemany("INSERT INTO resamples VALUES (?, ?, ?)", resamples)

    def read(self, cells: Iterable[str]) -> dict[str, Stored]:
        """Return the outcomes of those of the cells that are done."""
        columns = "cell, fit_seconds, predict_seconds, cpu_seconds, peak_mb, chosen, versions, note, written"
        found: dict[str, Stored] = {}
        for some in _portions(list(cells)):
            marks = ", ".join("?" * len(some))
            with self._lock:
                lines = self._db.execute(f"SELECT {columns} FROM cells WHERE cell IN ({marks})", some).fetchall()
                values = self._db.execute(f"SELECT * FROM figures WHERE cell IN ({marks})", some).fetchall()
                drawn = self._db.execute(f"SELECT * FROM resamples WHERE cell IN ({marks})", some).fetchall()
            for cell, fit, predict, cpu, peak, chosen, versions, note, written in lines:
                plain = json.loads(chosen), json.loads(versions)
                found[cell] = Stored({}, fit, predict, cpu, peak, *plain, note, written=written)
            for cell, metric, value in values:
                # A figure that was written after the first query belongs to a cell that is not in it.
                if cell in found:
                    found[cell].figures[metric] = float("nan") if value is None else value
            for cell, metric, text in drawn:
                if cell in found:
                    found[cell].resamples[metric] = json.loads(text)
        return found

    def failures(self, cells: Iterable[str]) -> dict[str, str]:
        """Return the last message of those of the cells that failed and were not done since."""
        found: dict[str, str] = {}
        for some in _portions(list(cells)):
            marks = ", ".join("?" * len(some))
            with self._lock:
                lines = self._db.execute(
                    f"SELECT cell, message FROM failures WHERE cell IN ({marks}) "
                    "AND cell NOT IN (SELECT cell FROM cells) ORDER BY rowid",
                    some,
                )
                found.update(lines.fetchall())
        return found

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        # IMMEDIATE: another process that looks at the same time waits for what this one decides.
        with self._lock, self._usable():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite has rolled back itself where the disk is full
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Name the file that cannot be used: the disk is full, a right is missing, it is no store."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if type(error) not in (sqlite3.OperationalError, sqlite3.DatabaseError):
                raise
            raise StudyError(
                f"The store {self.path} cannot be used ({error}); check the disk and the rights, or name another "
                "folder (`out`)."
            ) from error


def _portions(cells: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(cells), _MANY):
        yield cells[start : start + _MANY]


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True, default=str)
