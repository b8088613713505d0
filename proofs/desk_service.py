"""The statements about the scoring service: how fast it is, that its scores are the model's, that it never breaks."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import pandas as pd
import pyarrow as pa

from proofs.cases import Case
from proofs.load import ROOT, measure
from scarce.audit import audit, save
from scarce.datasets import make_transactions
from scarce.desk.bodies import ARROW_STREAM
from scarce.desk.store import Store, store_url
from scarce.desk.tokens import add_token
from scarce.engines import RowScorer, SavedModel, compile_model, load_model
from scarce.tables import Table

ROWS = 8_000
TRIES = 15
MODELS: dict[str, dict[str, Any]] = {
    "lightgbm": {"budget": 100},
    "profit-boosting": {"budget": 100, "objective": "profit", "amount": "amount", "check_cost": 5},
}
GAINS = {"gains": {"tp": 0, "fp": -5, "tn": 1, "fn": "-amount"}, "check_cost": 2}
_RATE, _MOST_TIMES, _MOST_MILLISECONDS = 200, 3.0, 10.0


@cache
def _audits() -> tuple[dict[str, Path], pd.DataFrame]:
    """Audit simulated payments with each method, and return the folders and rows that no model has seen."""
    payments = make_transactions(ROWS + 10_000, fraud_rate=0.01, seed=0).frame
    seen, new = payments.iloc[:ROWS].reset_index(drop=True), payments.iloc[ROWS:].reset_index(drop=True)
    place, folders = Path(_kept.name), {}
    for name, settings in MODELS.items():
        folders[name] = place / name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            save(audit(seen, "fraud", methods=name, **settings), folders[name])
    return folders, new.drop(columns="fraud")


_kept = tempfile.TemporaryDirectory(prefix="scarce-proofs-")


class Service(NamedTuple):
    """A running service."""

    port: int
    token: str

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=60)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Service]:
    """Run `scarce serve` on a folder, in a process of its own."""
    store = Store(store_url(folder))
    token = add_token(store, f"proof {time.monotonic_ns()}", "admin")
    store.close()
    with _process("scarce.cli", "serve", str(folder), "--port", "{port}", *options) as port:
        yield Service(port, token)


@contextmanager
def _process(module: str, *arguments: str) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = [part.format(port=port) for part in arguments]
    with subprocess.Popen([sys.executable, "-m", module, *given], cwd=ROOT, stdout=subprocess.DEVNULL) as running:
        try:
            _wait(port, running)
            yield port
        finally:
            running.terminate()
            running.wait(30)


def _wait(port: int, running: subprocess.Popen[bytes]) -> None:
    for _ in range(1_200):
        if running.poll() is not None:
            raise RuntimeError("The service did not start.")
        try:
            httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=5)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise RuntimeError("The service did not start in two minutes.")


def load(seconds: float = 60.0, models: Sequence[str] = tuple(MODELS)) -> Iterator[Case]:
    """Decide one row 200 times a second, beside an empty route under the same load."""
    folders, new = _audits()
    body = json.dumps({"row": _as_json(new.head(1))[0], "id": "P-1", **GAINS})
    for model in models:
        with serving(folders[model]) as service, _process("proofs.empty", "{port}") as empty:
            found = measure(
                [
                    {"name": "empty", "port": empty, "path": "/", "body": body},
                    {"name": "ours", "port": service.port, "path": "/v1/decide", "body": body, "token": service.token},
                ],
                _RATE,
                seconds,
            )
        times = {name: np.percentile(answers["milliseconds"], [50, 99]) for name, answers in found.items()}
        what = f"{_RATE} decisions a second for {seconds:g} s"
        for place, name in enumerate(("p50", "p99")):
            ratio = float(times["ours"][place] / times["empty"][place])
            yield Case((f"{what}: {name} against an empty route", model), (ratio, _MOST_TIMES), ratio <= _MOST_TIMES)
        slowest = float(times["ours"][1])
        yield Case((f"{what}: p99 in ms", model), (slowest, _MOST_MILLISECONDS), slowest < _MOST_MILLISECONDS)
        errors = sum(answers["errors"] for answers in found.values())
        yield Case((f"{what}: errors", model), (float(errors), 0.0), errors == 0)


def speed(tries: int = TRIES) -> Iterator[Case]:
    """Score one row and 1,000 rows, beside `Booster.predict` of the same rows, in processor time."""
    folders, new = _audits()
    for name, folder in folders.items():
        model = load_model(folder)
        scorer, booster, X = _scorer(model), _booster(model), model.typed(_frame(model, new.head(1_000)))
        encoded = model.pipeline[:-1].transform(X)
        row = _as_json(new.head(1))[0]
        rows = pa.Table.from_pandas(new.head(1_000), preserve_index=False)
        one = _ratio(
            lambda scorer=scorer, row=row: scorer.score_row(row),
            lambda booster=booster, encoded=encoded: booster.predict(encoded[:1], num_threads=1),
            400,
            tries,
        )
        yield Case(("one row in the process, against Booster.predict", name), (one, 3.0), one <= 3)
        many = _ratio(
            lambda scorer=scorer, rows=rows: scorer.score_arrow(rows),
            lambda booster=booster, encoded=encoded: booster.predict(encoded, num_threads=1),
            10,
            tries,
        )
        yield Case(("1,000 rows as Arrow, against Booster.predict", name), (many, 2.0), many <= 2)


def bits(rows: int = 10_000) -> Iterator[Case]:
    """Count the scores through the service, as JSON one by one and as Arrow, that differ in a bit from the model's."""
    folders, new = _audits()
    new = new.head(rows)
    for name, folder in folders.items():
        model = load_model(folder)
        expected = model.pipeline.score_samples(model.typed(_frame(model, new)))
        with serving(folder) as service, service.client() as client:
            table = pa.Table.from_pandas(new, preserve_index=False)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            sent = {"Content-Type": ARROW_STREAM}
            answer = client.post("/v1/score", content=sink.getvalue().to_pybytes(), headers=sent).raise_for_status()
            arrow = pa.ipc.open_stream(answer.content).read_all()["score"].to_numpy()
            alone = [
                client.post("/v1/score", json={"row": row}).raise_for_status().json()["score"] for row in _as_json(new)
            ]
        for how, scores in (("Arrow", arrow), ("JSON, one by one", np.array(alone))):
            differ = int((scores.view(np.int64) != expected.view(np.int64)).sum())
            yield Case((f"scores of {rows:,} rows as {how} with other bits", name), (float(differ), 0.0), differ == 0)


