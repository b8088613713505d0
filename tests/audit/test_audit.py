"""From a table to a folder and back."""

import json
import re
import shutil
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

import scarce
from scarce._files import sha256
from scarce.audit import Audit, AuditError, audit, load_model, plan, report_data, report_html, save, score_table
from scarce.tables import TableError
from scarce.tables.writing import write_csv
from tests.payments import make_table


@pytest.fixture(scope="module")
def half_known() -> pd.DataFrame:
    """A table whose last rows have no outcome yet, with a name that means mischief."""
    table = make_table(900, seed=1).drop(columns=["chargeback", "currency"])
    table["channel"] = table["channel"].replace("web", "<script>alert(1)</script>")
    table.loc[700:, "fraud"] = None
    return table


@pytest.fixture(scope="module")
def of_new_rows(half_known: pd.DataFrame) -> Audit:
    return audit(
        half_known, "fraud", budget=30, time="date", amount="amount", objective="profit", check_cost=10, seed=3
    )


def test_the_queue_is_ranked_by_honest_scores(result: Audit, table: pd.DataFrame) -> None:
    queue, winner = result.queue, result.comparison.winner
    tested = result.task.X.index[result.comparison.folds.tested]
    assert len(queue) == 50
    assert queue["rank"].tolist() == list(range(1, 51))
    assert queue["score"].is_monotonic_decreasing
    assert list(queue.columns) == [
        "rank",
        "row",
        "payment",
        "amount",
        "score",
        "threshold",
        "flagged",
        "probability",
        "outcome",
        "reasons",
    ]
    for name in ("payment", "amount"):
        assert queue[name].tolist() == table.loc[queue["row"], name].tolist()
    assert queue["outcome"].tolist() == table.loc[queue["row"], "fraud"].tolist()
    honest = pd.Series(winner.score, index=tested)
    np.testing.assert_array_equal(queue["score"], honest[queue["row"]])
    assert ((queue["flagged"] == "yes") == (queue["score"] > queue["threshold"])).all()
    # No row that was left out outranks, within its fold, a row that is in the queue.
    fold = pd.Series(result.comparison.folds.fold_of_tested, index=tested)
    for number in range(5):
        scores = honest[fold == number]
        queued = scores.index.isin(queue["row"])
        assert queued.sum() == 10
        assert scores[~queued].max() <= scores[queued].min()
    assert (queue["outcome"] == "yes").mean() == pytest.approx(winner.figures["precision"].estimate, abs=0.05)
    assert set(queue["threshold"]) == {result.threshold}


def test_stages_print_themselves(result: Audit) -> None:
    assert str(result.comparison).splitlines()[0].startswith(result.comparison.winner.candidate.name + ": ap 0.")
    assert result.comparison.summary in str(result.comparison)
    assert "γk-NN: 3 neighbours" in str(result.plan)
    assert len(str(result.readable).splitlines()) == 1 + len(result.readable.rules)
    assert str(result.comparison.blocks) == result.comparison.blocks.description
    assert len(repr(result.comparison)) < 20_000


def test_reasons_name_what_made_the_frauds(result: Audit) -> None:
    first = result.queue.head(10)["reasons"]
    assert first.str.contains("amount = ").mean() > 0.5
    assert first.str.contains(r"\(usual [\d.]+\) raises the probability from [\d.]+ % to [\d.]+ %").any()


def test_the_same_seed_gives_the_same_queue_and_report(half_known: pd.DataFrame) -> None:
    small = half_known.head(500)
    first, second = (audit(small, "fraud", budget=20, seed=5, quick=True) for _ in range(2))
    pd.testing.assert_frame_equal(first.queue, second.queue)
    assert first.threshold == second.threshold
    pages = []
    for outcome in (first, second):
        data = report_data(outcome)
        data["seconds"] = 0
        for method in data["comparison"]["methods"]:
            method["seconds"] = 0
        pages.append(report_html(outcome, data))
    assert pages[0] == pages[1]


