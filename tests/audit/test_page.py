"""The parts of the report's page: cases, the inside of the model, the validator's section."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from scarce._errors import TableError
from scarce.audit import Audit, audit, save, score_table
from scarce.audit.page import script_json
from scarce.audit.report import report_data, report_html
from scarce.datasets import make_transactions


@pytest.fixture(scope="module")
def payments() -> pd.DataFrame:
    frame = make_transactions(1_500, fraud_rate=0.05, seed=0).frame
    frame["fraud"] = frame["fraud"].astype(float)
    frame.loc[1_200:, "fraud"] = None
    frame["bank"] = frame["bank"].astype(str)
    frame.loc[1_200:, "bank"] = "</script><b>"
    return frame


@pytest.fixture(scope="module")
def result(payments: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    file = tmp_path_factory.mktemp("dictionary") / "columns.toml"
    file.write_text(
        '[amount]\ntitle = "Amount"\nunit = "€"\n[margin]\ntitle = "Profit margin"\n'
        "[shop]\nhidden = true\n[distance_home]\nhidden = true\n[payment_type]\nhidden = true\nsensitive = true\n"
        "[region]\nsensitive = true\n[customer_age]\nsensitive = true\n"
    )
    return audit(
        payments,
        "fraud",
        budget=20,
        time="date",
        amount="amount",
        distinct="customer_id",
        methods=["lightgbm"],
        entity=("customer_id", "shop"),
        drop=("customer_age",),
        columns=str(file),
    )


def test_no_text_ends_the_script(result: Audit) -> None:
    page = report_html(result, report_data(result))
    cases = re.search(r'<script type="application/json" id="cases">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(cases) == json.loads(json.dumps(report_data(result)["cases"]))
    assert "</script><b>" in [cell["value"] for cell in json.loads(cases)[0]["cells"]]
    assert script_json({"a": "<&>"}) == '{"a": "\\u003c\\u0026\\u003e"}'


def test_cases_follow_the_queue(result: Audit) -> None:
    cases = report_data(result)["cases"]
    assert [e.row for e in result.evidence] == result.queue["row"].tolist()
    assert [case["probability"] for case in cases] == result.queue["probability"].tolist()
    for evidence, case in zip(result.evidence, cases, strict=True):
        assert evidence.money == pytest.approx(evidence.probability * result.frame["amount"].iloc[evidence.row])
        assert [alike.positive for alike in evidence.look_alikes] == [True, True, True, False]
        for link in evidence.links:
            assert link.column in ("customer_id", "shop")
            assert (result.frame.loc[link.positives, link.column] == link.value).all()
            assert (result.frame.loc[link.positives, "fraud"] == 1).all()
        titles = [cell["title"] for cell in case["cells"]]
        assert "Amount" in titles
        assert "shop" not in titles
        assert next(cell["value"] for cell in case["cells"] if cell["title"] == "Amount").endswith(" €")
        # True and false are learned from as 1 and 0, and shown as they are in the table.
        assert next(cell["usual"] for cell in case["cells"] if cell["title"] == "new_shop") in ("True", "False")
    assert any(evidence.links for evidence in result.evidence)


def test_the_page_shows_where_the_ranking_holds(result: Audit) -> None:
    data = report_data(result)
    compared = data["inside"]["sensitive"]
    # One that is not learned from is compared as well, and a hidden one has no name.
    assert {segment["column"] for segment in compared} == {"region", "(hidden)", "customer_age"}
    assert compared[[s["column"] for s in compared].index("(hidden)")]["name"] == "group 1"
    assert sum(d["rows"] for d in data["inside"]["deciles"]) == len(result.comparison.winner.units.row)
    assert 0 < len(data["inside"]["dependence"]) <= 5
    assert [part["title"] for part in data["validator"]] == [
        "Intended use",
        "Data",
        "What was tried",
        "Performance",
        "Limits",
        "Monitoring",
        "Versions",
    ]
    page = report_html(result, data)
    for words in ("Where it holds, and where not", "Sensitive columns", "For the validator"):
        assert words in page


def test_a_hidden_column_is_named_nowhere(result: Audit, payments: pd.DataFrame, tmp_path: Path) -> None:
    save(result, tmp_path / "a")
    texts = [
        (tmp_path / "a" / name).read_text(encoding="utf-8") for name in ("report.html", "report.json", "queue.csv")
    ]
    book = openpyxl.load_workbook(tmp_path / "a" / "queue.xlsx")
    texts.append(str([[cell.value for cell in row] for sheet in book for row in sheet.rows]))
    ranked = score_table(tmp_path / "a", payments[payments["fraud"].isna()])
    texts.append(ranked.to_csv())
    for text in texts:
        for name in ("shop", "distance_home", "payment_type"):
            assert re.findall(rf"(?<![a-z_]){name}(?![a-z])", text) == [], name
    # They are learned from all the same.
    assert {"distance_home", "payment_type", "shop: rows in 7d"} <= {c.name for c in result.profile.features}
    # Reasons take the words of the dictionary, in the queue and for new rows.
    reasons = " ".join([*result.queue["reasons"], *ranked["reasons"].dropna()])
    assert "Amount = " in reasons
    assert "amount = " not in reasons


def test_a_case_names_the_rule_that_it_falls_under(result: Audit) -> None:
    words = {str(rule) for rule in result.readable.rules}
    assert all(evidence.rule in words for evidence in result.evidence)
    known = result.task.X
    rules = result.readable.of_rows(known)
    for rule in result.readable.rules:
        met = [place for place, other in enumerate(rules) if other == rule]
        assert len(met) == rule.rows
        assert result.task.y[met].sum() == rule.positives


def test_a_dictionary_of_other_columns_is_refused(payments: pd.DataFrame, tmp_path) -> None:
    (tmp_path / "columns.toml").write_text('[amout]\ntitle = "Amount"\n')
    with pytest.raises(TableError, match="amout"):
        audit(payments, "fraud", columns=str(tmp_path / "columns.toml"))


def test_stages_show_themselves_in_a_notebook(result: Audit) -> None:
    page = result._repr_html_()
    assert result.comparison._repr_html_() in page
    assert html.escape(result.comparison.summary) in page
    assert str(result.promise) in page
    assert str(result.promise) in result.promise._repr_html_()
    assert "SIMULATED" not in page
    for evidence in result.evidence[:3]:
        shown = evidence._repr_html_()
        assert html.escape(evidence.rule) in shown
        assert shown.count("<tr>") == 1 + len(evidence.look_alikes)
        assert "<script" not in shown
