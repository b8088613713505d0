"""The report shows what the store holds, the paper's figures beside it, and refers to nothing outside itself."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from scarce.study import Outcome, Store, list_studies, load_study, run_study
from scarce.study.kept import NOT_SINCE, read_pages
from scarce.study.page import write_pages
from scarce.study.report import html, latex, write_report
from scarce.study.spec import Study
from scarce.study.tabulation import tabulate


@pytest.fixture
def reported(tmp_path: Path, small: str) -> tuple[dict[str, Any], Path, Store]:
    study = load_study(small)
    store = Store(tmp_path / "store")
    run_study(study, store)
    return write_report(study, store, tmp_path / "out"), tmp_path / "out", store


def fill(store: Store, study: Study, value: Any) -> None:
    """Write a figure for every cell of a study without computing it."""
    for planned in study.plan():
        settings = {"set": planned.set, "split": planned.split, "method": planned.method.column}
        figures = value(planned)
        store.write(planned.cell.key, settings, Outcome(figures, 0.5, 0.5, versions={"python": "3"}))


def test_figures_are_means_over_splits_and_then_over_sets(reported):
    data, _, store = reported
    table = data["tables"][0]
    assert (table["metric"], table["sets"]) == ("f1", ["wine", "glass"])
    column = next(c for c in table["columns"] if c["column"] == "3-NN")
    study = load_study(str(store.path.parent / "small.toml"))
    keys = [p.cell.key for p in study.plan() if p.method.label == "3-NN" and p.set == "wine"]
    by_hand = fmean(outcome.figures["f1"] for outcome in store.read(keys).values())
    assert column["values"][0] == pytest.approx(by_hand)
    assert column["mean"] == pytest.approx(fmean(column["values"]))
    assert column["printed"] == [0.88, 0.73]
    assert column["difference"] == pytest.approx(column["mean"] - fmean([0.88, 0.73]))


def test_the_page_stands_alone(reported):
    data, folder, _ = reported
    page = (folder / "report.html").read_text()
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', page)
    assert "http" not in page.replace("http://www.w3.org/1999/xlink", "")
    assert page.count("<svg") == page.count("</svg>") >= 3
    for text in ("small-erratum", "Nowhere, Table 1", "3-NN is better than plain", "0.880"):
        assert text in page
    for column in data["tables"][0]["columns"]:
        assert f"{column['mean']:.3f}" in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_csv_and_latex_hold_the_same_figures(reported):
    data, folder, _ = reported
    with (folder / "table.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    [wine] = [line for line in lines if (line["set"], line["method"], line["metric"]) == ("wine", "3-NN", "f1")]
    column = next(c for c in data["tables"][0]["columns"] if c["column"] == "3-NN")
    assert float(wine["ours"]) == column["values"][0]
    assert float(wine["printed"]) == 0.88
    with (folder / "cells.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert len({(c["set"], c["split"], c["method"]) for c in cells}) == 12
    tex = (folder / "table.tex").read_text()
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") == 2
    assert f"{column['values'][0]:.3f}" in tex


def test_the_best_figure_is_bold_and_special_characters_are_tex():
    column = {"printed_mean": None, "n_sets": 1, "scaling": "none", "rival": False}
    data = {
        "name": "n", "source": "s", "has_printed": True,
        "tables": [{"label": "F1", "lower_is_better": False, "sets": ["a_b"], "columns": [
            {**column, "column": "γ%", "mean": 0.5, "values": [0.5]},
            {**column, "column": "x", "mean": 0.7, "values": [0.7]},
        ]}],
    }  # fmt: skip
    tex = latex(data)
    assert r"a\_b & 0.500 & \textbf{0.700} \\" in tex
    assert r"$\gamma$\%" in tex


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [(0.9, 0.5, "confirmed"), (0.5, 0.9, "refuted")],
)
def test_statements_are_judged(tmp_path, ours, theirs, verdict):
    study = load_study("gamma/table2").reduce(splits=2)
    study = replace(study, methods=tuple(method for method in study.methods if method.scaling == "min-max"))
    noise = np.random.default_rng(0)

    def value(planned: Any) -> dict[str, float]:
        centre = ours if planned.method.label == "γk-NN" else theirs
        return {"f1": centre + noise.normal(0, 0.01)}

    with Store(tmp_path / "s") as store:
        fill(store, study, value)
        data = tabulate(study, store)
    assert {claim["verdict"] for claim in data["claims"]} == {verdict}
    ranking = data["tables"][0]["rankings"]["the study's methods"]
    assert (ranking["ranks"]["γk-NN (min-max)"] == 1) == (verdict == "confirmed")
    assert ranking["control"] == "γk-NN (min-max)"
    assert ranking["friedman_p"] < 0.05


def test_statements_on_ranks_are_judged(tmp_path):
    study = load_study("gfrnn/table5").reduce(splits=1)
    height = {"GFRNN": 0.9, "PNN": 0.8, "ENN": 0.7, "CCNND": 0.6, "LI-kNN": 0.5}
    with Store(tmp_path / "s") as store:
        fill(store, study, lambda planned: {"gmean": height.get(planned.method.label, 0.1), "balanced_accuracy": 0.5})
        verdicts = {claim["text"]: claim["verdict"] for claim in tabulate(study, store)["claims"]}
    assert verdicts == {
        "GFRNN has the best mean rank": "confirmed",
        "GFRNN differs significantly from CCNND and LI-kNN": "confirmed",
        "GFRNN and ENN do not differ significantly": "refuted",
        "by GM GFRNN differs significantly from PNN": "confirmed",
    }


@pytest.mark.parametrize(
    "name", ["gamma/fig5", "gamma/fig6", "metaap/fig3", "metaap/fig4", "metaap/fig5", "metaap/fig6", "gfrnn/table12"]
)
def test_figures_are_drawn_in_the_papers_forms(tmp_path, name):
    study = load_study(name).reduce(splits=1)
    with Store(tmp_path / "s") as store:
        fill(store, study, lambda planned: dict.fromkeys((*study.metrics, "p@10"), 0.1))
        data = tabulate(study, store)
    assert data["curves"]
    for curve in data["curves"]:
        assert curve.get("points") or all(len(line) > 1 for line in curve["lines"].values())
    assert "<h2>The figure</h2>" in html({**data, "tables": data["tables"][:1]})


def test_what_is_not_run_is_open(tmp_path):
    with Store(tmp_path / "s") as store:
        data = tabulate(load_study("gamma/table2"), store)
        assert {claim["verdict"] for claim in data["claims"]} == {"not run"}
        assert data["cells"]["done"] == 0
        assert "not run" in html(data)


def test_the_map_of_all_results_is_written_from_the_store(tmp_path):
    study = load_study("gamma/table2").reduce(splits=2)
    with Store(tmp_path / "s") as store:
        fill(store, study, lambda planned: {"f1": 0.5})
        write_pages(store, tmp_path / "pages")
    pages = {file.stem: file.read_text() for file in (tmp_path / "pages").glob("*.md")}
    assert set(pages) == {"index", "gamma", "gfrnn", "ccnnd", "metaap", "thesis", "comparisons"}
    overview, page = pages["index"], pages["gamma"]
    assert "| [gamma/table2](gamma.md#gammatable2) | F1 | " in overview
    assert "| 0.607 | 0.500 | −0.107 |" in overview
    assert "scarce study run gamma/table2 --splits 2" in page
    assert "Reduced: 2 of 5 splits" in page
    assert "| [me2/table3.2](thesis.md#me2table32) | F1 of ME² and nine rivals | not run |" in overview
    verdicts = re.findall(r"\| (confirmed|refuted|inconclusive) \|(?: [^|]* \|){4}$", page, re.MULTILINE)
    # All figures are the same, so nothing differs.
    assert set(verdicts) == {"inconclusive"}
    counted = [str(verdicts.count(each)) for each in ("confirmed", "refuted", "inconclusive")]
    assert f"| [γk-NN](gamma.md) | Viola et al., ICTAI 2019 | 7 | 3 | {' | '.join(counted)} |" in overview
    # Three studies share cells with it. Every link leads to a heading of a page.
    for name, text in pages.items():
        for to, anchor in re.findall(r"\]\((?:(\w+)\.md)?#([^)]+)\)", text):
            titles = re.findall(r"^##+ (\S+)$", pages[to or name], re.MULTILINE)
            assert anchor in {re.sub(r"[^\w-]", "", title.lower()) for title in titles}, anchor
    assert "(#gamma-scaling)" in page


def test_a_small_difference_is_inconclusive_and_the_smallest_detectable_one_is_given(tmp_path):
    study = load_study("gamma/table2").reduce(splits=2)
    study = replace(study, methods=tuple(method for method in study.methods if method.scaling == "min-max"))
    noise = np.random.default_rng(0)
    with Store(tmp_path / "s") as store:
        fill(
            store,
            study,
            lambda planned: {"f1": 0.5 + noise.normal(0, 0.05) + 0.001 * (planned.method.label == "γk-NN")},
        )
        data = tabulate(study, store)
    page = html(data)
    for claim in data["claims"]:
        assert claim["verdict"] == "inconclusive"
        assert claim["low"] < claim["difference"] < claim["high"]
        assert claim["least"] == pytest.approx((claim["high"] - claim["low"]) / 2)
        assert f"{claim['least']:.3f}" in page


def test_one_split_of_few_sets_tells_nothing(reported):
    data, _, store = reported
    assert data["claims"][0]["low"] < data["claims"][0]["difference"] < data["claims"][0]["high"]
    one = tabulate(load_study(str(store.path.parent / "small.toml")).reduce(splits=1), store)["claims"][0]
    assert (one["verdict"], one["low"], one["detail"]) == (
        "inconclusive",
        None,
        "over 2 splits of 2 sets, which has no interval",
    )


class TestEarlierPages:
    """What is not in the store is kept from the pages that are there, and marked where the study was changed."""

    @pytest.fixture
    def pages(self, tmp_path):
        study = load_study("gamma/table2").reduce(splits=2)
        with Store(tmp_path / "full") as store:
            fill(store, study, lambda planned: {"f1": 0.9 if planned.method.label == "γk-NN" else 0.5})
            write_pages(store, tmp_path / "pages")
        return tmp_path / "pages"

    def write_without_results(self, pages, tmp_path):
        with Store(tmp_path / "empty") as store:
            write_pages(store, pages)
        return (pages / "index.md").read_text(), (pages / "gamma.md").read_text()

    def test_a_study_that_is_not_in_the_store_keeps_its_section(self, pages, tmp_path):
        before = {file.name: file.read_text() for file in pages.glob("*.md")}
        assert " confirmed |" in before["gamma.md"]
        self.write_without_results(pages, tmp_path)
        assert {file.name: file.read_text() for file in pages.glob("*.md")} == before

    def test_a_study_that_was_changed_says_so_once(self, pages, tmp_path):
        stamp = load_study("gamma/table2").stamp
        page = (pages / "gamma.md").read_text()
        (pages / "gamma.md").write_text(page.replace(stamp, "0123456789ab"))
        for _ in range(2):
            index, page = self.write_without_results(pages, tmp_path)
            [section] = [part for part in page.split("\n## ") if part.startswith("gamma/table2")]
            assert section.count(NOT_SINCE) == 1
            line = next(line for line in index.split("\n") if line.startswith("| [gamma/table2]"))
            assert line.count("not run since") == 1
            # Verdicts on figures of another study count for nothing.
            assert re.search(r"\[γk-NN\]\(gamma.md\) .* \| 0 \| 0 \| 0 \|$", index, re.MULTILINE)

    def test_a_few_cells_do_not_replace_a_table(self, pages, tmp_path):
        before = (pages / "gamma.md").read_text()
        with Store(tmp_path / "part") as store:
            part = load_study("gamma/table2").reduce(splits=1, sets=["wine"])
            fill(store, part, lambda planned: {"f1": 0.1})
            write_pages(store, pages)
        assert (pages / "gamma.md").read_text() == before

    def test_the_stamp_is_that_of_the_protocol(self):
        study = load_study("gamma/table2")
        assert study.stamp == study.reduce(splits=2).stamp
        assert study.stamp != replace(study, protocol={**study.protocol, "test_size": 0.25}).stamp
        assert study.stamp != replace(study, methods=study.methods[1:]).stamp


def test_the_pages_of_the_documentation_are_those_of_the_studies_or_say_that_they_are_not():
    folder = Path(__file__).resolve().parents[2] / "docs" / "reproduction"
    pages = read_pages(folder, list_studies())
    assert len(pages) > 30
    for name, kept in pages.items():
        assert "<!-- cells " in kept.section, f"The page of {name} does not tell which cells it is of."
        if kept.is_stale(load_study(name).stamp):
            assert NOT_SINCE in kept.section, f"{name} was changed: write the pages anew (scarce study page)."
            assert all("not run since" in line for line in kept.overview)


def test_the_page_distinguishes_cells_that_failed_from_cells_that_were_not_run(tmp_path):
    study = load_study("gamma/table2").reduce(splits=1)
    failing, _, *rest = study.plan()
    with Store(tmp_path / "s") as store:
        for planned in rest:
            store.write(planned.cell.key, {"set": planned.set, "split": 0, "method": "any"}, Outcome({"f1": 0.5}))
        store.write(
            failing.cell.key, {}, Outcome(error="ValueError: All fits failed.\n\nValueError: There is no such row.\n")
        )
        write_pages(store, tmp_path)
    page = (tmp_path / "gamma.md").read_text()
    assert "**Not complete**: 1 cell was not run. 1 cell has no result: " in page
    assert f"{failing.method.column} on {failing.set}, ValueError: There is no such row." in page
