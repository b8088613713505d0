"""The command, as a user calls it."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console
from sklearn.datasets import make_classification

from scarce.cli import main
from scarce.cli.study import progress_table
from scarce.study import Progress, load_study


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Call the command in an empty folder; return the exit code and what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["scarce", "study", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out + captured.err

    return run


def test_run_then_show_then_page(call, tmp_path):
    some = ("--sets", "wine,glass", "--splits", 2, "--methods", "3-NN;γk-NN", "--jobs", 1)
    code, out = call("run", "gamma/table2", *some)
    assert code == 0
    for text in (
        "16 cells computed",
        "Reduced: 2 of 19 sets.",
        "Reduced: 2 of 5 splits.",
        "Erratum gamma-scaling",
        "★",
    ):
        assert text in " ".join(out.split())
    folder = tmp_path / "study"
    written = {file.name for file in (folder / "gamma-table2").iterdir()}
    assert written == {"report.html", "table.csv", "cells.csv", "table.tex"}

    # The same command computes nothing, a larger one only what is new.
    assert "0 cells computed, 16 others" in call("run", "gamma/table2", *some)[1]
    more = ("--sets", "wine,glass", "--splits", 3, "--methods", "3-NN;γk-NN", "--jobs", 1)
    assert "8 cells computed, 16 others" in call("run", "gamma/table2", *more)[1]

    code, out = call("show", "gamma/table2", *some[:-2])
    assert code == 0
    assert "16 of 16 cells" in " ".join(out.split())
    code, out = call("list")
    assert code == 0
    assert "gamma/table2" in out
    assert call("page", "results")[0] == 0
    assert "gamma/table2" in (tmp_path / "results" / "gamma.md").read_text()


def test_compare_on_a_table_of_ones_own(call, tmp_path):
    X, y = make_classification(300, 4, n_informative=3, n_redundant=0, weights=[0.85], random_state=0)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(colour=["red", "blue", None] * 100, outcome=y)
    frame["outcome"] = frame["outcome"].map({0: "good", 1: "bad"})
    frame.to_csv("mine.csv", index=False)
    arguments = ("compare", "--data", "mine.csv", "--target", "outcome", "--methods", "GammaKNN,GFRNN")
    code, out = call(*arguments, "--metric", "f1", "--splits", 1, "--jobs", 1)
    assert code == 0
    for text in ("GammaKNN", "GFRNN", "Extra trees, tuned threshold", "7 cells computed"):
        assert text in " ".join(out.split())
    assert "compare: 7 of 7 cells" in out  # progress as plain lines, since there is no terminal
    page = (tmp_path / "study" / "compare" / "report.html").read_text()
    for column_of_a_paper in ("printed", "not in the paper", "theirs beside ours"):
        assert column_of_a_paper not in page
        assert column_of_a_paper not in out
    assert "scarce study compare --target outcome" in page
    cells = pd.read_csv(tmp_path / "study" / "compare" / "cells.csv")
    assert set(cells["set"]) == {"mine"}
    assert cells.loc[cells["metric"] == "f1", "value"].between(0, 1).all()
    # Other contents are another set, though the name is the same.
    frame.iloc[::-1].to_csv("mine.csv", index=False)
    assert "7 cells computed" in " ".join(call(*arguments, "--splits", 1, "--jobs", 1)[1].split())


def test_compare_reads_what_the_audit_reads(call, tmp_path):
    X, y = make_classification(200, 3, n_informative=3, n_redundant=0, weights=[0.8], random_state=0)
    frame = pd.DataFrame(X, columns=list("abc")).assign(outcome=pd.Series(y).map({0: "good", 1: "bad"}))
    frame.loc[:9, "outcome"] = None
    for name, separator in (("one.csv", ";"), ("two.tsv", "\t"), ("three.csv.gz", ",")):
        frame.to_csv(name, sep=separator, index=False)
    tables = ("--data", "one.csv", "--data", "two.tsv", "--data", "three.csv.gz")
    code, out = call("compare", *tables, "--target", "outcome", "--methods", "GammaKNN", "--splits", 1, "--jobs", 1)
    assert code == 0
    assert "18 cells computed" in " ".join(out.split())
    cells = pd.read_csv(tmp_path / "study" / "compare" / "cells.csv")
    assert len(set(cells.loc[(cells["method"] == "GammaKNN") & (cells["metric"] == "ap"), "value"])) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "gamma/table99"), "There is no study 'gamma/table99'; scarce study list names them all."),
        (("run", "gamma/table2", "--sets", "nowhere"), "The study has no set 'nowhere'; it has balance"),
        (("show", "gamma/table2"), "There are no results in study; run a study first"),
        (
            ("compare", "--data", "none.csv", "--target", "y"),
            "There is no file none.csv; check the path, or did you mean few.csv.",
        ),
        (("compare", "--data", "none.csv", "--target", "y", "--methods", "Magic"), "There is no method 'Magic'"),
        (
            ("compare", "--data", "few.csv", "--target", "z"),
            "few.csv: The table has no column 'z' for --target; choose one of its columns 'x' and 'y'.",
        ),
        (("compare", "--data", "few.csv", "--target", "x"), "few.csv: The target column 'x' has 6 different values"),
        (("compare", "--data", "few.csv", "--target", "y"), "few.csv has 1 positive rows, and a comparison needs"),
        (
            ("compare", "--data", "few.csv", "--target", "y", "--positive", "2"),
            "few.csv: No row has y = 2, so there is no positive to learn from; "
            "choose one of the values '0' and '1' (--positive).",
        ),
        # The command has no option that drops or keeps a column, so none is named.
        (
            ("compare", "--data", "euros.csv", "--target", "y"),
            "euros.csv: Column 'x' holds numbers and also text such as '?' (data row 12); leave such cells empty.",
        ),
        (
            ("compare", "--data", "same.csv", "--target", "y"),
            "No column is left to learn from, because every one is constant, an identifier or a leak; add a column.",
        ),
        (("compare", "--data", "few.csv", "--target", "y", "--metric", "luck"), "There is no metric 'luck'"),
    ],
)
def test_what_the_user_can_correct_is_one_sentence(call, arguments, message):
    pd.DataFrame({"x": range(6), "y": [0, 0, 0, 0, 0, 1]}).to_csv("few.csv", index=False)
    outcomes = [0, 1] * 6
    pd.DataFrame({"x": [f"{i}.5 €" for i in range(11)] + ["?"], "y": outcomes}).to_csv("euros.csv", index=False)
    pd.DataFrame({"x": [1] * 12, "y": outcomes}).to_csv("same.csv", index=False)
    code, out = call(*arguments)
    assert code == 2
    assert message in out
    assert "Traceback" not in out


def test_the_live_table_has_a_count_for_each_set_and_method_and_the_time_left():
    study = load_study("gamma/table2").reduce(sets=["wine", "glass"], methods=["3-NN"])
    place = {("wine", "3-NN (min-max)"): [5, 5], ("glass", "3-NN (min-max)"): [2, 5]}
    progress = Progress(10, done=7, failed=1, by_place=place, seconds_left=95.0)
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(progress_table(study, progress, 65.0))
    text = console.export_text()
    console.file.close()
    assert "5/5" in text
    assert "2/5" in text
    assert "7 of 10 cells, 1 failed, 1:05 elapsed, about 1:35 left" in text
