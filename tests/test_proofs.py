"""Small versions of the proofs, which can fail, and what `make prove-NAME` prints and writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofs import gamma, scale, scale_work, two_gammas
from proofs.__main__ import PROOFS, main
from proofs.cases import Case, MissingSets, Proof, sets_of
from proofs.page import FOLDER, table, tally
from scarce.datasets import DatasetUnavailable, load
from scarce.neighbors import GammaKNN

ROOT = Path(__file__).resolve().parents[1]


def test_no_gamma_of_a_grid_is_better_than_the_chosen_one():
    proof = gamma.prove(["wine", "hayes"], n_gammas=50)
    assert [case.place for case in proof.cases] == [(s, a) for s in ("wine", "hayes") for a in ("row-l2", "min-max")]
    assert proof.missed == 0


def test_a_gamma_that_is_not_the_best_is_found_out(monkeypatch):
    monkeypatch.setattr(gamma, "GammaKNN", lambda gamma=1.0, **options: GammaKNN(gamma=gamma, **options))
    proof = gamma.prove(["hayes"], n_gammas=50)
    assert proof.missed > 0


def test_honest_scores_are_those_of_models_without_each_row():
    assert two_gammas.prove(["hayes"], ["adasyn"]).missed == 0


def test_scores_of_rows_that_were_seen_are_found_out(monkeypatch):
    def seen(self, X, y, *grid):
        return two_gammas._plane(two_gammas._near(X, y, "smote", Seen()), y)

    class Seen:
        def split(self, X, y):
            yield range(len(X)), range(len(X))

    monkeypatch.setattr(two_gammas.ResampledGammaKNN, "plane", seen)
    assert two_gammas.prove(["hayes"], ["smote"]).missed == 1


@pytest.mark.parametrize(("kept", "code"), [(True, 0), (False, 1)])
def test_a_case_that_is_missed_is_counted_and_an_exit_code(kept, code, monkeypatch, tmp_path, capsys):
    proof = Proof("A title", "A statement.", ("set", "figure", "verdict"), [Case(("wine",), (0.5,), kept)])
    monkeypatch.setitem(PROOFS, "gamma", lambda: proof)
    assert main(["gamma", "--folder", str(tmp_path)]) == code
    assert f"1 cases: {1 - code} kept, {code} missed." in capsys.readouterr().out
    written = (tmp_path / "gamma.md").read_text()
    assert written.endswith(f"| wine | 0.5000 | {'kept' if kept else 'MISSED'} |\n")


@pytest.mark.parametrize("name", ["gamma", "two-gammas"])
def test_a_missing_set_ends_the_proof_and_leaves_its_table(name, monkeypatch, tmp_path, capsys):
    def without_hayes(name):
        if name == "hayes":
            raise DatasetUnavailable("not here")
        return load(name)

    monkeypatch.setattr("proofs.cases.load", without_hayes)
    written = tmp_path / f"{name}.md"
    written.write_text("as it was")
    assert main([name, "--folder", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("The proof needs hayes, not on this machine; scarce data info NAME shows")
    assert written.read_text() == "as it was"


def test_a_proof_without_any_set_proves_nothing():
    with pytest.raises(MissingSets, match="at least one data set"):
        sets_of([])


def test_counts_and_tables_are_those_of_benchmarks_too():
    assert tally([True, False, None, True]) == (2, 1, 1)
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


@pytest.mark.parametrize("name", ["gamma", "two-gammas"])
def test_every_proof_has_a_target_and_a_table_that_is_kept(name):
    assert f"\nprove-{name}: " in (ROOT / "Makefile").read_text()
    page = (FOLDER / f"{name}.md").read_text()
    counts = re.search(r"(\d+) cases: (\d+) kept, 0 missed", page)
    assert counts
    assert counts[1] == counts[2] == str(page.count("| kept |"))


def test_files_are_scored_as_all_rows_at_once(monkeypatch):
    monkeypatch.setattr(scale, "work", in_this_process)
    proof = scale.score(rows=4_000, files=4)
    # A few rows take longer in files than in memory; the other statements hold for any number.
    assert [case.kept for case in proof.cases[1:]] == [True, True, True]


def in_this_process(task, **options):
    found = getattr(scale_work, task)(
        **{name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    )
    return {"seconds": 1.0, "peak": 1.0, **found}
