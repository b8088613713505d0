"""The loop on simulated payments: audit, decide, audit again with the verdicts, three times, each by one command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select

from scarce.cli import main
from scarce.datasets import make_transactions
from scarce.desk.imports import import_folder
from scarce.desk.schema import Case
from scarce.desk.store import Store, store_url
from scarce.desk.verdicts import Given, decide
from tests.audit.conftest import hurry

CHECKS = 15


def test_verdicts_come_back_to_the_next_audit_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hurry(monkeypatch)
    payments = make_transactions(1_700, fraud_rate=0.06, seed=3).frame[["date", "amount", "n_items", "shop", "fraud"]]
    payments.insert(0, "payment", [f"P{number:05}" for number in range(len(payments))])
    truth = payments.set_index("payment")["fraud"]
    new = np.arange(len(payments)) >= 1_200
    payments["fraud"] = payments["fraud"].astype(float).mask(new)
    file = tmp_path / "payments.csv"
    payments.to_csv(file, index=False)

    store = Store(store_url(tmp_path))
    decided: dict[str, str] = {}
    for turn in range(3):
        out = tmp_path / f"audit-{turn}"
        command = ["scarce", "audit", str(file), "--target", "fraud", "--budget", str(CHECKS), "--out", str(out)]
        command += ["--methods", "logistic", "--time", "date"]
        if turn:
            command += ["--reviews", str(tmp_path)]
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code in (0, None), capsys.readouterr().err
        manifest = json.loads((out / "manifest.json").read_text())
        assert manifest["data"]["labelled"] == 1_200 + len(decided)
        told = " ".join(capsys.readouterr().out.split())
        assert (f"{len(decided)} rows have a verdict in the reviews" in told) == bool(turn)

        imported = import_folder(store, out)
        assert (imported.version, imported.decided) == (turn + 1, 0)
        with store.read() as transaction:
            open_cases = list(transaction.scalars(select(Case).where(Case.model == turn + 1, Case.status == "open")))
        assert len(open_cases) == CHECKS
        for case in open_cases:
            verdict = "positive" if truth[case.identity["payment"]] else "negative"
            decide(store, case.id, "ana", Given(verdict))
            assert case.identity["payment"] not in decided
            decided[case.identity["payment"]] = verdict
    store.close()
    assert len(decided) == 3 * CHECKS
    found = sum(verdict == "positive" for verdict in decided.values()) / len(decided)
    assert found > 2 * truth[pd.Index(truth.index[new])].mean()
