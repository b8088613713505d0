"""The command line, as a user calls it."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import scarce
import scarce.audit.run
from scarce.cli import main
from scarce.datasets import list_datasets, make_transactions
from tests.audit.conftest import hurry
from tests.payments import make_table


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    # The terminal's markup must leave brackets alone.
    return make_table(500, seed=2).rename(columns={"amount": "amount [bold]"})


@pytest.fixture
def place(tmp_path: Path, small: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder that holds the table."""
    monkeypatch.chdir(tmp_path)
    small.to_csv("payments.csv", index=False)
    return tmp_path


def call(*arguments: object, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["scarce", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_audit_then_score(place: Path, small: pd.DataFrame, monkeypatch, capsys) -> None:
    assert call("audit", "payments.csv", "--target", "fraud", "--budget", 20, monkeypatch=monkeypatch) == 0
    out = capsys.readouterr().out
    folder = place / "audit-payments"
    assert max(map(len, out.splitlines())) <= 100
    assert out.count("★") == 1
    assert "LEAK: column 'chargeback'" in out
    assert "Bring it back (--keep)" in " ".join(out.split())
    assert "orders the rows (--time)" in " ".join(out.split())
    assert "fraud = yes is positive" in out
    assert len(pd.read_csv(folder / "queue.csv")) == 20
    assert sorted(p.name for p in place.iterdir()) == ["audit-payments", "payments.csv"]

    small.drop(columns="fraud").to_parquet("new.parquet")
    assert call("score", folder, "new.parquet", "--out", "ranked.csv", "--show", 3, monkeypatch=monkeypatch) == 0
    out = capsys.readouterr().out
    ranked = pd.read_csv(place / "ranked.csv")
    assert "500 rows" in out
    assert "amount [bold] = " in " ".join(out.split())
    assert ranked["rank"].tolist() == list(range(1, 501))
    assert ranked["score"].is_monotonic_decreasing
    assert set(ranked["row"]) == set(range(500))

    # The second audit must not touch what the first one wrote.
    before = (folder / "manifest.json").read_bytes()
    assert call("audit", "payments.csv", "--target", "fraud", monkeypatch=monkeypatch) == 2
    assert "exists already; name another place (--out), or have it replaced (--force)." in capsys.readouterr().err
    assert call("score", folder, "new.parquet", "--out", "ranked.csv", monkeypatch=monkeypatch) == 2
    assert (folder / "manifest.json").read_bytes() == before


def test_without_a_table_everything_is_labelled_simulated(tmp_path: Path, monkeypatch, capsys) -> None:
    few = partial(make_transactions, fraud_rate=0.03)
    monkeypatch.setattr(scarce.audit.run, "make_transactions", few)
    monkeypatch.setattr(scarce.audit.run, "SIMULATED_ROWS", 1_500)
    assert call("audit", "--out", tmp_path / "out", "--budget", 15, monkeypatch=monkeypatch) == 0
    out = capsys.readouterr().out
    assert out.count("SIMULATED") >= 3
    assert "SIMULATED" in (tmp_path / "out" / "report.html").read_text()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["data"]["simulated"] is True
    assert manifest["settings"]["time"] == "date"
    assert manifest["settings"]["amount"] == "amount"


MISTAKES = {
    "audit paymets.csv --target fraud": "There is no file paymets.csv; check the path, or did you mean payments.csv.",
    "audit payments.csv --target Frauds": "The table has no column 'Frauds' for --target; did you mean 'fraud'?",
    "audit payments.csv": "Name the column of outcomes (--target).",
    "audit payments.csv --target currency": (
        "The target column 'currency' has only one value (EUR); a comparison needs rows with both outcomes."
    ),
    "audit payments.csv --target fraud --budget 0": (
        "--budget is the number of rows that can be checked, at least 1, in all or in each period such as 100/day; it "
        "was 0."
    ),
    "score nowhere payments.csv": (
        "There is no model nowhere; name the folder that scarce audit wrote, or its model.skops."
    ),
}


@pytest.mark.parametrize(("command", "sentence"), MISTAKES.items())
def test_mistakes_are_answered_in_one_sentence(place: Path, command: str, sentence: str, monkeypatch, capsys) -> None:
    assert call(*command.split(), monkeypatch=monkeypatch) == 2
    printed = capsys.readouterr()
    assert printed.err.strip() == sentence
    assert printed.out == ""
    assert [p.name for p in place.iterdir()] == ["payments.csv"]


def test_numbers_as_text_and_unreadable_tables_stop_before_anything_is_written(
    place: Path, monkeypatch, capsys
) -> None:
    table = make_table(100).assign(price="1,234.5 €")
    table.to_csv("text.csv", index=False)
    (place / "broken.parquet").write_text("broken")
    before = sorted(place.iterdir())
    for file, message in {
        "text.csv": "(1234.5 for 1,234.5 €), or leave the column out (--drop).",
        "broken.parquet": "cannot be read",
    }.items():
        assert call("audit", file, "--target", "fraud", monkeypatch=monkeypatch) == 2
        assert message in capsys.readouterr().err
    assert sorted(place.iterdir()) == before


def test_an_interrupted_run_leaves_nothing(place: Path, monkeypatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(scarce.audit.run, "compare", interrupt)
    assert call("audit", "payments.csv", "--target", "fraud", monkeypatch=monkeypatch) != 0
    assert [p.name for p in place.iterdir()] == ["payments.csv"]


def test_unexpected_errors_are_not_swallowed(place: Path, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(scarce.audit.run, "read_target", fail)
    monkeypatch.setattr(sys, "argv", ["scarce", "audit", "payments.csv", "--target", "fraud"])
    with pytest.raises(ValueError, match="a bug"):
        main()


@pytest.mark.parametrize(("package", "extra"), [("typer", "audit"), ("lightgbm", "boost"), ("matplotlib", "audit")])
def test_a_missing_package_is_named_with_its_extra(tmp_path: Path, package: str, extra: str) -> None:
    program = (
        f"import sys; sys.modules[{package!r}] = None; sys.argv = ['scarce', 'audit']; "
        "from scarce.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert package in done.stderr.lower()
    assert f'pip install "scarce[{extra}]"' in done.stderr


def test_data_commands(monkeypatch, capsys) -> None:
    assert call("data", "list", monkeypatch=monkeypatch) == 0
    out = capsys.readouterr().out
    for record in list_datasets():
        assert record.name in out
    assert call("data", "info", "wine", monkeypatch=monkeypatch) == 0
    out = capsys.readouterr().out
    assert "178" in out
    assert "scikit-learn" in out
    assert call("data", "fetch", "wine", monkeypatch=monkeypatch) == 0
    assert "scarce.datasets.load('wine')" in capsys.readouterr().out
    assert call("data", "info", "vine", monkeypatch=monkeypatch) == 2
    assert "no data set named 'vine'" in capsys.readouterr().err


def test_the_version_is_that_of_the_package(monkeypatch, capsys) -> None:
    assert call("--version", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.strip() == scarce.__version__