def fuzz(examples: int = 100) -> Iterator[Case]:
    """Send what schemathesis makes of the OpenAPI schema, with a token and without."""
    folders, _ = _audits()
    with ExitStack() as stack:
        service = stack.enter_context(serving(folders["profit-boosting"], "--record"))
        client = stack.enter_context(service.client())
        schema = client.get("/openapi.json").raise_for_status().json()
        yield from fuzzed(schema, client, examples)


def fuzzed(schema: dict[str, Any], client: httpx.Client, examples: int) -> Iterator[Case]:
    """Return the cases of `fuzz` for a running service."""
    import schemathesis

    operations = [result.ok() for result in schemathesis.openapi.from_dict(schema).get_all_operations()]
    for token in (True, False):
        broken, open_, sent = _answers(operations, client, examples, token)
        how = "with a token" if token else "without a token"
        for fault in dict.fromkeys([*broken, *open_]):
            print(fault, file=sys.stderr)
        place = f"{len(operations)} operations, {sent:,} requests"
        yield Case((f"schemathesis {how}: answers of 500 and above", place), (len(broken), 0.0), not broken)
        if not token:
            yield Case(("schemathesis without a token: answers with data", place), (len(open_), 0.0), not open_)


def _answers(
    operations: list[Any], client: httpx.Client, examples: int, token: bool
) -> tuple[list[str], list[str], int]:
    """Return the answers that are faults, those that give data, and the number of requests."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis.errors import Unsatisfiable
    from schemathesis.generation import GenerationMode

    headers = {"Authorization": client.headers["authorization"]} if token else {}
    broken: list[str] = []
    open_: list[str] = []
    sent = 0

    def try_case(case: Any) -> None:
        nonlocal sent
        answer = case.call(base_url=str(client.base_url), headers=headers, timeout=30)
        sent += 1
        if answer.status_code >= 500:
            broken.append(f"{case.method} {case.path}: {answer.status_code}")
        if not token and case.path != "/healthz" and answer.status_code < 300:
            open_.append(f"{case.method} {case.path}: {answer.status_code}")

    checks = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    for operation in operations:
        for mode in GenerationMode:  # bodies that the schema allows, and others
            with suppress(Unsatisfiable):  # some operations have nothing that could be wrong
                checks(given(case=operation.as_strategy(generation_mode=mode))(try_case))()
    return broken, open_, sent


PARTS: dict[str, Callable[[], Iterator[Case]]] = {"load": load, "speed": speed, "bits": bits, "fuzz": fuzz}


def _as_json(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as JSON holds them: dates as text, and null for what is missing."""
    dated = {name: rows[name].dt.strftime("%Y-%m-%dT%H:%M:%S") for name in rows.select_dtypes("datetime")}
    plain = rows.assign(**dated).astype(object)
    return list(plain.where(plain.notna(), None).to_dict(orient="records"))


def _frame(model: SavedModel, rows: pd.DataFrame) -> pd.DataFrame:
    return Table.from_frame(rows, readings=model.readings).frame


def _scorer(model: SavedModel) -> RowScorer:
    scorer = compile_model(model)
    if not scorer.compiled:
        raise RuntimeError(scorer.because)
    return scorer


def _booster(model: SavedModel) -> Any:
    method = model.pipeline[-1]
    return getattr(method, "estimator_", method).booster_


def _ratio(ours: Callable[[], Any], other: Callable[[], Any], calls: int, tries: int) -> float:
    """Return the middle ratio of the processor times of two functions that have turns."""
    ratios = []
    for _ in range(tries):
        times = []
        for function in (ours, other):
            start = time.process_time()
            for _ in range(calls):
                function()
            times.append(time.process_time() - start)
        ratios.append(times[0] / times[1])
    return float(np.median(ratios[1:] if tries > 1 else ratios))
