"""The store of the desk: SQLite in the audit's folder, or PostgreSQL by URL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session as Transaction
from sqlalchemy.pool import ConnectionPoolEntry

from . import recorded, weights  # noqa: F401  (their tables are made with the others)
from .errors import DeskError
from .schema import VERSION, Base, Meta

__all__ = ["FILE", "Store", "existing_url", "store_url"]

FILE = "desk.db"
_BUSY_SECONDS = 20
# A private mark of the connection: whether the transaction that begins will write.
_WRITES = "scarce_writes"


def store_url(folder: str | os.PathLike[str], store: str | None = None) -> str:
    """Return the URL of a store: the one that was given, or the file in the audit's folder."""
    return store or f"sqlite:///{Path(folder).absolute() / FILE}"


def existing_url(desk: str) -> str:
    """Return the URL of the store of a desk, given that or the audit's folder; the folder must have a desk."""
    if "://" in desk:
        return desk
    if not (Path(desk) / FILE).exists():
        raise DeskError(f"There is no desk in {desk}; open one there with: scarce serve {desk}")
    return store_url(desk)


class Store:
    """A database with the tables of the desk, which are made where it is empty.

    Parameters
    ----------
    url : str
        Such as ``sqlite:////data/audit/desk.db`` or ``postgresql+psycopg://user@host/name``.

    Examples
    --------
    >>> from scarce.desk.store import Store
    >>> store = Store("sqlite://")
    >>> store.kind
    'sqlite'
    >>> store.close()
    """

    def __init__(self, url: str) -> None:
        try:
            self.engine = _engine(url)
            self.kind = self.engine.dialect.name
            if self.kind not in ("sqlite", "postgresql"):
                raise DeskError(
                    f"The desk keeps its cases in SQLite or PostgreSQL, not in {self.kind}; name another store."
                )
            with self.write() as transaction:
                Base.metadata.create_all(transaction.connection())
                found = transaction.scalar(select(Meta.value).where(Meta.name == "version"))
                if found is None:
                    transaction.add(Meta(name="version", value=str(VERSION)))
        except (SQLAlchemyError, ModuleNotFoundError, OSError) as error:
            reason = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
            raise DeskError(
                f"The store of the desk cannot be opened ({reason}); name another one (`store`)."
            ) from error
        if found not in (None, str(VERSION)):
            self.close()
            raise DeskError(
                f"The store holds tables of version {found}, and this version of scarce reads version {VERSION}; "
                "export its verdicts with the version that wrote it, and import the audit into a new store."
            )

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Give a transaction that sees one state of the store and leaves it as it is."""
        with Transaction(self.engine) as transaction:
            yield transaction

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Give a transaction that is kept for good when the block ends well, and not at all otherwise."""
        with Transaction(self.engine, expire_on_commit=False) as transaction:
            transaction.connection(execution_options={_WRITES: True})
            yield transaction
            transaction.commit()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True, pool_size=10)
    engine = create_engine(url, connect_args={"check_same_thread": False, "timeout": _BUSY_SECONDS})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: object, entry: ConnectionPoolEntry) -> None:
    driver = entry.driver_connection
    assert driver is not None
    # The driver must not begin transactions by itself: it would read first and then fail to write beside others.
    driver.isolation_level = None
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        f"busy_timeout = {_BUSY_SECONDS}000",
    ):
        driver.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
