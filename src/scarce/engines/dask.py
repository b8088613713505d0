"""Dask: files scored on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import scarce
from scarce._errors import EngineError
from scarce._extras import require

from .fragments import Fragment
from .run import Job, OnRows, Over, Part, one_by_one, score_fragment

__all__ = ["check_workers", "connect", "connected", "over"]

# How long to look for a scheduler.
TIMEOUT = "20s"
SCHEME = "dask://"
# Files at a time for each thread, so that none waits for the next.
_AHEAD = 2


@contextmanager
def connected(engine: str | None) -> Iterator[Over]:
    """Give the way in which files are scored: in this process, or on the workers of a scheduler."""
    if engine is None:
        yield one_by_one
        return
    if not engine.startswith(SCHEME):
        raise EngineError(f"`engine` is the address of a Dask scheduler, such as dask://host:8786; it was {engine!r}.")
    with connect("tcp://" + engine.removeprefix(SCHEME)) as client:
        yield over(client)


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Give a client of the scheduler at an address, whose workers have this library."""
    distributed = require("distributed", "A cluster")
    try:
        client = distributed.Client(address, timeout=TIMEOUT)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"There is no Dask scheduler at {address}; start one with dask scheduler, and name its host and port."
        ) from error
    with client:
        check_workers(client)
        yield client


def check_workers(client: Any) -> None:
    """Refuse a cluster without workers, or of which one lacks the library or has another version of it."""
    # A function of Python itself: one of this library could not be sent to a worker that lacks it.
    found = client.run(eval, "__import__('scarce').__version__", on_error="return")
    if not found:
        raise EngineError("The cluster has no workers; start some with dask worker and the scheduler's address.")
    for worker, version in found.items():
        if isinstance(version, ImportError):
            raise EngineError(
                f"The worker {worker} cannot import the library ({version}); install "
                f'"scarce[audit,dask]=={scarce.__version__}" on every worker.'
            )
        if version != scarce.__version__:
            raise EngineError(
                f"The worker {worker} has version {version} of the library, and this process {scarce.__version__}; "
                "install the same on every worker."
            )


def over(client: Any) -> Over:
    """Return the way of scoring files on the workers of a client; they must find model and files under their paths."""
    distributed = require("distributed", "A cluster")

    def on_workers(job: Job, fragments: Sequence[tuple[int, Fragment]], on_rows: OnRows) -> Iterator[Part]:
        waiting = iter(fragments)

        def submit(number: int, fragment: Fragment) -> Any:
            return client.submit(score_fragment, job, number, fragment, pure=False)

        first = islice(waiting, _AHEAD * max(1, sum(client.nthreads().values())))
        running = distributed.as_completed([submit(*pair) for pair in first])
        for future in running:
            try:
                part = future.result()
            except FileNotFoundError as error:
                raise EngineError(
                    f"A worker does not find {error.filename or error}; the model, the files and `out` must have the "
                    "same paths on every worker."
                ) from error
            except distributed.KilledWorker as error:
                raise EngineError(
                    "A file could not be scored: the workers that tried it died, probably for want of memory; give "
                    "them more, or write smaller row groups."
                ) from error
            on_rows(part.rows)
            yield part
            for pair in islice(waiting, 1):
                running.add(submit(*pair))

    return on_workers
