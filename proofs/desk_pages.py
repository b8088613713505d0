"""The rows of `make prove-desk` about the desk: pages that stay fast, and verdicts that survive a kill."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
from sqlalchemy import select

from proofs.cases import Case
from scarce.desk.imports import import_folder
from scarce.desk.schema import Case as DeskCase
from scarce.desk.schema import Verdict
from scarce.desk.store import Store, store_url
from scarce.desk.tokens import add_token
from tests.desk.audits import make_folder

SMALL, LARGE = 1_000, 100_000
MOST_TIMES = 1.5
KILLS, CLIENTS = 30, 8
PAGES = {
    "first page": "/",
    "sorted by amount": "/?order=amount",
    "without links": "/?order=rank",
    "text of one case": "/?text=P000500",
    "text of a quarter": "/?text=north",
    "column and amount": "/?column=region&value=north&least=100&most=800",
}
_SERVER = """
import sys
from pathlib import Path
import uvicorn
from scarce.desk.app import create_app
from scarce.desk.store import Store, store_url
folder = Path(sys.argv[1])
app = create_app(Store(store_url(folder)), folder)
uvicorn.run(app, port=int(sys.argv[2]), log_level="error", lifespan="off")
"""


def prove_pages(large: int = LARGE, rounds: int = 25) -> Iterator[Case]:
    """Measure pages of a small and of a large desk in turn."""
    with tempfile.TemporaryDirectory(prefix="scarce-desk-") as folder:
        yield from pages(Path(folder), large, rounds)


def prove_kills(kills: int = KILLS) -> Iterator[Case]:
    """Kill the desk while clients send verdicts, and look for what is lost or there twice."""
    with tempfile.TemporaryDirectory(prefix="scarce-desk-") as folder:
        yield from killed(Path(folder), kills)


PARTS: dict[str, Callable[[], Iterator[Case]]] = {"pages": prove_pages, "kills": prove_kills}


def pages(place: Path, large: int, rounds: int) -> list[Case]:
    """Measure pages of a small and of a large desk in turn: medians of the time to the first byte."""
    desks = {size: _desk(place / str(size), size) for size in (SMALL, large)}
    servers = {size: Server(folder) for size, (folder, _) in desks.items()}
    try:
        clients = {}
        for size, server in servers.items():
            server.start()
            clients[size] = httpx.Client(base_url=server.url, headers={"accept": "text/html"}, timeout=60)
            clients[size].post("/login", data={"token": desks[size][1]})
        after = {size: _last_page(client) for size, client in clients.items()}
        found = []
        for name, address in {**PAGES, "page 10": ""}.items():
            times: dict[int, list[float]] = {size: [] for size in clients}
            for _ in range(rounds):
                for size, client in clients.items():
                    times[size].append(_first_byte(client, address or after[size]))
            ratio = float(np.median(times[large]) / np.median(times[SMALL]))
            where = f"{large:,} cases against {SMALL:,}, median first byte"
            found.append(Case((f"queue page: {name}", where), (ratio, MOST_TIMES), ratio <= MOST_TIMES))
        return found
    finally:
        for server in servers.values():
            server.kill()


def _desk(folder: Path, size: int) -> tuple[Path, str]:
    make_folder(folder, size, terminals=max(400, size // 5))
    store = Store(store_url(folder))
    import_folder(store, folder)
    token = add_token(store, "prover", "reviewer")
    store.close()
    return folder, token


def _first_byte(client: httpx.Client, address: str) -> float:
    start = time.perf_counter()
    with client.stream("GET", address) as answer:
        answer.raise_for_status()
        next(answer.iter_raw())
        return time.perf_counter() - start


def _last_page(client: httpx.Client) -> str:
    """Return the address of the tenth page."""
    address = "/"
    for _ in range(9):
        text = client.get(address).text
        address = text.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    return address


def killed(place: Path, kills: int) -> list[Case]:
    """Kill the desk while clients send verdicts, and count what is there."""
    folder, token = _desk(place / "killed", SMALL)
    server = Server(folder)
    server.start()
    acknowledged: Counter[str] = Counter()
    ends, lock, chance = threading.Event(), threading.Lock(), random.Random(0)

    def send(number: int) -> None:
        own, sent = random.Random(number), 0
        client = httpx.Client(base_url=server.url, headers={"authorization": f"Bearer {token}"}, timeout=30)
        while not ends.is_set():
            sent += 1
            given = {"verdict": own.choice(["positive", "negative"]), "request": f"client-{number}-verdict-{sent}"}
            address = f"/v1/cases/{own.randint(1, SMALL)}/reviews"
            while not ends.is_set():
                try:
                    answer = client.post(address, json=given)
                except httpx.HTTPError:
                    time.sleep(0.05)  # sent again, until it is acknowledged
                    continue
                assert answer.status_code == 201, answer.text
                with lock:
                    acknowledged[given["request"]] += 1
                break

    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(send, number) for number in range(CLIENTS)]
        for _ in range(kills):
            time.sleep(chance.uniform(0.05, 1.0))
            server.kill()
            server.start()
        time.sleep(0.5)
        ends.set()
        for client in clients:
            client.result()
    server.kill()
    store = Store(store_url(folder))
    with store.read() as transaction:
        stored = Counter(transaction.scalars(select(Verdict.request)))
        states = dict(transaction.execute(select(DeskCase.id, DeskCase.status)).all())
        last = dict(transaction.execute(select(Verdict.case_id, Verdict.new).order_by(Verdict.id)).all())
    store.close()
    lost = len(set(acknowledged) - set(stored))
    twice = sum(n > 1 for n in stored.values())
    wrong = sum(states[case] != new for case, new in last.items())
    where = f"{CLIENTS} clients, {kills} SIGKILLs, {len(acknowledged):,} verdicts acknowledged"
    return [
        Case(("acknowledged verdicts lost", where), (lost, 0), not lost and len(acknowledged) >= kills),
        Case(("verdicts stored twice", where), (twice, 0), not twice),
        Case(("cases whose status is not their last verdict", where), (wrong, 0), not wrong),
    ]


class Server:
    """A desk in a process of its own, which can be killed and started again at the same port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen([sys.executable, "-c", _SERVER, str(self.folder), str(self.port)])
        for _ in range(1_200):
            try:
                httpx.get(f"{self.url}/healthz", timeout=5)
                return
            except httpx.HTTPError:
                if self.process.poll() is not None:
                    raise RuntimeError("The desk did not start.") from None
                time.sleep(0.05)
        raise RuntimeError("The desk does not answer.")

    def kill(self) -> None:
        """Kill it as a power failure of the process: no handler runs."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
