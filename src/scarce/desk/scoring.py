"""The scoring service: ``/v1/score``, ``/v1/decide``, ``/v1/outcomes``, ``/healthz`` and ``/metrics``."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as StarletteHTTPException

from scarce._errors import UserError
from scarce._typing import Json

from .answers import Answer, decide_rows, score_rows
from .auth import require_role
from .bodies import ARROW_FILE, ARROW_STREAM, Batch, arrow_bytes, check_id, read_batch, read_json
from .errors import DeskError
from .loaded import Loaded, ModelHolder
from .metrics import Metrics
from .recorded import Recorder, add_outcomes
from .shapes import DECIDE, ERRORS, OUTCOMES, SCORE, Decision, ModelAtWork, Outcomes, Score, Working
from .tokens import Person
from .watch import latest_report

__all__ = ["lifespan", "router"]

_log = logging.getLogger("scarce")
# Rows that take so little time that other requests can wait for them.
_FEW_ROWS = 20
_MOST_EXPLAINED = 100
_MOST_OUTCOMES = 10_000
_OF_MODELS: dict[int | str, Json] = {status: ERRORS[status] for status in (401, 503)}

Viewer = Annotated[Person, Depends(require_role("viewer"))]
Reviewer = Annotated[Person, Depends(require_role("reviewer"))]
Admin = Annotated[Person, Depends(require_role("admin"))]


class Service:
    """The shared state of an application's routes: the model at work, the figures and the recorder."""

    def __init__(self, app: FastAPI) -> None:
        self.models = ModelHolder(app.state.store, app.state.folder)
        self.metrics = Metrics()
        self.recorder = Recorder(app.state.store) if app.state.record else None

    def watched(self) -> Json | None:
        """Return the last report of the monitor."""
        with self.models.store.read() as transaction:
            return latest_report(transaction, self.models.folder)

    async def reload(self) -> Loaded:
        """Load a model beside the one at work, and switch to it."""
        loaded = await run_in_threadpool(self.models.reload)
        self.metrics.loaded(loaded)
        # What stays until the next model is not looked through again and again while requests wait.
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        return loaded

    async def try_reload(self) -> None:
        """Do the same; where it fails, log why."""
        try:
            loaded = await self.reload()
            _log.info("Model %s (version %s) is at work. %s", loaded.model, loaded.version, loaded.scorer.because)
        except UserError as error:
            _log.warning("No other model was loaded. %s", error)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the model when the application starts, and again on the signal SIGHUP."""
    service = service_of(app)
    await service.try_reload()
    loop, tasks = asyncio.get_running_loop(), set[asyncio.Task[None]]()

    def reload() -> None:
        task = asyncio.ensure_future(service.try_reload())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    # Only the main thread of some systems takes signals.
    with suppress(NotImplementedError, RuntimeError, ValueError, AttributeError):
        loop.add_signal_handler(signal.SIGHUP, reload)
    yield
    with suppress(NotImplementedError, RuntimeError, ValueError, AttributeError):
        loop.remove_signal_handler(signal.SIGHUP)


def service_of(app: FastAPI) -> Service:
    """Return the service of an application."""
    found: Service | None = getattr(app.state, "service", None)
    if found is None:
        found = app.state.service = Service(app)
    return found


class _Counted(APIRoute):
    """A route whose answers and times are counted."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle, path = super().get_route_handler(), self.path

        async def counted(request: Request) -> Response:
            start, status = time.perf_counter(), 500
            try:
                response = await handle(request)
                status = response.status_code
                return response
            except StarletteHTTPException as error:
                status = error.status_code
                raise
            except (UserError, RequestValidationError):
                status = 422
                raise
            finally:
                service_of(request.app).metrics.answered(path, status, time.perf_counter() - start)

        return counted


router = APIRouter(route_class=_Counted, tags=["service"])
open_router = APIRouter(tags=["service"])


@open_router.get("/healthz", response_model=Working)
async def health(request: Request) -> Json:
    """Return whether the service works and whether its model is compiled; this needs no token."""
    models = service_of(request.app).models
    if models.now is None:
        return {"status": "no model", "compiled": False, "because": "There is no model to score with."}
    return {"status": "ok", "compiled": models.now.scorer.compiled, "because": models.now.scorer.because}


@router.post("/v1/score", response_model=None, responses={200: {"model": Score}, **ERRORS}, openapi_extra=SCORE)
async def score(request: Request, person: Viewer, explain: bool = False) -> Response:
    """Return the score, the probability and the decision of one row or many; `explain` adds the reasons."""
    batch = await read_batch(request)
    if explain and len(batch) > _MOST_EXPLAINED:
        raise DeskError(f"At most {_MOST_EXPLAINED} rows of a request are explained; send several.")
    return await _answer(request, batch, lambda loaded: score_rows(loaded, batch, explain=explain), slow=explain)


