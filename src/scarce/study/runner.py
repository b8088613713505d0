"""Run a study: what is not in the store is computed, in parallel, and written as it comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from scarce._errors import StudyError
from scarce._extras import require
from scarce._typing import Json

from .build import missing
from .compute import compute
from .spec import Cell, Planned, Study
from .store import Outcome, Store

__all__ = ["Progress", "run_study"]

# How long to look for a Dask scheduler.
TIMEOUT = "20s"


@dataclass
class Progress:
    """The progress of a run.

    Attributes
    ----------
    total, done, failed : int
        How many cells there are, are in the store, and could not be computed.
    new : int
        How many of those done were computed by this run.
    elsewhere : int
        How many another process is working on.
    by_place : dict
        Done and all cells of each set and method.
    seconds_left : float or None
        An estimate, None before the first cell.
    own_seconds : float
        What the estimators of the new cells took, all processes together.
    """

    total: int
    done: int = 0
    failed: int = 0
    new: int = 0
    elsewhere: int = 0
    by_place: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    seconds_left: float | None = None
    own_seconds: float = 0.0


def run_study(
    study: Study,
    store: Store,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Compute what the store does not hold yet.

    Parameters
    ----------
    study : Study
        What to compute.
    store : Store
        Where to look and to write. Other processes may use it at the same time.
    n_jobs : int, default=None
        Processes on this machine, -1 for all cores.
    dask : str, default=None
        The address of a Dask scheduler, whose workers compute the cells instead.
    on_progress : callable
        Is called with the progress after every cell.

    Returns
    -------
    Progress
        How far it came.
    """
    plan = _usable(study)
    keys = {planned.cell.key: planned for planned in plan}
    stored = store.read(keys)
    progress = Progress(len(keys), done=len(stored))
    clock = _Clock(keys.values())
    for key, planned in keys.items():
        place = progress.by_place.setdefault((planned.set, planned.method.column), [0, 0])
        place[1] += 1
        if key in stored:
            place[0] += 1
            clock.saw(planned, stored[key].fit_seconds + stored[key].predict_seconds)
    todo = [key for key in keys if key not in stored]
    on_progress(progress)
    if not todo:
        return progress

    def claimed() -> Iterator[Any]:
        for key in todo:
            if store.claim(key):
                yield delayed(_work)(key, keys[key].cell)
            elif key in store.read([key]):
                progress.done += 1
            else:
                progress.elsewhere += 1

    with ExitStack() as stack:
        if dask is not None:
            workers = stack.enter_context(_cluster(dask))
            parallel = Parallel(return_as="generator_unordered", pre_dispatch=2 * workers, n_jobs=workers)
        else:
            workers = effective_n_jobs(n_jobs or 1)
            # One thread each: processes whose threads wait for each other take longer than one process.
            stack.enter_context(parallel_config("loky", inner_max_num_threads=1))
            parallel = Parallel(workers, return_as="generator_unordered", pre_dispatch=2 * workers)
        clock.workers = workers
        for key, outcome in parallel(claimed()):
            planned = keys[key]
            store.write(key, _settings(planned), outcome)
            seconds = outcome.fit_seconds + outcome.predict_seconds
            progress.own_seconds += seconds
            if outcome.error:
                progress.failed += 1
            else:
                progress.done += 1
                progress.new += 1
                progress.by_place[planned.set, planned.method.column][0] += 1
            clock.saw(planned, seconds)
            progress.seconds_left = clock.left()
            on_progress(progress)
    return progress


def needs(study: Study) -> dict[str, str]:
    """Return the columns that cannot be computed here, and the estimator that each needs."""
    found = {method.column: missing(method.recipe) for method in study.methods}
    return {column: name for column, name in found.items() if name}


def _usable(study: Study) -> list[Planned]:
    absent = needs(study)
    usable = [planned for planned in study.plan() if planned.method.column not in absent]
    if not usable:
        raise StudyError(f"{study.name} needs estimator {', '.join(sorted(set(absent.values())))}; install it first.")
    return usable


def _work(key: str, cell: Cell) -> tuple[str, Outcome]:
    return key, compute(cell)


def _settings(planned: Planned) -> Json:
    cell = planned.cell
    return {
        "set": planned.set,
        "split": planned.split,
        "method": planned.method.column,
        "recipe": cell.method,
        "protocol": cell.protocol,
        "data": cell.set,
        "measures": cell.measures,
    }


def _cluster(address: str) -> AbstractContextManager[int]:
    """Connect to a Dask scheduler; the context is the number of its threads, and joblib sends it the cells."""
    distributed = require("distributed", "A cluster")

    class Connected(ExitStack):
        def __enter__(self) -> int:  # type: ignore[override]
            try:
                client: Any = self.enter_context(distributed.Client(address, timeout=TIMEOUT))
            except (OSError, ValueError) as error:
                raise StudyError(f"There is no Dask scheduler at {address}: {error}.") from error
            self.enter_context(parallel_config("dask"))
            return sum(client.nthreads().values()) or 1

    return Connected()


class _Clock:
    """An estimate of the time left, from the mean time of each method on each set, or of the method, or of all."""

    def __init__(self, plan: Iterable[Planned]) -> None:
        self.workers = 1
        self._left: dict[tuple[str, str], int] = defaultdict(int)
        for planned in plan:
            self._left[planned.set, planned.method.column] += 1
        self._seen: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0])

    def saw(self, planned: Planned, seconds: float) -> None:
        self._left[planned.set, planned.method.column] -= 1
        for place in ((planned.set, planned.method.column), ("", planned.method.column), ("", "")):
            self._seen[place][0] += 1
            self._seen[place][1] += seconds

    def left(self) -> float:
        total = 0.0
        for (set_, column), cells in self._left.items():
            known = [self._seen.get(place) for place in ((set_, column), ("", column), ("", ""))]
            count, seconds = next(seen for seen in known if seen)
            total += cells * seconds / count
        return total / self.workers
