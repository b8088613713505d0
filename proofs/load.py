"""A client that sends requests at a steady rate from a process of its own, and prints how long each took.

A request counts from the moment at which it was due, so that waiting behind a slow one counts too.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 5.0  # seconds, after which a request counts as an error
BLOCK = 5.0  # seconds for one target before the next has its turn


def measure(targets: Sequence[dict[str, Any]], rate: float, seconds: float) -> dict[str, dict[str, Any]]:
    """Return for each target the milliseconds of its requests and the number of errors.

    The targets have turns of a few seconds, so that whatever else the machine does meets all of them.
    """
    asked = json.dumps({"targets": targets, "rate": rate, "seconds": seconds})
    done = subprocess.run(
        [sys.executable, "-m", "proofs.load"],
        input=asked,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60 + 3 * seconds * len(targets),
        check=True,
    )
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


class Target:
    """A route, with connections that are kept open."""

    def __init__(self, port: int, path: str, body: str, token: str = "", **_: Any) -> None:
        content = body.encode()
        self.port = port
        self.request = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        ).encode() + content
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.milliseconds: list[float] = []
        self.errors = 0

    async def ask(self, due: float) -> None:
        try:
            await asyncio.wait_for(self._ask(), LONGEST)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
            self.errors += 1
        else:
            self.milliseconds.append(1000 * (time.perf_counter() - due))

    def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """Return a connection that the server has not closed; it closes those that were idle for some seconds."""
        while self.idle:
            reader, writer = self.idle.pop()
            if not reader.at_eof():
                return reader, writer
            writer.close()
        return None

    async def _ask(self) -> None:
        reader, writer = self._open() or await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(self.request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        if not head.startswith(b"http/1.1 200"):
            raise ValueError("the answer is an error")
        self.idle.append((reader, writer))


async def _send(targets: list[Target], rate: float, seconds: float) -> None:
    for target in targets:  # the first requests open connections and are not counted
        await asyncio.gather(*(target.ask(time.perf_counter()) for _ in range(8)))
        target.milliseconds.clear()
    gc.disable()
    turns = max(1, round(seconds / BLOCK))
    for _ in range(turns):
        for target in targets:
            await _turn(target, rate, seconds / turns)


async def _turn(target: Target, rate: float, seconds: float) -> None:
    start, waiting = time.perf_counter() + 0.05, set()
    for number in range(round(rate * seconds)):
        due = start + number / rate
        if (ahead := due - time.perf_counter()) > 0:
            await asyncio.sleep(ahead)
        task = asyncio.create_task(target.ask(due))
        waiting.add(task)
        task.add_done_callback(waiting.discard)
    await asyncio.gather(*waiting)


def main() -> None:
    asked = json.load(sys.stdin)
    targets = {target["name"]: Target(**target) for target in asked["targets"]}
    asyncio.run(_send(list(targets.values()), asked["rate"], asked["seconds"]))
    json.dump({n: {"milliseconds": t.milliseconds, "errors": t.errors} for n, t in targets.items()}, sys.stdout)


if __name__ == "__main__":
    main()
