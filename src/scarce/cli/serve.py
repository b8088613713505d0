"""The command ``scarce serve``."""

from __future__ import annotations

import ipaddress
import logging
import multiprocessing
import socket
import ssl
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from scarce.desk.store import Store

__all__ = ["serve_command"]


def serve_command(
    folder: Annotated[Path, typer.Argument(help="Folder of an audit.")],
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at.", min=0, max=65535)] = 8000,
    store: Annotated[
        str | None, typer.Option(help="Such as postgresql+psycopg://user@host/name; else desk.db in the folder.")
    ] = None,
    record: Annotated[bool, typer.Option("--record", help="Store the rows that are scored.")] = False,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy on this machine or network ends TLS.")
    ] = False,
    tls_cert: Annotated[Path | None, typer.Option(help="File of the TLS certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="File of its key.")] = None,
) -> None:
    """Open the review desk on an audit, and score rows with its model."""
    from scarce._extras import require

    tls = _check_address(host, tls_cert, tls_key, behind_proxy)
    uvicorn = require("uvicorn", "scarce serve")
    require("fastapi", "scarce serve")
    from scarce.desk.app import create_app
    from scarce.desk.errors import DeskError
    from scarce.desk.imports import check_folder, import_folder
    from scarce.desk.store import Store, store_url

    check_folder(folder)  # before a store is made in it
    opened = Store(store_url(folder, store))
    typer.echo(str(import_folder(opened, folder)))
    _first_token(opened)
    secure = bool(tls) or behind_proxy
    app = create_app(opened, folder, record=record, secure=secure)
    options = {"log_level": "warning", "server_header": False, "proxy_headers": behind_proxy, **tls}
    try:
        config = uvicorn.Config(app, **options)
        config.load()
    except ssl.SSLError as error:
        raise DeskError(
            f"{tls_cert} and {tls_key} are not a certificate and its key in PEM (`tls_cert`, `tls_key`)."
        ) from error
    listening = _listen(host, port)
    threading.Thread(target=_work_hourly, args=(opened, folder, record), daemon=True).start()
    address = f"{'https' if tls else 'http'}://{_written(host)}:{listening.getsockname()[1]}"
    # Whoever comes before the model is loaded waits for it: the system holds the request.
    typer.echo(f"The desk is open at {address}; Ctrl-C closes it.")
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket at an address, which takes connections from now on."""
    from scarce.desk.errors import DeskError

    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DeskError(
            f"The desk cannot listen at {_written(host)}:{port} ({reason}); name another (`port`)."
        ) from error
    # Connections inherit it; without it an answer in two parts waits 40 ms for the client to confirm the first.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _work_hourly(store: Store, folder: Path, record: bool) -> None:
    """Let verdicts leave the live memory after its days, estimate its weights each night, and look at recorded rows."""
    from sqlalchemy.exc import SQLAlchemyError

    from scarce.desk.verdicts import refresh
    from scarce.desk.watch import watch_desk

    url = store.engine.url.render_as_string(hide_password=False)
    while True:
        try:
            refresh(store, nightly=True)
        except SQLAlchemyError as error:  # a store that is busy or away for a while
            logging.getLogger("scarce").warning("The live memory was not refreshed. %s", error)
        if record:
            # In a process of its own, since requests would wait for it.
            own = multiprocessing.get_context("spawn").Process(target=watch_desk, args=(url, str(folder)), daemon=True)
            own.start()
            own.join()
        time.sleep(3_600)


def _first_token(store: Store) -> None:
    from scarce.desk.tokens import add_token, list_tokens

    if not list_tokens(store):
        typer.echo(f"Administrator's token, shown this once: {add_token(store, 'admin', 'admin')}")


def _check_address(host: str, cert: Path | None, key: Path | None, behind_proxy: bool) -> dict[str, Any]:
    """Refuse to send tokens over a network in the clear."""
    from scarce.desk.errors import DeskError

    if (cert is None) != (key is None):
        raise DeskError("TLS needs both a certificate and its key (`tls_cert`, `tls_key`).")
    for file in filter(None, (cert, key)):
        if not file.exists():
            raise DeskError(f"There is no TLS file {file}.")
    if cert is None and not behind_proxy and not _is_loopback(host):
        raise DeskError(
            f"At {host} tokens and cases would cross the network in the clear: give `tls_cert` and `tls_key`, or say "
            "`behind_proxy` if a proxy in front of the desk ends TLS."
        )
    return {} if cert is None else {"ssl_certfile": str(cert), "ssl_keyfile": str(key)}


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
