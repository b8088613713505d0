"""The monitor on new rows of an audit, in Python and on files."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scarce._files import PathTakenError
from scarce.audit.reference import OWN
from scarce.cli import app
from scarce.desk.imports import import_folder
from scarce.engines import load_model
from scarce.monitor import MonitorError, PerformanceMonitor, rows, service
from scarce.monitor.files import monitor_table
from scarce.monitor.reference import load_reference
from tests.monitor.conftest import make_payments


@pytest.fixture(scope="module")
def monitor(plain: Path) -> PerformanceMonitor:
    return PerformanceMonitor(plain)


@pytest.fixture(autouse=True)
def _anew(monitor: PerformanceMonitor) -> None:
    monitor.resume({}, pd.DataFrame())
    monitor.reports.clear()


def new_rows(n: int = 2_000, seed: int = 1, **options) -> pd.DataFrame:
    return make_payments(n, seed, **options).drop(columns="date")


def test_the_reference_stands_for_all_tested_rows(plain, audited):
    for folder in (plain, audited):
        reference = load_reference(folder, load_model(folder))
        assert reference.weight.sum() == pytest.approx(reference.about["rows"])
        assert reference.weight @ reference.outcome == pytest.approx(reference.about["positives"])
        assert reference.drawn.all()  # so few rows are all there
        first = reference.queue(0.1)
        assert reference.weight[first].sum() == pytest.approx(0.1 * reference.about["rows"], abs=1)
        assert reference.rank[first].min() >= np.delete(reference.rank, first).max()
    assert (np.diff(reference.time.to_numpy()[first]) >= np.timedelta64(0)).all()


def test_nothing_is_found_where_nothing_changed(monitor):
    report = monitor.update(new_rows())
    assert not report.needs_person, str(report)
    assert report.period == 1
    assert report.outcomes is not None
    assert report.outcomes.known == 2_000
    assert report.outcomes.whole.recall is not None
    assert str(report).startswith("1: 2,000 rows, 2,000 outcomes known")
    json.dumps(report.as_dict(), allow_nan=False)


def test_before_outcomes_are_known_columns_scores_and_a_classifier_tell_of_drift(monitor):
    frame = new_rows().drop(columns="fraud")
    frame["amount"] *= 3
    frame.loc[::5, "channel"] = "app"
    frame.loc[::3, "age"] = np.nan
    report = monitor.update(frame, period="2025-01")
    text = "\n".join(report.alarms)
    assert report.outcomes is None
    assert report.needs_person
    for part in ("Column 'amount' differs", "'age' is empty in 3", "does not know in 20.0%", "A classifier tells"):
        assert part in text
    assert report.drift.telling[0][0] in ("amount", "channel")
    assert report.drift.auc.low > 0.55


def test_more_positives_within_the_budget_than_promised_need_a_person(monitor):
    frame = new_rows()
    X = frame.drop(columns="fraud")
    score = monitor.start()[0].rows(X)[OWN + "score"].to_numpy()
    y = (score >= np.sort(score)[-100]).astype(int)
    report = monitor.update(X, y)
    assert any("Precision within the budget is 100.0%" in alarm for alarm in report.alarms)
    assert any("100 of 100 checked rows" in alarm for alarm in report.alarms)


def test_checked_rows_of_all_runs_are_kept_once_and_tested_together(monitor, monkeypatch):
    tested = []

    def together(reference, checked, when=""):
        if when:
            tested.append(checked)
        return [f"{when}{len(checked)}"] if when else []

    monkeypatch.setattr(service, "alarms_of_checked", together)
    for seed in (11, 12, 12):  # the second rows are shown twice
        report = monitor.update(new_rows(seed=seed))
    assert report.alarms[-1] == "Since the audit, 200"
    assert [len(rows) for rows in tested] == [200, 200]
    assert tested[0][OWN + "probability"].sum() == pytest.approx(tested[1][OWN + "probability"].sum())
    assert (tested[0][OWN + "stands_among"] == 20).all()


def test_outcomes_of_checked_rows_alone_are_weighed_by_their_chances(monitor):
    frame = new_rows(4_000, 5)
    X, truth = frame.drop(columns="fraud"), (frame["fraud"] == "yes").to_numpy()
    score = monitor.start()[0].rows(X)[OWN + "score"].to_numpy()
    queued = np.argsort(-score, kind="stable")[:100]
    others = np.setdiff1d(np.arange(4_000), queued)
    missed = truth[others].sum()
    covered, estimates = 0, []
    for seed in range(30):
        monitor.resume({}, pd.DataFrame())
        drawn = np.random.default_rng(seed).choice(others, 400, replace=False)
        y, chance = np.full(4_000, -1), np.full(4_000, np.nan)
        y[queued], y[drawn], chance[drawn] = truth[queued], truth[drawn], 400 / len(others)
        batches, kept = monitor.start()
        kept.add(batches.rows(X, y, chance))
        from scarce.monitor.outcomes import measure_outcomes

        found = measure_outcomes(monitor.reference, kept, names={}).whole
        true = truth[queued].sum() / truth.sum()
        covered += found.recall.low <= true <= found.recall.high
        estimates.append(found.hits / found.recall.estimate - found.hits)
    assert found.precision.estimate == truth[queued].mean()
    assert covered >= 25
    assert np.mean(estimates) == pytest.approx(missed, rel=0.15)


def test_without_a_random_share_recall_is_not_made_up(monitor):
    frame = new_rows()
    X, truth = frame.drop(columns="fraud"), (frame["fraud"] == "yes").to_numpy()
    score = monitor.start()[0].rows(X)[OWN + "score"].to_numpy()
    y = np.where(np.argsort(np.argsort(-score, kind="stable")) < 60, truth, -1)
    report = monitor.update(X, y)
    assert report.outcomes.whole.recall is None
    assert report.outcomes.whole.checked == 60
    assert any("`explore`" in note for note in report.outcomes.notes)
    assert any("60 of the 100 rows" in note for note in report.outcomes.notes)


def test_training_rows_among_the_new_ones_are_noticed(monitor):
    frame = make_payments(3_000).drop(columns=["date", "fraud"])
    report = monitor.update(frame)
    assert report.trained_on == 1
    assert "training rows" in report.notes[0]


@pytest.mark.parametrize(
    ("frame", "y", "options", "message"),
    [
        (new_rows(60).head(0), None, {}, "no new rows"),
        (new_rows(60).drop(columns="amount"), None, {}, "add the column 'amount'"),
        (new_rows(60), [1, 0], {}, "one outcome for each of the 60 rows"),
        (new_rows(60), ["perhaps"] * 60, {}, "The outcome 'perhaps' .* is unknown"),
        (new_rows(60), None, {"period": "then"}, "cannot be compared"),
        (new_rows(60), None, {"period": 0}, "period 0, which is before 7"),
    ],
)
def test_what_cannot_be_monitored_is_refused_in_a_sentence(monitor, frame, y, options, message):
    monitor.resume({False: 7, True: 7}, pd.DataFrame())
    with pytest.raises(MonitorError, match=message):
        monitor.update(frame, y, **options)


def test_the_report_does_not_depend_on_how_a_table_is_divided(plain, monkeypatch):
    monkeypatch.setattr(rows, "SAMPLE", 300)
    monkeypatch.setattr(rows, "KNOWN", 200)
    monitor, frame = PerformanceMonitor(plain), new_rows()
    whole = monitor.update(frame).as_dict()
    monitor.resume({}, pd.DataFrame())
    batches, kept = monitor.start()
    for start in range(0, len(frame), 170):
        part = frame.iloc[start : start + 170].reset_index(drop=True)
        kept.add(batches.rows(part.astype({"fraud": "str"})))
    assert len(kept.sample.frame) == 300
    parts = monitor.finish(batches, kept).as_dict()
    assert parts["drift"]["expected"] == pytest.approx(whole["drift"]["expected"])
    assert parts["outcomes"] == whole["outcomes"]
    assert parts["drift"]["columns"] == whole["drift"]["columns"]


def save_rows(place: Path, start: str, seed: int, *, known: bool = True, **options) -> Path:
    frame = make_payments(1_200, seed, start=start, **options)
    (frame if known else frame.drop(columns="fraud")).to_csv(place, index=False)
    return place


def test_runs_are_remembered_and_drawn_and_periods_do_not_go_backwards(audited, tmp_path):
    out = tmp_path / "out"
    first = monitor_table(audited, save_rows(tmp_path / "a.csv", "2024-04-01", 3), out=out)
    assert not first.alarms, str(first)
    assert [p.name for p in first.outcomes.periods][:2] == ["2024-04-01", "2024-04-08"]
    # Of the last week not all outcomes are known a week later.
    assert first.outcomes.waiting > 0
    assert first.outcomes.whole.queued == 12 * (len(first.outcomes.periods) - 1)
    held = len(pd.read_parquet(out / "known.parquet"))
    assert len(pd.read_parquet(out / "checked.parquet")) == first.outcomes.whole.checked
    assert held == first.outcomes.known - first.outcomes.waiting
    monitor_table(audited, save_rows(tmp_path / "b.csv", "2024-07-01", 4), out=out)
    history = pd.read_parquet(out / "history.parquet")
    assert history["period"].is_monotonic_increasing
    assert len(history) == 2
    assert len(pd.read_parquet(out / "known.parquet")) > held
    page = (out / "monitor.html").read_text()
    # What can be scrolled can be reached by keyboard.
    assert page.count('<div class="scroll"') == page.count('<div class="scroll" tabindex="0" role="region" aria-label=')
    assert "Run by run" in page
    assert page.count("<svg") == 7
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert json.loads((out / "monitor.json").read_text())["rows"] == 1_200
    before = sorted((p.name, p.read_bytes()) for p in out.iterdir())
    with pytest.raises(MonitorError, match="is before 2024-09-08"):
        monitor_table(audited, tmp_path / "a.csv", out=out)
    assert sorted((p.name, p.read_bytes()) for p in out.iterdir()) == before


def test_outcomes_of_a_file_are_matched_by_identifier(audited, tmp_path):
    table = save_rows(tmp_path / "new.csv", "2024-04-01", 3, known=False)
    frame = make_payments(1_200, 3, start="2024-04-01")
    given = frame[["payment"]].assign(verdict=frame["fraud"].map({"yes": "positive", "no": "no"}))
    given.to_csv(tmp_path / "outcomes.csv", index=False)
    by_file = monitor_table(audited, table, outcomes=tmp_path / "outcomes.csv", out=tmp_path / "one")
    in_table = monitor_table(audited, save_rows(tmp_path / "all.csv", "2024-04-01", 3), out=tmp_path / "two")
    assert by_file.as_dict() == in_table.as_dict()


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        (pd.DataFrame({"payment": ["X1"], "verdict": ["yes"]}), "1 of the 1 outcomes are of rows that are not in"),
        (pd.DataFrame({"payment": ["X1"]}), "need a column 'verdict' or 'fraud'"),
        (pd.DataFrame({"who": ["X1"], "verdict": ["yes"]}), "do not tell which row is meant"),
        (pd.DataFrame({"row": [3], "verdict": ["yes"], "chance_drawn": [2.0]}), "greater than 0 and at most 1"),
    ],
)
def test_outcomes_that_cannot_be_used_are_refused_in_a_sentence(audited, tmp_path, outcomes, message):
    table = save_rows(tmp_path / "new.csv", "2024-04-01", 3, known=False)
    with pytest.raises(MonitorError, match=message):
        monitor_table(audited, table, outcomes=outcomes, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_others_is_not_written_over(audited, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("Keep me.")
    with pytest.raises(PathTakenError):
        monitor_table(audited, save_rows(tmp_path / "a.csv", "2024-04-01", 3), out=tmp_path / "out")


@pytest.mark.parametrize(
    ("days", "every", "action"), [(27, 28, "keep"), (28, 28, "renew"), (400, 0, "keep"), (9, 7, "renew")]
)
def test_a_model_is_renewed_in_time_whatever_the_outcomes_say(audited, tmp_path, days, every, action):
    folder = Path(shutil.copytree(audited, tmp_path / "audit"))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["written"] = (datetime.now(UTC) - timedelta(days=days, minutes=1)).isoformat(timespec="seconds")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    new = make_payments(1_200, 3, start="2024-04-01").drop(columns="fraud")
    report = PerformanceMonitor(folder, renew_every=every).update(new)
    assert report.advice.action == action
    assert report.needs_person == (action == "renew")
    assert (f"it is {days} days old" in report.advice.sentence) == (action == "renew")
    assert "of the latest rows are known to be positive" in report.advice.sentence
    with pytest.raises(MonitorError, match="a number of days, or 0 for never; it is -1"):
        PerformanceMonitor(folder, renew_every=-1)


def test_the_exit_code_is_3_where_something_needs_a_person(audited, tmp_path):
    from typer.testing import CliRunner

    well = save_rows(tmp_path / "well.csv", "2024-04-01", 3, known=False)
    run = CliRunner().invoke(app, ["monitor", str(audited), str(well), "--out", str(tmp_path / "out")])
    assert run.exit_code == 0, run.output
    assert "No alarm." in run.output
    frame = make_payments(1_200, 3, start="2024-07-01").drop(columns="fraud")
    frame.assign(amount=frame["amount"] * 5).to_csv(tmp_path / "ill.csv", index=False)
    run = CliRunner().invoke(app, ["monitor", str(audited), str(tmp_path / "ill.csv"), "--out", str(tmp_path / "out")])
    assert run.exit_code == 3, run.output
    assert "Column 'amount' differs" in run.output


def test_the_exit_code_is_2_where_the_input_cannot_be_used(audited, tmp_path, monkeypatch, capsys):
    from scarce.cli import main

    well = save_rows(tmp_path / "well.csv", "2024-04-01", 3, known=False)
    pd.DataFrame({"payment": ["X1"], "verdict": ["yes"]}).to_csv(tmp_path / "given.csv", index=False)
    wrong = [
        ([str(tmp_path / "none.csv")], "none.csv"),
        ([str(well), "--outcomes", str(tmp_path / "given.csv")], "of rows that are not in the new table"),
        ([str(well), "--outcomes", "a.csv", "--desk", "b"], "from a file (--outcomes) or from a desk (--desk)"),
        ([str(well), "--desk", str(tmp_path)], "There is no desk in"),
    ]
    for arguments, sentence in wrong:
        monkeypatch.setattr("sys.argv", ["scarce", "monitor", str(audited), *arguments, "--out", str(tmp_path / "o")])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 2
        assert sentence in " ".join(capsys.readouterr().err.split())


def test_verdicts_of_a_desk_are_the_outcomes_of_the_rows_they_are_about(audited, tmp_path):
    from typer.testing import CliRunner

    from scarce.desk.store import Store, store_url
    from scarce.desk.verdicts import Given, decide
    from tests.desk.audits import make_folder

    table = save_rows(tmp_path / "new.csv", "2024-04-01", 3, known=False)
    folder = make_folder(tmp_path / "desk", 12)
    cases = json.loads((folder / "cases.json").read_text())
    for case, name in zip(cases["cases"], pd.read_csv(table)["payment"], strict=False):
        case["identity"] = {"payment": name}
    (folder / "cases.json").write_text(json.dumps(cases))
    store = Store(store_url(folder))
    import_folder(store, folder)
    for number in range(1, 9):
        decide(store, number, "ana", Given("positive" if number < 3 else "undecidable" if number == 3 else "negative"))
    store.close()
    arguments = ["monitor", str(audited), str(table), "--desk", str(folder), "--out", str(tmp_path / "out")]
    run = CliRunner().invoke(app, arguments)
    assert run.exit_code in (0, 3), run.output
    outcomes = json.loads((tmp_path / "out" / "monitor.json").read_text())["outcomes"]
    assert outcomes["known"] == 7
    known = (
        pd.read_parquet(tmp_path / "out" / "known.parquet") if (tmp_path / "out" / "known.parquet").exists() else None
    )
    assert known is None or known[OWN + "outcome"].sum() <= 2


def test_a_table_with_other_columns_leaves_with_a_sentence(audited, tmp_path):
    pd.DataFrame({"shop": [1, 2]}).to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(MonitorError, match="lacks what the model learned from"):
        monitor_table(audited, tmp_path / "other.csv", out=tmp_path / "out")


def test_an_audit_of_an_earlier_version_is_named(audited, tmp_path):
    shutil.copytree(audited, tmp_path / "old")
    (tmp_path / "old" / "reference.parquet").unlink()
    with pytest.raises(MonitorError, match="run the audit again"):
        PerformanceMonitor(tmp_path / "old")
