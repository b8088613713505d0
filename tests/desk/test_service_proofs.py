"""Small versions of the service's proofs, which can fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from proofs import desk, desk_service
from proofs.load import measure
from scarce.desk.store import Store
from tests.payments import make_table

from .service import running


@pytest.fixture
def service(model_folder: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    store = Store(f"sqlite:///{tmp_path / 'desk.db'}")
    with running(store, model_folder, record=True) as client:
        yield client
    store.close()


def test_no_request_of_the_schema_breaks_the_service_or_gives_data_without_a_token(service: httpx.Client) -> None:
    cases = list(desk_service.fuzzed(service.get("/openapi.json").json(), service, examples=4))
    assert [case.figures[0] for case in cases] == [0, 0, 0]
    assert all(case.kept for case in cases)


def test_an_answer_of_500_is_found_out(service: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = service.get("/openapi.json").json()
    schema["paths"] = {"/healthz": schema["paths"]["/healthz"]}
    monkeypatch.setattr("scarce.desk.scoring.ModelHolder.now", property(lambda self: 1 / 0), raising=False)
    cases = list(desk_service.fuzzed(schema, service, examples=2))
    assert not cases[0].kept


def test_the_client_counts_each_request_and_each_error(service: httpx.Client) -> None:
    body = '{"row": {"amount": 12.5}, "gains": {"fn": "-amount", "fp": -1}}'
    port, token = service.base_url.port, service.headers["authorization"].removeprefix("Bearer ")
    targets = [
        {"name": "right", "port": port, "path": "/v1/decide", "body": body, "token": token},
        {"name": "wrong", "port": port, "path": "/v1/decide", "body": "{}", "token": token},
    ]
    found = measure(targets, rate=50, seconds=0.4)
    assert len(found["right"]["milliseconds"]) == 20
    assert found["right"]["errors"] == 0
    assert found["wrong"]["errors"] == 28  # 8 that open connections, too


def test_one_row_takes_no_longer_than_lightgbm_allows(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = make_table(1_000, seed=9).drop(columns="fraud")
    monkeypatch.setattr(desk_service, "_audits", lambda: ({"profit-boosting": model_folder}, rows))
    one, many = desk_service.speed(tries=5)
    assert one.kept, one
    assert many.kept, many


def test_every_part_runs_alone() -> None:
    assert {"load", "speed", "bits", "fuzz"} <= set(desk.PARTS)
