"""The roles that a request needs: a bearer token for programs, a login with a cookie and a CSRF token for pages."""

from __future__ import annotations

import hmac
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool

from .store import Store
from .tokens import Person, find_person

__all__ = ["COOKIE", "Attempts", "Gate", "LoginNeeded", "check_csrf", "require_role"]

COOKIE: Final = "scarce_desk"
_SAFE = {"GET", "HEAD", "OPTIONS"}
_MOST_REMEMBERED = 1_000


class LoginNeeded(Exception):
    """A page was asked for without a login; the browser is sent to the login page."""


class Gate:
    """Recognises tokens and cookies, and remembers them for a few seconds.

    Parameters
    ----------
    store : Store
    seconds : float
        How long a token is remembered: after so long a revoked one is refused.
    """

    def __init__(self, store: Store, seconds: float = 5.0) -> None:
        self.store, self.seconds = store, seconds
        self._known: dict[tuple[str, str], tuple[float, Person]] = {}

    def remembered(self, how: str, secret: str) -> Person | None:
        """Return the person of a secret that was seen a moment ago."""
        found = self._known.get((how, secret))
        return found[1] if found and found[0] > time.monotonic() else None

    def look_up(self, how: str, secret: str) -> Person | None:
        """Return the person of a secret, from the store."""
        person = find_person(self.store, **{how: secret})
        if person is not None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[how, secret] = (time.monotonic() + self.seconds, person)
        return person

    def forget(self) -> None:
        """Forget all that was remembered, after a logout or a revocation."""
        self._known.clear()


class Attempts:
    """The failed logins of each address, so that nobody can try many.

    Parameters
    ----------
    most : int
        How many failed logins an address has in `seconds`.
    seconds : float
    """

    def __init__(self, most: int = 10, seconds: float = 300.0) -> None:
        self.most, self.seconds = most, seconds
        self._failed: dict[str, deque[float]] = defaultdict(deque)

    def too_many(self, address: str) -> bool:
        """Return whether an address must wait."""
        failed = self._failed[address]
        while failed and failed[0] < time.monotonic() - self.seconds:
            failed.popleft()
        if not failed:
            del self._failed[address]
        return len(failed) >= self.most

    def fail(self, address: str) -> None:
        """Count a failed login."""
        self._failed[address].append(time.monotonic())


def require_role(role: str) -> Callable[[Request], Awaitable[Person]]:
    """Return a dependency that gives the person who sends a request, and refuses those without the role.

    A program sends ``Authorization: Bearer TOKEN``. A browser has the cookie of its login, and sends the CSRF token
    with every request that changes something, as the header ``X-CSRF-Token`` or as the field ``csrf`` of a form.
    """

    async def person_of(request: Request) -> Person:
        person = await _person(request)
        if not person.may(role):
            raise HTTPException(403, f"This needs the role {role}, and {person.name} is {person.role}.")
        if person.csrf is not None and request.method not in _SAFE:
            await check_csrf(request, person)
        request.state.person = person
        return person

    return person_of


async def _person(request: Request) -> Person:
    gate: Gate = request.app.state.gate
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, secret = header.partition(" ")
        how, secret = "token", secret.strip() if scheme.lower() == "bearer" else ""
    else:
        how, secret = "cookie", request.cookies.get(COOKIE, "")
    person = None
    if secret:
        person = gate.remembered(how, secret) or await run_in_threadpool(gate.look_up, how, secret)
    if person is not None:
        return person
    if header is None and not request.url.path.startswith("/v1/") and "text/html" in request.headers.get("accept", ""):
        raise LoginNeeded
    raise HTTPException(401, "Send a valid token as: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})


async def check_csrf(request: Request, person: Person) -> None:
    """Refuse a request that does not come from a page of the desk."""
    given = request.headers.get("x-csrf-token")
    if given is None and request.headers.get("content-type", "").startswith(
        ("application/x-www-form-urlencoded", "multipart/form-data")
    ):
        form = await request.form()
        given = str(form.get("csrf", ""))
    if not hmac.compare_digest((given or "").encode(), (person.csrf or "").encode()):
        raise HTTPException(403, "This request does not come from a page of the desk; open the page again.")
