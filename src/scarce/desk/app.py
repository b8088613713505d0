"""The application: pages, the interface for programs, and the scoring service, on one store."""

from __future__ import annotations

from pathlib import Path

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import scarce
from scarce._typing import Json
from scarce.engines import RowError
from scarce.engines.cells import MOST_FAULTS, shown

from . import api, cases, exports, figures, pages, reference, scoring
from .auth import Attempts, Gate, LoginNeeded, require_role
from .errors import DeskError
from .kinds import Kinds
from .limits import BodyLimit
from .site import page
from .store import Store

__all__ = ["create_app"]

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def create_app(store: Store, folder: Path, *, record: bool = False, secure: bool = False) -> FastAPI:
    """Return the desk and the service of an audit.

    Only ``/healthz``, the login page and the static files of the pages answer without a token.

    Parameters
    ----------
    store : Store
        The cases and verdicts.
    folder : Path
        The folder of the audit whose model scores.
    record : bool
        Whether scored rows are stored.
    secure : bool
        Whether browsers reach the desk over TLS, so that cookies are never sent without it.
    """
    app = FastAPI(
        title="scarce",
        version=scarce.__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=scoring.lifespan,
    )
    app.state.store, app.state.folder, app.state.record, app.state.secure = store, folder, record, secure
    app.state.gate, app.state.attempts, app.state.kinds = Gate(store), Attempts(), Kinds()
    app.include_router(scoring.router)  # first, since its routes are asked for most
    app.include_router(api.router)
    for module in (pages, cases, exports, figures, reference):
        app.include_router(module.router)
    app.mount("/static", StaticFiles(packages=[("scarce.desk", "static")]), name="static")
    app.add_api_route(
        "/openapi.json",
        _schema,
        methods=["GET"],
        include_in_schema=False,
        dependencies=[Depends(require_role("viewer"))],
    )
    app.add_exception_handler(LoginNeeded, _to_login)
    app.add_exception_handler(DeskError, _refuse)
    app.add_exception_handler(RowError, _refuse_rows)
    app.add_exception_handler(RequestValidationError, _refuse_fields)
    app.add_middleware(BodyLimit)
    app.add_exception_handler(HTTPException, _explain)
    app.add_middleware(_Headers)
    return app


async def _schema(request: Request) -> Json:
    return request.app.openapi()


async def _to_login(request: Request, error: Exception) -> Response:
    return RedirectResponse("/login", 303)


async def _refuse(request: Request, error: Exception) -> Response:
    if not request.url.path.startswith("/v1/"):
        return page(request, "message.html.jinja", 422, message=str(error))
    return JSONResponse({"detail": str(error)}, 422)


async def _refuse_fields(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return await _refuse(request, DeskError(" ".join(_sentence(fault) for fault in error.errors()[:MOST_FAULTS])))


def _sentence(fault: Json) -> str:
    """Return what is wrong with a field of a request; its place begins with where that stands, such as the query."""
    name = ".".join(map(str, fault["loc"][1:])) or str(fault["loc"][0])
    expected = str(fault["msg"]).removeprefix("Input should be ")
    if expected != fault["msg"]:
        return f"Field {name!r}: expected {expected}, found {shown(fault['input'])}."
    return f"Field {name!r}: {expected[:1].lower()}{expected[1:]}."


async def _refuse_rows(request: Request, error: Exception) -> Response:
    faults = [fault._asdict() for fault in error.faults] if isinstance(error, RowError) else []
    return JSONResponse({"detail": str(error), "faults": faults}, 422)


async def _explain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/"):
        return page(request, "message.html.jinja", error.status_code, message=str(error.detail))
    return JSONResponse({"detail": error.detail}, error.status_code, error.headers)


class _Headers:
    """Add the headers that keep a browser from running or sending what is not the desk's own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the headers added to its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_more)