@router.post("/v1/decide", response_model=None, responses={200: {"model": Decision}, **ERRORS}, openapi_extra=DECIDE)
async def decide(request: Request, person: Viewer) -> Response:
    """Return the decision of highest expected profit: accept, check or refuse, and its money."""
    batch = await read_batch(request, ("gains", "check_cost"))
    return await _answer(request, batch, lambda loaded: decide_rows(loaded, batch))


async def _answer(request: Request, batch: Batch, work: Callable[[Loaded], Answer], *, slow: bool = False) -> Response:
    service = service_of(request.app)
    loaded = service.models.get()  # once: all rows of a request are scored by one model
    if slow or len(batch) > _FEW_ROWS or not loaded.scorer.compiled:
        answer = await run_in_threadpool(work, loaded)
    else:
        answer = work(loaded)
    service.metrics.scored(loaded.model, answer.decisions, answer.probability)
    if service.recorder is not None and len(batch):
        await service.recorder.add(answer.to_record(batch, loaded))
    wanted = request.headers.get("accept", "")
    kind = next((kind for kind in (ARROW_STREAM, ARROW_FILE) if kind in wanted), "")
    if not kind and batch.is_arrow and "application/json" not in wanted:
        kind = ARROW_STREAM
    if kind:
        return Response(arrow_bytes(answer.table(batch, loaded), kind), media_type=kind)
    return Response(
        json.dumps(answer.json(batch, loaded), ensure_ascii=False, allow_nan=False), media_type="application/json"
    )


@router.post(
    "/v1/outcomes",
    response_model=Outcomes,
    responses={**ERRORS, 404: {"description": "An id is unknown; nothing is stored."}},
    openapi_extra=OUTCOMES,
    status_code=201,
)
async def outcomes(request: Request, person: Reviewer) -> Json:
    """Store outcomes of rows that became known later, by the ids with which they were scored."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "Send the outcomes as application/json.")
    held = read_json(await request.body())
    found = held.get("outcomes")
    if set(held) != {"outcomes"} or not isinstance(found, list) or len(found) > _MOST_OUTCOMES:
        raise DeskError(f"The body is an object with a list `outcomes`, of at most {_MOST_OUTCOMES:,}.")
    for outcome in found:
        if not isinstance(outcome, dict) or set(outcome) != {"id", "positive"} or type(outcome["positive"]) is not bool:
            raise DeskError("An outcome is an object with an `id` and whether it is `positive`, true or false.")
    given = [(check_id(outcome["id"]), outcome["positive"]) for outcome in found]
    unknown = await run_in_threadpool(add_outcomes, request.app.state.store, given, person.name)
    if unknown:
        recorded = service_of(request.app).recorder is not None
        advice = "" if recorded else " Start the service so that it records rows (`record`)."
        raise HTTPException(404, f"No row of the id {unknown[0]!r} was recorded; nothing is stored.{advice}")
    return {"stored": len(given)}


@router.get("/v1/models", response_model=ModelAtWork, responses=_OF_MODELS)
async def model(request: Request, person: Viewer) -> Json:
    """Return the model at work."""
    return _described(service_of(request.app).models.get())


@router.post(
    "/v1/models/reload",
    response_model=ModelAtWork,
    responses={401: ERRORS[401], 403: ERRORS[403], 409: {"description": "The old model stays at work."}},
)
async def reload(request: Request, person: Admin) -> Json:
    """Load the model of the audit that was imported last, and switch to it; requests meanwhile use the old one."""
    try:
        return _described(await service_of(request.app).reload())
    except UserError as error:
        raise HTTPException(409, str(error)) from error


@router.get("/metrics", response_class=Response, responses={401: ERRORS[401]})
async def metrics(request: Request, person: Viewer) -> Response:
    """Return counts, times, the distribution of probabilities and the last report of the monitor for Prometheus."""
    service = service_of(request.app)
    if found := await run_in_threadpool(service.watched):
        service.metrics.watched(found["at"].timestamp(), found["report"])
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _described(loaded: Loaded) -> Json:
    return {
        "version": loaded.version,
        "model": loaded.model,
        "method": loaded.method,
        "written": loaded.written,
        "threshold": loaded.threshold,
        "compiled": loaded.scorer.compiled,
        "because": loaded.scorer.because,
    }


router.include_router(open_router)
