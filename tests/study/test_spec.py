"""Studies are data: every file can be read, has only keys that the runner knows, and names its cells for good."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from scarce.audit.methods import Size, boosting
from scarce.study import Store, StudyError, list_studies, load_study, run_study
from scarce.study.build import build
from scarce.study.compute import compute
from scarce.study.measures import LABELS
from scarce.study.runner import needs
from scarce.study.spec import parse_study

from .conftest import STUDY

NAMED = [
    "all-methods", "calibration/bars",
    "ccnnd/table2", "ccnnd/table3", "cone/development", "cone/fig5.5-5.8", "cone/models-needed", "cone/table5.2",
    "desk/memory",
    "gamma/creditcard", "gamma/fig4", "gamma/fig5", "gamma/fig6", "gamma/local", "gamma/table2", "gamma/table3",
    "gfrnn/defaults",
    *(f"gfrnn/table{n}" for n in range(4, 13)), "me2/choices", "me2/development", "me2/fig3.6", "me2/table3.2",
    "me2/table4.3",
    "metaap/fig3", "metaap/fig4", "metaap/fig5", "metaap/fig6", "metaap/forests", "metric/f1",
    "metric/lmnn", "profit/fig6.1",
    "profit/development", "profit/models", "profit/renewal", "profit/table6.2", "profit/tree-choices",
    "rankers/bins", "rankers/chosen",
    "rankers/fresh", "rankers/registry", "rankers/seen", "trees/ap-boosting", "trees/budget",
]  # fmt: skip


def test_every_study_that_is_promised_is_there():
    assert list_studies() == sorted(NAMED)


def test_pages_name_studies_that_exist_and_each_has_a_section_on_one_page():
    docs = Path(__file__).resolve().parents[2] / "docs"
    pages = [page.read_text() for page in docs.rglob("*.md")]
    commands = [line for page in pages for line in re.findall(r"^scarce study run (.*)$", page, re.MULTILINE)]
    shown = {name for line in commands for name in line.split(" --")[0].split() if not name.endswith(".toml")}
    assert shown == set(NAMED)
    results = [page.read_text() for page in (docs / "reproduction").glob("*.md")]
    sections = [name for page in results for name in re.findall(r"^## (.*)$", page, re.MULTILINE) if name != "Errata"]
    assert sorted(sections) == sorted(NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_every_study_is_whole(name):
    study = load_study(name)
    labels = {method.label for method in study.methods}
    columns = [method.column for method in study.methods]
    assert len(columns) == len(set(columns))
    assert study.control in labels | {method.at.get("method") for method in study.methods}
    sets = {set_["label"] for set_ in study.sets}
    assert len(sets) == len(study.sets)
    for metric, block in study.printed.items():
        assert set(block["columns"]) <= labels
        assert metric in study.metrics
        rows = {key: row for key, row in block.items() if key not in ("columns", "percent")}
        assert set(rows) <= sets | {"mean"}
        for row in rows.values():
            assert len(row) == len(block["columns"])
            assert metric == "seconds" or all(value <= (100 if block.get("percent") else 1) for value in row)
    for claim in study.claims:
        named = [claim[key] for key in ("better", "worse", "best", "control", "rises", "falls") if key in claim]
        assert set(named) | set(claim.get("beats", ())) | set(claim.get("level", ())) <= labels
        assert claim.get("metric", study.metrics[0]) in study.metrics
    for metric in study.metrics:
        assert metric in LABELS or metric.startswith("p@") or "→" in metric
    for erratum in study.errata:
        assert set(erratum) == {"id", "text"}


@pytest.mark.parametrize("name", NAMED)
def test_every_method_of_every_study_can_be_built(name):
    study = load_study(name)
    absent = needs(study)
    for planned in study.reduce(splits=1).plan():
        if planned.set == study.sets[0]["label"] and planned.method.column not in absent:
            model = build(planned.cell.method, planned.cell.protocol, seed=0, fewest=10)
            # A value that a parameter does not have would otherwise show only when the cell is computed.
            for part in (model, *model.get_params().values()):
                if hasattr(part, "_parameter_constraints"):
                    part._validate_params()


def test_the_papers_grid_is_an_option():
    exact, grid = load_study("gamma/table2"), load_study("gamma/table2", paper_grid=True)
    assert "γk-NN, paper's grid (row-l2)" in {method.column for method in grid.methods}
    assert not any(method.recipe.get("grid") for method in exact.methods)
    [planned] = [
        p for p in grid.reduce(sets=["wine"], splits=1).plan() if p.method.column == "γk-NN, paper's grid (min-max)"
    ]
    assert float(compute(planned.cell).chosen["model__gamma"]) in [n / 10 for n in range(1, 11)]


def test_a_cell_is_named_by_what_it_depends_on():
    table, figure = load_study("gamma/table2"), load_study("gamma/fig4")
    keys = {p.cell.key for p in table.plan()}
    assert len(keys) == len(table.plan())
    shared = {p.cell.key for p in figure.plan()} & keys
    assert len(shared) == 19 * 5 * 2 * 2  # 3-NN and γk-NN, with two scalings
    assert {p.cell.key for p in table.reduce(splits=2, sets=["wine"]).plan()} < keys


def test_a_study_may_have_the_sets_of_another():
    names = [set_["label"] for set_ in load_study("metric/f1").sets]
    assert names == [set_["label"] for set_ in load_study("gamma/table2").sets]


TINY = {
    # The choice by a budget, and precision at shares of the rows.
    ("trees/budget", "german", "top_k = 0.05"): {"p@1%", "p@5%", "p@10%"},
    ("metric/lmnn", "wine", "after LMNN"): {"accuracy"},
    ("metric/f1", "hayes", "γk-NN, k chosen"): {"f1"},
    ("trees/ap-boosting", "glass", "-log A"): {"ap"},
    ("me2/choices", "abalone20", "SVDD"): {"f1"},
    ("cone/models-needed", "yeast4", "CONE, 2 models"): {"search_f1", "area", "area of Parambath"},
}


@pytest.mark.parametrize("place", TINY, ids=lambda place: place[0])
def test_one_cell_of_each_comparison_of_our_own_runs(place):
    name, set_, method = place
    planned, *_ = load_study(name).reduce(sets=[set_], methods=[method], splits=1).plan()
    outcome = compute(planned.cell)
    assert not outcome.error
    assert {metric for metric in TINY[place] if 0 <= outcome.figures[metric] <= 1} == TINY[place]


@pytest.mark.parametrize(("name", "label"), [("profit/models", "Bayes rule"), ("profit/tree-choices", "forest")])
def test_one_cell_of_the_comparisons_by_money_runs(name, label):
    study = load_study(name).reduce(sets=["payments"], methods=[label], splits=1)
    [set_] = study.sets
    [planned] = replace(study, sets=({**set_, "rows": 4000},)).plan()
    figures = compute(planned.cell).figures
    # Both are shares of the profit of perfect decisions, one of all of it, one of what is beyond accepting every row.
    assert figures["gap"] >= 0
    assert figures["gained"] <= 1


def test_less_of_a_study_is_listed():
    study = load_study("gamma/table2").reduce(sets=["wine"], splits=2, methods=["3-NN"])
    assert len(study.plan()) == 4
    assert study.reduced == ("1 of 19 sets", "only 3-NN", "2 of 5 splits")
    assert load_study("gamma/table2").reduce(splits=99).reduced == ()


@pytest.mark.parametrize(
    ("less", "message"),
    [
        ({"sets": ["nowhere"]}, "no set 'nowhere'; it has balance"),
        ({"methods": ["magic"]}, "no method 'magic'; it has 3-NN"),
        ({"splits": 0}, "at least one split"),
    ],
)
def test_what_is_not_in_a_study_cannot_be_asked_of_it(less, message):
    with pytest.raises(StudyError, match=message):
        load_study("gamma/table2").reduce(**less)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "'colour' is no key of a study"),
        ({"protocol": {"kind": "shuffle", "splits": 1, "speed": 2}}, "'speed' is no key of protocol"),
        ({"methods": {"a": {"estimator": "GammaKNN", "size": 1}}}, "'size' is no key of method a"),
        ({"scalings": ["log"]}, "no scaling 'log'"),
    ],
)
def test_a_mistake_in_a_file_is_named(change, message):
    text = {
        "title": "t",
        "source": "s",
        "sets": ["wine"],
        "metrics": ["f1"],
        "protocol": {"kind": "shuffle", "splits": 1, "test_size": 0.3},
        "methods": {"a": {"estimator": "GammaKNN"}},
    }
    assert len(parse_study("mine", text).plan()) == 1
    with pytest.raises(StudyError, match=message):
        parse_study("mine", {**text, **change})


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(StudyError, match="no study 'gamma/table9'; scarce study list"):
        load_study("gamma/table9")
    with pytest.raises(StudyError, match="cannot be read"):
        load_study(str(tmp_path / "none.toml"))
    broken = tmp_path / "broken.toml"
    broken.write_text("title = ")
    with pytest.raises(StudyError, match="cannot be read"):
        load_study(str(broken))


def test_a_method_that_is_missing_is_left_out_and_named(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(STUDY.format(splits=1, seconds=0).replace("tests.study.slow.Slow", "scarce.future.Method", 1))
    study = load_study(str(file))
    assert needs(study) == {"plain": "scarce.future.Method"}
    with Store(tmp_path / "store") as store:
        assert run_study(study, store).total == 4
        with pytest.raises(StudyError, match=r"needs estimator scarce\.future\.Method"):
            run_study(study.reduce(methods=["plain"]), store)


def test_a_method_that_fails_stops_nobody(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(STUDY.format(splits=1, seconds="0, fail = true"))
    study = load_study(str(file))
    with Store(tmp_path / "store") as store:
        progress = run_study(study, store)
        assert (progress.new, progress.failed) == (4, 2)
        messages = set(store.failures([p.cell.key for p in study.plan()]).values())
        assert messages == {"RuntimeError: It was asked to fail."}
        # What failed is tried again, what is done is not.
        again = run_study(study, store)
        assert (again.new, again.failed) == (0, 2)


def test_cells_are_plain_data():
    for name in NAMED:
        cell = load_study(name).reduce(splits=1).plan()[0].cell
        assert json.loads(json.dumps(asdict(cell))) == asdict(cell)


def test_a_file_can_ask_for_none():
    model = build({"estimator": "ME2", "params": {"tune": "None"}}, {}, seed=0, fewest=10)
    assert model[-1].tune is None


def test_the_estimators_of_a_vote_are_built_and_seeded():
    tree = {"estimator": "sklearn.tree.DecisionTreeClassifier", "params": {"max_depth": 2}}
    vote = {"estimator": "sklearn.ensemble.VotingClassifier", "params": {"voting": "soft", "estimators": [["a", tree]]}}
    model = build(vote, {}, seed=7, fewest=10)
    assert model.get_params()["model__a"].get_params()["max_depth"] == 2
    assert model.get_params()["model__a__random_state"] == 7


def test_a_set_can_be_split_more_often_than_the_others():
    text = tomllib.loads(STUDY.format(splits=2, seconds=0.0))
    text["sets"] = ["wine", {"name": "glass", "splits": 5, "group": "g", "source": "s"}]
    study = parse_study("own", text)

    def splits_of(study):
        return {set_: sorted({p.split for p in study.plan() if p.set == set_}) for set_ in ("wine", "glass")}

    assert splits_of(study) == {"wine": [0, 1], "glass": [0, 1, 2, 3, 4]}
    assert splits_of(study.reduce(splits=3)) == {"wine": [0, 1], "glass": [0, 1, 2]}
    assert splits_of(study.reduce(splits=1)) == {"wine": [0], "glass": [0]}
    plain = parse_study("own", {**text, "sets": ["wine", "glass"]})
    assert {p.cell.key for p in plain.plan()} <= {p.cell.key for p in study.plan()}


def test_a_method_can_have_fewer_negatives_than_the_others(monkeypatch):
    seen = {}

    def rows_of(set_, *_):
        seen.update(set_)
        raise StudyError("stop")

    monkeypatch.setattr("scarce.study.compute.rows_of", rows_of)
    text = tomllib.loads(STUDY.format(splits=1, seconds=0.0))
    text["methods"]["plain"]["negatives"] = 50
    planned = parse_study("own", text).plan()
    plain, other = (next(p for p in planned if p.method.label == label).cell for label in ("plain", "3-NN"))
    assert compute(plain).error == "stop"
    assert seen.pop("negatives") == 50
    compute(other)
    assert "negatives" not in seen


def test_lightgbm_has_the_same_settings_wherever_it_is_the_rival():
    """Settings are part of a cell and stand in the files of the studies; the audit has them in code."""
    expected = boosting(Size(rows=100, positives=10, folds=3, seed=0)).get_params()
    rivals = {
        "gamma/table2": "LightGBM, tuned threshold",
        "profit/models": "Bayes rule",
        "profit/development": "Bayes rule",
    }
    methods = [m for name, label in rivals.items() for m in load_study(name).methods if m.label == label]
    assert len(methods) == 3
    for method in methods:
        found = method.recipe["params"]["estimator"]["params"]
        assert found == {name: expected[name] for name in found}
        assert {"n_estimators", "learning_rate", "num_leaves", "colsample_bytree", "reg_lambda"} <= set(found)
