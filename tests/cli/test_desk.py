"""The commands of the desk: tokens, imports, exports, and a service that is never open to a network in the clear."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

import pandas as pd
import pytest

from scarce.cli import main
from scarce.cli.serve import _listen
from scarce.desk.imports import import_folder
from scarce.desk.store import Store, store_url
from scarce.desk.tokens import find_person, list_tokens
from scarce.desk.verdicts import Given, decide
from tests.desk.audits import make_folder


def call(*arguments: object, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["scarce", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = make_folder(tmp_path / "audit", 30)
    store = Store(store_url(made))
    import_folder(store, made)
    decide(store, 1, "ana", Given("positive", kind="card"))
    store.close()
    return made


def test_tokens_are_added_listed_and_revoked(folder: Path, monkeypatch, capsys) -> None:
    assert call("desk", "tokens", "add", "Ana", "--desk", folder, monkeypatch=monkeypatch) == 0
    token = capsys.readouterr().out.strip()
    store = Store(store_url(folder))
    person = find_person(store, token=token)
    assert person is not None
    assert (person.name, person.role) == ("Ana", "reviewer")
    assert token.encode() not in (folder / "desk.db").read_bytes()
    assert call("desk", "tokens", "add", "Ana", "--desk", folder, monkeypatch=monkeypatch) == 2
    assert "There is a token of the name 'Ana' already" in capsys.readouterr().err
    assert call("desk", "tokens", "revoke", "Ana", "--desk", folder, monkeypatch=monkeypatch) == 0
    assert find_person(store, token=token) is None
    capsys.readouterr()
    assert call("desk", "tokens", "list", "--desk", folder, monkeypatch=monkeypatch) == 0
    assert "reviewer" in capsys.readouterr().out
    assert [t.revoked is None for t in list_tokens(store)] == [False]
    store.close()


@pytest.mark.parametrize("history", [False, True])
def test_verdicts_are_exported(folder: Path, tmp_path: Path, history: bool, monkeypatch, capsys) -> None:
    options = ["--history"] if history else []
    out = tmp_path / "verdicts.csv"
    assert call("desk", "export", out, "--desk", folder, *options, monkeypatch=monkeypatch) == 0
    assert pd.read_csv(out)["review_kind"].tolist() == ["card"]
    assert call("desk", "export", out, "--desk", folder, monkeypatch=monkeypatch) == 2
    assert "--force" in capsys.readouterr().err


def test_another_audit_is_imported(folder: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    later = make_folder(tmp_path / "later", 30, first=10)
    assert call("desk", "import", later, "--desk", folder, monkeypatch=monkeypatch) == 0
    assert "Model version 2: 10 new cases, 20 that the desk knows already" in capsys.readouterr().out


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.4", "desk.example.org", "::"])
def test_a_network_without_tls_is_refused(folder: Path, host: str, monkeypatch, capsys) -> None:
    assert call("serve", folder, "--host", host, monkeypatch=monkeypatch) == 2
    message = capsys.readouterr().err
    assert "in the clear" in message
    assert "--behind-proxy" in message
    assert message.count("\n") == 1


def test_a_folder_without_a_desk_is_a_sentence(tmp_path: Path, monkeypatch, capsys) -> None:
    assert call("desk", "tokens", "list", "--desk", tmp_path, monkeypatch=monkeypatch) == 2
    assert "There is no desk in" in capsys.readouterr().err


def test_the_first_start_prints_a_token_once(folder: Path, monkeypatch, capsys) -> None:
    import uvicorn

    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: sockets[0].close())
    for first in (True, False):
        assert call("serve", folder, "--port", 0, monkeypatch=monkeypatch) == 0
        out = capsys.readouterr().out
        assert ("Administrator's token, shown this once: scarce_" in out) == first
        # The address is that of the port which listens, not the 0 that was asked for.
        assert re.search(r"The desk is open at http://127\.0\.0\.1:[1-9]\d+; Ctrl-C closes it\.", out)


def test_what_cannot_be_opened_is_a_sentence(folder: Path, monkeypatch, capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert call("serve", folder, "--port", taken.getsockname()[1], monkeypatch=monkeypatch) == 2
    said = capsys.readouterr()
    assert "name another (--port)" in said.err
    assert said.err.count("\n") == 1
    assert "is open" not in said.out
    assert call("serve", folder.parent, monkeypatch=monkeypatch) == 2
    assert "name a folder that scarce audit wrote" in capsys.readouterr().err
    assert not (folder.parent / "desk.db").exists()
    wrong = folder / "manifest.json"
    assert call("serve", folder, "--port", 0, "--tls-cert", wrong, "--tls-key", wrong, monkeypatch=monkeypatch) == 2
    assert "in PEM (--tls-cert, --tls-key)" in capsys.readouterr().err


def test_answers_do_not_wait_for_the_client_to_confirm_their_first_part() -> None:
    with _listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        taken, _ = listening.accept()
        with taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
