"""A limit on the size of requests."""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MOST_BYTES", "BodyLimit"]

MOST_BYTES: Final = 16 * 2**20


class BodyLimit:
    """Answer requests whose body is larger than a limit with the status 413, before it is in memory.

    Parameters
    ----------
    app : ASGI application
    most : int
        The largest body, in bytes.
    """

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = f"The body of a request has at most {self.most:,} bytes; send the rows in several requests."
        given = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if given.isdigit() and int(given) > self.most:
            await JSONResponse({"detail": refusal}, 413, {"Connection": "close"})(scope, receive, send)
            return
        held = 0

        async def counted() -> Message:
            nonlocal held
            message = await receive()
            held += len(message.get("body", b""))
            if held > self.most:
                raise HTTPException(413, refusal, {"Connection": "close"})
            return message

        await self.app(scope, counted, send)
