"""The parts of the report's page: cases, the inside of the model, the validator's section."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from scarce._errors import TableError
from scarce.audit import Audit, audit
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
    file.write_text('[amount]\ntitle = "Amount"\nunit = "€"\n[shop]\nhidden = true\n[region]\nsensitive = true\n')
    return audit(
        payments,
        "fraud",
        budget=20,
        time="date",
        amount="amount",
        distinct="customer_id",
        methods=["lightgbm"],
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
            assert link.column == "customer_id"
            assert (result.frame.loc[link.positives, "customer_id"] == link.value).all()
            assert (result.frame.loc[link.positives, "fraud"] == 1).all()
        titles = [cell["title"] for cell in case["cells"]]
        assert "Amount" in titles
        assert "shop" not in titles
        assert next(cell["value"] for cell in case["cells"] if cell["title"] == "Amount").endswith(" €")
    assert any(evidence.links for evidence in result.evidence)


def test_the_page_shows_where_the_ranking_holds(result: Audit) -> None:
    data = report_data(result)
    assert {segment["column"] for segment in data["inside"]["sensitive"]} == {"region"}
    assert sum(d["rows"] for d in data["inside"]["deciles"]) == len(result.comparison.winner.units.row)
    assert len(data["inside"]["dependence"]) == 5
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


def test_a_dictionary_of_other_columns_is_refused(payments: pd.DataFrame, tmp_path) -> None:
    (tmp_path / "columns.toml").write_text('[amout]\ntitle = "Amount"\n')
    with pytest.raises(TableError, match="amout"):
        audit(payments, "fraud", columns=str(tmp_path / "columns.toml"))
