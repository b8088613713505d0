"""A service on a port of this machine, for tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import httpx
import uvicorn

from scarce.desk.app import create_app
from scarce.desk.store import Store
from scarce.desk.tokens import add_token


@contextmanager
def running(
    store: Store, folder: Path, *, record: bool = False, lifespan: Literal["auto", "off"] = "auto"
) -> Iterator[httpx.Client]:
    """Give a client with an administrator's token; the application is that of `scarce serve`."""
    token = add_token(store, f"admin {time.monotonic_ns()}", "admin")
    app = create_app(store, folder, record=record)
    config = uvicorn.Config(app, port=0, log_level="warning", ws="none", lifespan=lifespan)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("The service did not start.")
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(10)
