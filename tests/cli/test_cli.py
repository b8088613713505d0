"""The command line, as a user calls it."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import scarce
import scarce.audit.opening
from scarce.cli import main
from scarce.cli.audit import table_name
from scarce.datasets import list_datasets, make_companies, make_transactions
from scarce.tables import read_table
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
    command = ["audit", "payments.csv", "--target", "fraud", "--budget", 20, "--quick"]
    assert call(*command, monkeypatch=monkeypatch) == 0
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
    # All rows have been learned from, and the identifier of the first is in the terminal.
    assert "Training rows of the model among them: 500" in " ".join(out.split())
    assert (ranked["learned_from"] == "yes").all()
    assert ranked["payment"].iloc[0] in out
    assert ranked["reasons"].notna().sum() == 20
    assert "amount [bold] = " in " ".join(out.split())
    assert ranked["rank"].tolist() == list(range(1, 501))
    assert ranked["score"].is_monotonic_decreasing
    assert set(ranked["row"]) == set(range(500))

    later = small.drop(columns="fraud").assign(shop="S99")
    later.to_csv("later.csv", index=False)
    arguments = ("later.csv", "--out", "later-ranked.csv", "--reasons", 3)
    assert call("score", folder, *arguments, monkeypatch=monkeypatch) == 0
    assert "Training rows" not in capsys.readouterr().out
    later = pd.read_csv(place / "later-ranked.csv")
    assert later["reasons"].notna().tolist() == [True] * 3 + [False] * 497
    assert (later["learned_from"] == "no").all()
    assert call("score", folder, "later.csv", "--reasons", 0, monkeypatch=monkeypatch) == 0
    assert call("score", folder, "later.csv", "--reasons", -1, monkeypatch=monkeypatch) == 2
    assert "--reasons is how many rows are explained" in capsys.readouterr().err

    # The second audit must not touch what the first one wrote.
    before = (folder / "manifest.json").read_bytes()
    assert call("audit", "payments.csv", "--target", "fraud", monkeypatch=monkeypatch) == 2
    assert "exists already; name another place (--out), or have it replaced (--force)." in capsys.readouterr().err
    assert call("score", folder, "new.parquet", "--out", "ranked.csv", monkeypatch=monkeypatch) == 2
    assert (folder / "manifest.json").read_bytes() == before


def test_options_come_from_the_command_before_those_of_a_file(place: Path, monkeypatch, capsys) -> None:
    (place / "gains.toml").write_text('fn = "-0.5*age"\nfp = -1\n')
    (place / "mine.toml").write_text('table = "payments.csv"\ntarget = "fraud"\nbudget = 30\nobjective = "profit"\n')
    small = pd.read_csv("payments.csv").dropna(subset="age")
    small.loc[small.index > 400, "fraud"] = None
    small.to_csv("payments.csv", index=False)
    command = ["audit", "mine.toml", "--budget", 12, "--gains", "gains.toml", "--gain", "fp=-cost", "--gain", "cost=2"]
    options = ["--methods", "bayes,profit-boosting", "--explore", "25%", "--drop", "chargeback", "--out", "out"]
    assert call(*command, *options, monkeypatch=monkeypatch) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Of the rows to check, between " in out
    assert "3 of the rows to check were drawn at random" in out
    assert "rules that can be read have an average precision of" in out
    manifest = json.loads((place / "out" / "manifest.json").read_text())
    assert manifest["settings"]["budget"] == "12"
    assert manifest["settings"]["gains"] == {"fn": "-0.5*age", "fp": "-cost", "cost": "2"}
    assert sorted(manifest["methods"]) == ["bayes", "profit-boosting"]
    queue = pd.read_csv(place / "out" / "queue.csv")
    assert queue["drawn"].tolist() == ["by score"] * 9 + ["at random"] * 3
    assert "expected_gain" in queue

    # The folder holds what is needed to repeat it, on another table too.
    small.to_csv("later.csv", index=False)
    assert call("audit", "later.csv", "--again", "out", monkeypatch=monkeypatch) == 0
    assert "12 of these rows were in the earlier queue too." in " ".join(capsys.readouterr().out.split())
    again = pd.read_csv(place / "audit-later" / "queue.csv")
    pd.testing.assert_frame_equal(again, queue)
    assert "Since the earlier audit" in (place / "audit-later" / "report.html").read_text()


def test_without_a_table_everything_is_labelled_simulated(tmp_path: Path, monkeypatch, capsys) -> None:
    few = partial(make_transactions, fraud_rate=0.03)
    monkeypatch.setattr(scarce.audit.opening, "make_transactions", few)
    monkeypatch.setattr(scarce.audit.opening, "SIMULATED_ROWS", 1_500)
    assert call("audit", "--quick", "--out", tmp_path / "out", "--budget", 15, monkeypatch=monkeypatch) == 0
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
    "audit payments.csv --target fraud --methods gama-knn": (
        "There is no method 'gama-knn' (--methods); did you mean 'gamma-knn'?"
    ),
    "audit payments.csv --target fraud --objective profit --gain fn": (
        """A gain is written like fn="-0.8*amount" (--gain); it was 'fn'."""
    ),
    "audit payments.csv --again nowhere": ("There is no nowhere/audit.toml; name a folder that scarce audit wrote."),
    "audit absent.toml": "There is no file absent.toml; check the path.",
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
    table = make_table(100).assign(price=[f"{i}.5 €" for i in range(100)], year=2000)
    table.loc[7, "price"] = "free"
    table["year"] = table["year"].astype(str).where(table.index != 3, "1976A")
    table.to_csv("text.csv", index=False)
    (place / "broken.parquet").write_text("broken")
    before = sorted(place.iterdir())
    for file, message in {
        "text.csv": "There are 2 faults:\n* Column 'price' holds numbers and also text such as 'free' (data row 8); "
        "leave such cells empty, or name the column's kind (--types), or leave the column out (--drop).\n* Column "
        "'year'",
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
    error = capsys.readouterr().err
    assert "no data set named 'vine'. Did you mean 'wine'" in error
    assert error.endswith("The command scarce data list shows all names.\n")


def test_a_fetched_set_is_a_table_that_the_audit_reads(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("data", "fetch", "wine", "--out", "wine.parquet", monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr().out
    assert printed == "wine.parquet: 178 rows. Next: scarce audit wine.parquet --target target\n"
    assert call("audit", "wine.parquet", "--target", "target", "--budget", 10, monkeypatch=monkeypatch) == 0
    assert "178 rows, 59 positive" in capsys.readouterr().out
    for out, message in {
        "wine.parquet": "exists already; name another place (--out), or have it replaced (--force).",
        "wine.xls": "wine.xls is neither .parquet nor .csv by its name; give the file one of these endings.",
    }.items():
        assert call("data", "fetch", "wine", "--out", out, monkeypatch=monkeypatch) == 2
        assert message in capsys.readouterr().err


def test_simulated_tables_are_marked(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("data", "list", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.count("SIMULATED") == 2
    assert call("data", "info", "simulated-companies", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.startswith("SIMULATED declarations of companies")
    assert call("data", "fetch", "simulated-companies", monkeypatch=monkeypatch) == 2
    assert "is simulated, not fetched; write it to a file (--out)" in capsys.readouterr().err
    arguments = ("simulated-companies", "--out", "companies.parquet")
    assert call("data", "fetch", *arguments, monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.startswith("SIMULATED companies.parquet: 40,000 rows. Next: scarce audit")
    pd.testing.assert_frame_equal(pd.read_parquet("companies.parquet"), make_companies().frame)
    assert read_table("companies.parquet").notes == ("companies.parquet is SIMULATED: no row in it is real.",)


def test_kinds_of_columns_can_be_named(place: Path, monkeypatch, capsys) -> None:
    for words, message in {
        "age": "--types is written COLUMN=KIND, such as year=category; it was 'age'.",
        "ages=number": "The table has no column 'ages' for --types; did you mean 'age'",
        "age=text": "'text' is no kind of column (--types); choose one of 'number', 'category' and 'date'.",
    }.items():
        arguments = ("payments.csv", "--target", "fraud", "--types", words)
        assert call("audit", *arguments, monkeypatch=monkeypatch) == 2
        assert message in capsys.readouterr().err


def test_the_version_is_that_of_the_package(monkeypatch, capsys) -> None:
    assert call("--version", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.strip() == scarce.__version__


def test_a_link_to_itself_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "circle.csv").symlink_to(tmp_path / "circle.csv")
    assert table_name(str(tmp_path / "circle.csv")) == "circle"


def test_what_no_command_takes(place: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in (-1, 2**32):
        assert call("monitor", "here", "payments.csv", f"--seed={seed}", monkeypatch=monkeypatch) == 2
        assert f"--seed is a whole number from 0 to 4294967295; it was {seed}." in capsys.readouterr().err
    assert call("score", ".", "payments.csv", "--out", "payments.csv", "--force", monkeypatch=monkeypatch) == 2
    assert "is the table itself, which its ranking would replace" in capsys.readouterr().err
    assert call("score", ".", "payments.csv", monkeypatch=monkeypatch) == 2
    assert "There is no model model.skops" in capsys.readouterr().err