def test_the_number_of_threads_changes_no_byte_of_the_queue(
    half_known: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = joblib.parallel_config
    monkeypatch.setattr(plan, "ROWS_FOR_THREADS", 0)
    written = set()
    for threads in (1, 3):
        monkeypatch.setattr(joblib, "cpu_count", lambda threads=threads: threads)
        monkeypatch.setattr(
            joblib, "parallel_config", lambda backend, n_jobs, threads=threads: config(backend, n_jobs=threads)
        )
        methods = ["lightgbm", "extra-trees", "meta-ap-forest"]
        result = audit(half_known.tail(400), "fraud", budget=40, methods=methods, seed=2)
        write_csv(result.queue, tmp_path / "queue.csv")
        written.add((tmp_path / "queue.csv").read_bytes())
    assert len(written) == 1


def test_the_order_of_the_rows_does_not_matter(half_known: pd.DataFrame) -> None:
    shuffled = half_known.sample(frac=1, random_state=1)
    for options in ({}, {"time": "date"}):
        one, other = (
            audit(table, "fraud", budget=20, methods=["lightgbm", "gamma-knn"], **options)
            for table in (half_known, shuffled)
        )
        assert one.queue["payment"].tolist() == other.queue["payment"].tolist()
        assert one.queue["score"].tolist() == other.queue["score"].tolist()
        assert one.comparison.lead == other.comparison.lead


def test_rows_of_unknown_outcome_become_the_queue(of_new_rows: Audit, half_known: pd.DataFrame) -> None:
    queue = of_new_rows.queue
    assert of_new_rows.new_rows
    assert len(queue) == 30
    assert (queue["row"] >= 700).all()
    assert "outcome" not in queue
    assert set(queue["threshold"]) == {of_new_rows.threshold}
    known = of_new_rows.task.X
    folds, blocks = of_new_rows.comparison.folds, of_new_rows.comparison.blocks
    assert len(known) == 700
    assert folds.by_time
    assert max(known.index) < 700
    # Parts of 116 or 117 rows are smaller than the 200 to rank, so that each has its share of the 30 checks.
    assert np.bincount(blocks.block).tolist() == [len(test) for _, test in folds.splits]
    assert blocks.budget.tolist() == [18, 17, 18, 17]


def test_profit_is_the_objective_that_was_asked_for(of_new_rows: Audit) -> None:
    profits = [o.figures["profit"].estimate for o in of_new_rows.comparison.outcomes]
    assert profits == sorted(profits, reverse=True)
    winner, task = of_new_rows.comparison.winner, of_new_rows.task
    tested = of_new_rows.comparison.folds.tested
    caught = winner.flagged & (task.y[tested] == 1)
    assert profits[0] == pytest.approx(task.amount[tested][caught].sum() - 10 * winner.flagged.sum())


def test_the_folder_holds_everything(folder: Path, result: Audit) -> None:
    assert {p.name for p in folder.iterdir()} == {
        "queue.csv",
        "queue.parquet",
        "queue.xlsx",
        "report.html",
        "report.json",
        "model.skops",
        "manifest.json",
        "training-rows.npy",
        "reference.parquet",
        "cases.json",
        "known.parquet",
        "audit.toml",
    }
    assert [p.name for p in folder.parent.iterdir()] == ["audit"]
    written = pd.read_csv(folder / "queue.csv")
    pd.testing.assert_frame_equal(written, result.queue, check_dtype=False)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["data"]["sha256"] == result.source.sha256
    assert manifest["data"]["simulated"] is False
    assert manifest["settings"]["seed"] == 0
    assert manifest["threshold"] == result.threshold
    assert manifest["winner"] == result.comparison.winner.candidate.name
    assert [c["name"] for c in manifest["columns"]] == ["date", "amount", "channel", "shop", "age"]
    assert manifest["packages"]["scikit-learn"]
    assert "out-of-fold" in manifest["queue"]


def test_an_interrupted_save_leaves_nothing(result: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(skops.io, "dump", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(result, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_saved_model_scores_as_the_one_in_memory(folder: Path, result: Audit, table: pd.DataFrame) -> None:
    shuffled = table.drop(columns=["fraud", "chargeback"]).iloc[:, ::-1]
    for model in (folder, folder / "model.skops"):
        ranked = score_table(model, shuffled)
        assert ranked["score"].is_monotonic_decreasing
        in_memory = result.model.score_samples(result.task.X)
        np.testing.assert_array_equal(ranked.set_index("row")["score"][result.task.X.index], in_memory)
    assert ranked["reasons"].head(50).notna().all()
    assert ranked["reasons"].iloc[50:].isna().all()
    assert (ranked["payment"] == table.loc[ranked["row"], "payment"].to_numpy()).all()


def test_every_candidate_can_be_saved_and_loaded(of_new_rows: Audit, tmp_path: Path) -> None:
    task = of_new_rows.task
    for outcome in of_new_rows.comparison.outcomes:
        model = task.fit(outcome.candidate.model)
        skops.io.dump(model, tmp_path / "model.skops")
        again = skops.io.load(tmp_path / "model.skops", trusted=scarce.trusted_types())
        np.testing.assert_array_equal(again.score_samples(task.X), model.score_samples(task.X))
        assert again[-1].threshold_ == model[-1].threshold_


def test_reasons_after_loading_are_those_before(of_new_rows: Audit, half_known: pd.DataFrame, tmp_path: Path) -> None:
    save(of_new_rows, tmp_path / "out")
    ranked = score_table(tmp_path / "out", half_known.iloc[700:])
    before = of_new_rows.queue
    assert ranked["reasons"].head(30).tolist() == before["reasons"].tolist()
    assert (ranked["row"].head(30) + 700).tolist() == before["row"].tolist()


def correct_hash(folder: Path) -> None:
    """Write the hash of the model into the manifest beside it."""
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["files"]["model.skops"] = sha256(folder / "model.skops")
    file.write_text(json.dumps(manifest))


def test_models_and_tables_that_do_not_fit_are_refused(folder: Path, table: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="lacks what the model learned from: add the column 'amount' and 'shop'"):
        score_table(folder, table.drop(columns=["shop", "amount"]))
    with pytest.raises(TableError, match="'amount' must hold numbers"):
        score_table(folder, table.assign(amount="lots"))
    with pytest.raises(AuditError, match="There is no model"):
        load_model(tmp_path / "nowhere")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    skops.io.dump(LogisticRegression(), foreign / "model.skops")
    with pytest.raises(AuditError, match=r"There is no .*manifest\.json; keep the model and its manifest"):
        load_model(foreign)
    (foreign / "manifest.json").write_text("[]")
    with pytest.raises(AuditError, match="it must be an object, and it is"):
        load_model(foreign)
    # Somebody who changes the model can change its hash too.
    changed = Path(shutil.copytree(folder, tmp_path / "changed"))
    skops.io.dump(FunctionTransformer(make_table), changed / "model.skops")
    correct_hash(changed)
    with pytest.raises(AuditError, match=r"holds types that no audit writes \(tests\.payments\.make_table\)"):
        load_model(changed)
    (changed / "model.skops").write_text("not a model")
    correct_hash(changed)
    with pytest.raises(AuditError, match="is not a model that scarce audit wrote"):
        load_model(changed)


def test_the_report_needs_nothing_but_itself(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    assert "http" not in page
    assert not re.search(r"<(link|img|iframe|object)\b|@import|url\((?!#)", page)
    assert not re.search(r"""(src|href)=["'](?!#)""", page)
    # Five of the methods, calibration, importance, five dependences, and a small distribution of each of seven columns.
    assert page.count("<svg") == 19
    assert json.loads((folder / "report.json").read_text())["budget"] == 50


def test_the_report_shows_what_matters(folder: Path, result: Audit) -> None:
    page = (folder / "report.html").read_text()
    data = json.loads((folder / "report.json").read_text())
    assert data == json.loads(json.dumps(report_data(result)))
    assert "LEAK: column &#39;chargeback&#39; was left out" in page
    for outcome in result.comparison.outcomes:
        assert outcome.candidate.name in page
    assert page.count('<td class="why"') == 5 + 50  # the head of the queue is on the first screen too
    assert data["queue"]["positives"] == (result.queue["outcome"] == "yes").sum()
    assert data["headline"]["hits_low"] <= data["headline"]["hits"] <= data["headline"]["hits_high"]
    assert any("(`time`)" in warning for warning in data["warnings"])
    assert "SIMULATED" not in page


def test_cells_cannot_write_into_the_report(of_new_rows: Audit) -> None:
    data = report_data(of_new_rows)
    assert "<script>alert(1)</script>" in json.dumps(data)
    page = report_html(of_new_rows, data)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"target": None}, r"Name the column of outcomes \(`target`\)"),
        ({"target": "fruad"}, "no column 'fruad' for `target`; did you mean 'fraud'"),
        ({"budget": 0}, "`budget` is the number of rows that can be checked, at least 1, .*; it was 0"),
        ({"budget": "100/hour"}, "`budget` .* in each period such as 100/day; it was 100/hour"),
        ({"budget": "10/day"}, r"A budget for each day needs the dates of the rows; name their column \(`time`\)"),
        ({"delay": "7d"}, r"`delay` is the time .*; name the column of time too \(`time`\)"),
        ({"methods": ["gama-knn"]}, r"There is no method 'gama-knn' \(`methods`\); did you mean 'gamma-knn'\?"),
        ({"methods": ["bayes"]}, "The method 'bayes' learns from money; set the objective profit too"),
        ({"explore": 0.9}, "`explore` is the share of the queue that is drawn at random, 0 to 0.5; it was 0.9"),
        ({"rank": "week"}, "`rank` names a column and its value, such as week=2024-09; it was 'week'"),
        ({"rank": "channel=fax"}, r"No row has channel = fax \(`rank`\); the column holds values such as"),
        ({"unlabelled": "negative"}, "Rows of unknown outcome count as negative .* only where others are named"),
        ({"checked": "age"}, r"The column 'age' \(`checked`\) must hold yes or no, and data row \d+ holds"),
        ({"minutes": 0.0}, "`minutes` is a limit of time, more than 0; it was 0"),
        ({"sample": 10}, "`sample` is a number of rows to learn from, at least 1,000; it was 10"),
        ({"bugdet": 3}, "An audit has no option 'bugdet'; it has target, budget"),
        ({"gains": {"fn": "-amount"}}, "Gains are what the objective profit maximises"),
        ({"objective": "profit", "gains": {"fn": "-amout"}}, r"The gains cannot be computed \(`gains`\)\. .*'amout'"),
        ({"amount": "channel"}, "amount column 'channel' must hold numbers, and data row 1 holds '.*'; write plain"),
        ({"amount": "fraud"}, "`amount` names the target column 'fraud'; name another"),
        ({"time": "channel"}, "time column 'channel' holds cells that are neither dates nor numbers"),
        (
            {"time": "age"},
            r"time column 'age' is empty in \d+ rows, .*; fill these cells, or .* \(no `time`\)",
        ),
        ({"drop": ["shoop"]}, "no column 'shoop' for `drop`; did you mean 'shop'"),
        ({"objective": "profit"}, r"The objective profit needs the money at stake .* \(`amount`\)"),
        ({"objective": "profit", "amount": "amount"}, r"needs the cost of one check \(`check_cost`\)"),
        ({"check_cost": -1.0}, "`check_cost` is what one check costs, 0 or more; it was -1"),
    ],
)
def test_each_mistake_has_its_sentence(table: pd.DataFrame, options: dict, sentence: str) -> None:
    with pytest.raises((AuditError, TableError), match=sentence) as caught:
        audit(table, **{"target": "fraud", **options})
    assert str(caught.value).endswith((".", "?"))


def test_a_budget_beyond_the_table_and_odd_amounts_are_reported(half_known: pd.DataFrame) -> None:
    few = half_known.head(400).assign(step=np.arange(400))
    few.loc[0, "amount"] = np.nan
    few.loc[1, "amount"] = -5.0
    outcome = audit(few, "fraud", budget=10_000, amount="amount", time="step", objective="budget", quick=True)
    tested = len(outcome.comparison.folds.tested)
    assert len(outcome.queue) == tested
    warnings = " ".join(outcome.warnings)
    assert f"There are {tested} rows to rank, and the budget of 10,000 is enough for all of them" in warnings
    # Precision among all rows is the same for every method, so that another figure has to choose.
    assert set(outcome.comparison.winner.figures) == {"ap", "f1"}
    assert outcome.comparison.deciding == "ap"
    data = report_data(outcome)
    assert data["headline"]["recall"] is None
    assert "are found within the budget" not in report_html(outcome, data)
    assert "Rows without an amount, which counts as 0: 1." in warnings
    assert "Rows with a negative amount, such as refunds: 1. They are left out of every figure of money." in warnings
    assert {c.name: c.role for c in outcome.profile.columns}["step"] == "order"


def test_an_export_of_a_spreadsheet_is_audited_and_scored(tmp_path: Path) -> None:
    plain = make_table(500, seed=4).drop(columns=["chargeback", "currency"])
    written = plain.assign(
        amount=[f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in plain["amount"]],
        date=pd.to_datetime(plain["date"]).dt.strftime("%d-%b-%y"),
        fraud=plain["fraud"].where(plain.index % 2 == 0, plain["fraud"].str.upper() + " "),
    )
    written.to_csv(tmp_path / "export.csv", sep=";", index=False, encoding="cp1252")
    result = audit(tmp_path / "export.csv", "fraud", budget=20, amount="amount", time="date")
    assert result.profile.positives == (plain["fraud"] == "yes").sum()
    np.testing.assert_array_equal(result.task.amount, plain["amount"].loc[result.task.X.index])
    notes = " ".join(result.warnings)
    assert "'YES ' and 'yes' are read as one label" in notes
    assert "two-digit years" in notes
    assert "read as Latin-1" in notes
    assert report_data(result)["warnings"] == result.warnings
    save(result, tmp_path / "out")
    # A part of the rows would be read otherwise if it were read alone: 1,50 € is no longer beside 1.234,50 €.
    few = written.iloc[300:320].drop(columns="fraud")
    few.to_csv(tmp_path / "few.csv", sep="\t", index=False, encoding="utf-16")
    ranked = score_table(tmp_path / "out", tmp_path / "few.csv").set_index("row").sort_index()
    expected = result.model.score_samples(result.task.X.loc[range(300, 320)])
    np.testing.assert_array_equal(ranked["score"], expected)
    assert (ranked["learned_from"] == "yes").all()
