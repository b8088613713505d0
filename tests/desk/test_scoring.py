"""The service scores rows as the model does, decides by money, and answers every request with a sentence."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sqlalchemy import select

from scarce.desk.app import create_app
from scarce.desk.bodies import ARROW_STREAM
from scarce.desk.imports import import_folder
from scarce.desk.loaded import Loaded, load
from scarce.desk.recorded import Outcome, Score
from scarce.desk.scoring import lifespan, service_of
from scarce.desk.store import Store
from scarce.engines import load_model
from scarce.tables import Table
from tests.payments import make_table

from .service import running

ROW = {"date": "2024-05-01 10:00:00", "amount": 120.5, "channel": "web", "shop": "S7", "age": 40}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'desk.db'}")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def client(store: Store, model_folder: Path) -> Iterator[httpx.Client]:
    with running(store, model_folder, record=True) as client:
        yield client


@pytest.fixture(scope="module")
def new_rows() -> pd.DataFrame:
    return make_table(300, seed=4).drop(columns="fraud")


def expected(model_folder: Path, rows: pd.DataFrame) -> tuple[np.ndarray, pd.DataFrame]:
    model = load_model(model_folder)
    X = model.typed(Table.from_frame(rows, readings=model.readings).frame)
    return model.pipeline.score_samples(X), X


def test_rows_have_the_bits_of_the_model_as_json_and_as_arrow(
    client: httpx.Client, model_folder: Path, new_rows: pd.DataFrame
) -> None:
    scores, _ = expected(model_folder, new_rows)
    rows = json.loads(new_rows.to_json(orient="records"))
    answer = client.post("/v1/score", json={"rows": rows}).json()
    assert [result["score"] for result in answer["results"]] == scores.tolist()
    assert [result["decision"] == "positive" for result in answer["results"]] == (scores > answer["threshold"]).tolist()
    assert client.post("/v1/score", json={"row": rows[7]}).json()["score"] == scores[7]
    with pa.BufferOutputStream() as sink:
        table = pa.Table.from_pandas(new_rows, preserve_index=False)
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        body = sink.getvalue().to_pybytes()
    response = client.post("/v1/score?id_column=payment", content=body, headers={"Content-Type": ARROW_STREAM})
    assert response.headers["content-type"] == ARROW_STREAM
    arrow = pa.ipc.open_stream(response.content).read_all()
    assert arrow["score"].to_numpy().tobytes() == scores.tobytes()
    assert arrow["id"].to_pylist() == new_rows["payment"].tolist()
    asked = {"Content-Type": ARROW_STREAM, "Accept": "application/json"}
    assert len(client.post("/v1/score", content=body, headers=asked).json()["results"]) == len(new_rows)


def test_the_decision_is_the_one_that_is_expected_to_earn_most(client: httpx.Client) -> None:
    gains = {"tp": 3, "fp": "-fee", "tn": "0.02 * amount", "fn": "-amount", "fee": 25}
    body = {"row": ROW, "gains": gains, "check_cost": 2.5, "id": 17}
    answer = client.post("/v1/decide", json=body).json()
    p, amount = answer["probability"], ROW["amount"]
    outcomes = {
        "accept": p * -amount + (1 - p) * 0.02 * amount,
        "refuse": p * 3 + (1 - p) * -25,
        "check": p * 3 + (1 - p) * 0.02 * amount - 2.5,
    }
    assert answer["expected"] == pytest.approx(outcomes)
    assert answer["decision"] == max(outcomes, key=lambda name: outcomes[name])
    assert answer["money"] == answer["expected"][answer["decision"]]
    assert answer["id"] == "17"
    del body["check_cost"], body["row"], body["id"]
    many = client.post("/v1/decide", json={**body, "rows": [ROW, {**ROW, "amount": 1}]}).json()["results"]
    assert many[0]["expected"] == pytest.approx({name: outcomes[name] for name in ("accept", "refuse")})


def test_an_audit_that_knows_amount_and_cost_decides_who_is_checked(client: httpx.Client) -> None:
    for amount in (3.0, 5_000.0):
        answer = client.post("/v1/decide", json={"row": {**ROW, "amount": amount}}).json()
        worth = answer["probability"] * amount - 5
        assert answer["expected"] == pytest.approx({"accept": 0.0, "check": worth})
        assert answer["decision"] == ("check" if worth > 0 else "accept")
    dearer = client.post("/v1/decide", json={"row": ROW, "check_cost": 1e6}).json()
    assert dearer["decision"] == "accept"


def test_reasons_and_absent_columns_are_named(client: httpx.Client) -> None:
    row = {"amount": 900.0, "channel": "a new one", "colour": "red"}
    answer = client.post("/v1/score?explain=true", json={"row": row}).json()
    assert answer["missing"] == ["date", "shop", "age"]
    assert any("amount = 900" in reason["sentence"] for reason in answer["reasons"])
    same = {**row, "date": None, "shop": None, "age": None}
    assert client.post("/v1/score", json={"row": same}).json()["score"] == answer["score"]


def test_reasons_have_the_words_of_the_dictionary_and_none_of_what_it_hides(model_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "hidden")
    manifest = json.loads((folder / "manifest.json").read_text())
    for column in manifest["columns"]:
        column |= {"amount": {"title": "Sum", "unit": "EUR"}, "channel": {"hidden": True}}.get(column["name"], {})
    (folder / "manifest.json").write_text(json.dumps(manifest))
    store = Store(f"sqlite:///{tmp_path / 'desk.db'}")
    try:
        loaded = load(store, folder)
    finally:
        store.close()
    rows = [{"amount": 900.0, "channel": "web"}, {"amount": 20.0, "channel": "web"}]
    reasons = [reason for own in loaded.explain(loaded.scorer.reader.of_rows(rows), 5) for reason in own]
    assert any("Sum = 900 EUR" in reason["sentence"] for reason in reasons)
    assert not any("channel" in (reason["column"], reason["sentence"].split()[0]) for reason in reasons)


WRONG: list[tuple[Any, int, str]] = [
    ({"row": {"amount": "much"}}, 422, "column 'amount': expected a number, found 'much'"),
    ({"row": {"date": [1]}}, 422, "column 'date': expected a date, found a list"),
    ({"rows": [{}, {"age": {}}]}, 422, "Row 1, column 'age'"),
    ({"row": {}, "rows": []}, 422, "either `row`"),
    ({"row": {}, "nme": 1}, 422, "'nme'"),
    ({"rows": [1]}, 422, "list of objects"),
    ({"rows": [{}], "ids": []}, 422, "`ids`"),
    ({"row": {}, "id": ""}, 422, "An id"),
    ([], 422, "JSON object"),
    (b"{", 422, "not JSON"),
    (b'{"row": {"amount": NaN}}', 422, "NaN"),
    (b'{"row": {"channel": "\\ud800"}}', 422, "UTF-8"),
    (b"\xff", 422, "UTF-8"),
    (b"[" * 100_000, 422, "nested too deeply"),
    (b'{"row": {"amount": ' + b"9" * 5_000 + b"}}", 422, "not JSON"),
    (b" " * (16 * 2**20 + 1), 413, "at most 16,777,216 bytes"),
]


@pytest.mark.parametrize(("body", "status", "sentence"), WRONG, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("route", ["/v1/score", "/v1/decide"])
def test_wrong_bodies_are_refused_with_a_sentence(
    route: str, body: Any, status: int, sentence: str, client: httpx.Client
) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = client.post(route, content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == status
    assert sentence in response.json()["detail"]


@pytest.mark.parametrize(
    ("money", "sentence"),
    [
        ({"gains": 3}, "an object"),
        ({"gains": {"z": 3}}, "none of the outcomes"),
        ({"gains": {"fn": "__import__('os')"}}, "not allowed"),
        ({"gains": {"fn": "-amount * 1e308 * 1e308"}}, "finite gains"),
        ({"gains": {"fn": "-price"}}, "column 'price': expected a number, which the gains need"),
        ({"gains": {"fn": "a ** 9 / b", "a": 1e300, "b": 0}}, "finite gains"),
        ({"gains": {"fn": True}}, "'fn' is neither"),
        ({"gains": {"fn": [1]}}, "'fn' is neither"),
        ({"gains": {"fn": "a", "a": "b"}}, "must be a number"),
        ({"check_cost": -1}, "`check_cost`"),
        ({"check_cost": 10**400}, "`check_cost`"),
    ],
)
def test_wrong_money_is_refused_with_a_sentence(money: dict, sentence: str, client: httpx.Client) -> None:
    for rows in ({"row": ROW}, {"rows": [ROW] * 2}):
        response = client.post("/v1/decide", json={**rows, **money})
        assert response.status_code == 422
        assert sentence in response.json()["detail"]


def test_damaged_arrow_is_refused_with_a_sentence(client: httpx.Client) -> None:
    for content in (b"", b"ARROW1", b"\xff\xff\xff\xff\x10\0\0\0" + b"x" * 40):
        response = client.post("/v1/score", content=content, headers={"Content-Type": ARROW_STREAM})
        assert response.status_code == 422
        assert "not Arrow IPC" in response.json()["detail"]
    assert client.post("/v1/score", content=b"a,b", headers={"Content-Type": "text/csv"}).status_code == 415


def test_a_body_without_a_length_is_limited_too(client: httpx.Client) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(17):
            yield b" " * 2**20

    response = client.post("/v1/score", content=parts(), headers={"Content-Type": "application/json"})
    assert response.status_code == 413


def test_scores_are_recorded_before_they_are_answered_and_take_outcomes(client: httpx.Client, store: Store) -> None:
    answer = client.post("/v1/score", json={"row": ROW, "id": "P-1"}).json()
    client.post("/v1/decide", json={"rows": [ROW, ROW], "ids": ["P-2", None]})
    with store.read() as transaction:
        found = {score.id: score for score in transaction.scalars(select(Score).order_by(Score.number))}
    assert (found["P-1"].score, found["P-1"].row, found["P-1"].model) == (answer["score"], ROW, answer["model"])
    assert found["P-2"].money is not None
    unknown = client.post(
        "/v1/outcomes", json={"outcomes": [{"id": "P-1", "positive": True}, {"id": "?", "positive": True}]}
    )
    assert unknown.status_code == 404
    assert "'?'" in unknown.json()["detail"]
    with store.read() as transaction:
        assert not transaction.scalars(select(Outcome)).all()
    assert client.post("/v1/outcomes", json={"outcomes": [{"id": "P-1", "positive": True}]}).json() == {"stored": 1}
    with store.read() as transaction:
        assert [(o.score, o.positive) for o in transaction.scalars(select(Outcome))] == [(found["P-1"].number, True)]
    for body in ({}, {"outcomes": [1]}, {"outcomes": [{"id": "P-1", "positive": 1}]}):
        assert client.post("/v1/outcomes", json=body).status_code == 422


def test_nothing_but_the_state_of_health_answers_without_a_token(client: httpx.Client) -> None:
    assert client.get("/healthz", headers={"Authorization": ""}).json() == {
        "status": "ok",
        "compiled": True,
        "because": "",
    }
    for method, route in (
        ("POST", "/v1/score"),
        ("POST", "/v1/decide"),
        ("POST", "/v1/outcomes"),
        ("POST", "/v1/models/reload"),
        ("GET", "/v1/models"),
        ("GET", "/metrics"),
        ("GET", "/openapi.json"),
        ("GET", "/docs"),
    ):
        assert client.request(method, route, headers={"Authorization": "Bearer x"}).status_code == 401


def test_the_page_for_programs_shows_each_route_of_the_schema(client: httpx.Client) -> None:
    page = client.get("/docs").text
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in page
    assert "http" not in page.replace("http-equiv", "")  # nothing from elsewhere


def test_the_figures_count_answers_and_rows(client: httpx.Client) -> None:
    client.post("/v1/score", json={"row": ROW})
    client.post("/v1/score", json={"row": 1})
    text = client.get("/metrics").text
    assert 'scarce_requests_total{route="/v1/score",status="200"}' in text
    assert 'scarce_requests_total{route="/v1/score",status="422"}' in text
    assert "scarce_probability_bucket" in text
    assert 'compiled="true"' in text


def test_a_new_model_takes_over_without_a_dropped_request(
    client: httpx.Client, store: Store, model_folder: Path, tmp_path: Path
) -> None:
    old = client.get("/v1/models").json()
    newer = tmp_path / "newer"
    shutil.copytree(model_folder, newer)
    manifest = json.loads((newer / "manifest.json").read_text())
    (newer / "manifest.json").write_text(json.dumps({**manifest, "seconds": 0.0}))
    stop, answers = threading.Event(), []

    def ask() -> None:
        with httpx.Client(base_url=client.base_url, headers=client.headers) as other:
            while not stop.is_set():
                answer = other.post("/v1/decide", json={"row": ROW})
                answers.append((answer.status_code, answer.json().get("model")))

    thread = threading.Thread(target=ask)
    thread.start()
    version = import_folder(store, newer).version
    new = client.post("/v1/models/reload").json()
    assert client.post("/v1/score", json={"row": ROW}).json()["model"] == new["model"]
    stop.set()
    thread.join()
    assert (new["version"], new["model"] != old["model"]) == (version, True)
    assert {status for status, _ in answers} == {200}
    models = [model for _, model in answers]
    assert models == sorted(models, key=[old["model"], new["model"]].index)  # once switched, it stays so
    assert old["model"] in models


def test_the_signal_for_it_loads_the_model_again(model_folder: Path, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'desk.db'}")
    app = create_app(store, model_folder)

    async def signalled() -> Loaded | None:
        async with lifespan(app):
            models = service_of(app).models
            before = models.now
            os.kill(os.getpid(), signal.SIGHUP)
            for _ in range(1_000):
                if models.now is not before:
                    break
                await asyncio.sleep(0.01)
            assert models.now is not before
            return before

    assert asyncio.run(signalled()) is not None
    store.close()


def test_a_damaged_model_leaves_the_old_one_at_work(model_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    shutil.copytree(model_folder, folder)
    store = Store(f"sqlite:///{tmp_path / 'desk.db'}")
    with running(store, folder) as client:
        (folder / "model.skops").write_bytes(b"damaged")
        answer = client.post("/v1/models/reload")
        assert answer.status_code == 409
        assert "model.skops" in answer.json()["detail"]
        assert client.post("/v1/score", json={"row": ROW}).status_code == 200
    store.close()


def test_without_a_model_the_service_says_so(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'desk.db'}")
    with running(store, tmp_path) as client:
        assert client.get("/healthz").json()["status"] == "no model"
        answer = client.post("/v1/score", json={"row": ROW})
        assert answer.status_code == 503
        assert "There is no model" in answer.json()["detail"]
        assert client.post("/v1/models/reload").status_code == 409
    store.close()
