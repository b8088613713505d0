"""Tokens of people and programs: made, listed, revoked and recognised."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import delete, select

from .errors import DeskError
from .schema import Session, Token
from .store import Store

__all__ = [
    "ROLES",
    "Person",
    "add_token",
    "close_session",
    "find_person",
    "list_tokens",
    "open_session",
    "revoke_token",
]

# Each may do what those before it may.
ROLES: Final = ("viewer", "reviewer", "admin")
SESSION_HOURS = 12
_PREFIX = "scarce_"


class Person(NamedTuple):
    """Whoever sends a request: a name and a role, and the CSRF token of a browser."""

    name: str
    role: str
    csrf: str | None = None

    def may(self, role: str) -> bool:
        """Return whether the role of the person includes another."""
        return ROLES.index(self.role) >= ROLES.index(role)


def _hash(secret: str) -> bytes:
    # A token is 256 random bits, which nobody can try out; a slow hash would protect nothing more.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def add_token(store: Store, name: str, role: str) -> str:
    """Make a token, and return it: it cannot be read again later."""
    name = name.strip()
    if role not in ROLES:
        raise DeskError(f"A role is one of {', '.join(ROLES)}; it was {role!r} (`role`).")
    if not name:
        raise DeskError("Give the token the name of the person or program that will use it.")
    token = _PREFIX + secrets.token_urlsafe(32)
    with store.write() as transaction:
        if transaction.scalar(select(Token.id).where(Token.name == name)):
            raise DeskError(f"There is a token of the name {name!r} already; choose another name.")
        transaction.add(Token(name=name, role=role, hash=_hash(token), created=datetime.now(UTC)))
    return token


def list_tokens(store: Store) -> list[Token]:
    """Return all tokens in the order in which they were made, revoked ones too."""
    with store.read() as transaction:
        return list(transaction.scalars(select(Token).order_by(Token.id)))


def revoke_token(store: Store, name: str) -> None:
    """Revoke a token and end the sessions that it opened."""
    with store.write() as transaction:
        token = transaction.scalar(select(Token).where(Token.name == name, Token.revoked.is_(None)))
        if token is None:
            raise DeskError(f"There is no valid token of the name {name!r}; list them with: scarce desk tokens list")
        token.revoked = datetime.now(UTC)
        transaction.execute(delete(Session).where(Session.token_id == token.id))


def find_person(store: Store, *, token: str | None = None, cookie: str | None = None) -> Person | None:
    """Return whose token or session this is, or None."""
    with store.read() as transaction:
        if token is not None:
            own = _hash(token)
            found = transaction.scalar(select(Token).where(Token.hash == own, Token.revoked.is_(None)))
            return Person(found.name, found.role) if found and hmac.compare_digest(found.hash, own) else None
        if cookie is None:
            return None
        own = _hash(cookie)
        query = select(Session, Token).join(Token, Token.id == Session.token_id)
        row = transaction.execute(query.where(Session.hash == own, Token.revoked.is_(None))).one_or_none()
        if row is None or not hmac.compare_digest(row[0].hash, own) or row[0].until < datetime.now(UTC):
            return None
        return Person(row[1].name, row[1].role, row[0].csrf)


def open_session(store: Store, token: str) -> str | None:
    """Return a cookie for the owner of a token, or None where there is none."""
    if find_person(store, token=token) is None:
        return None
    cookie, now = secrets.token_urlsafe(32), datetime.now(UTC)
    with store.write() as transaction:
        owner = transaction.scalars(select(Token.id).where(Token.hash == _hash(token))).one()
        transaction.execute(delete(Session).where(Session.until < now))
        until = now + timedelta(hours=SESSION_HOURS)
        transaction.add(Session(hash=_hash(cookie), token_id=owner, csrf=secrets.token_urlsafe(24), until=until))
    return cookie


def close_session(store: Store, cookie: str) -> None:
    """End a session."""
    with store.write() as transaction:
        transaction.execute(delete(Session).where(Session.hash == _hash(cookie)))
