"""The evidence of a case."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce._errors import AuditError
from scarce.audit.cases import case_data
from scarce.audit.dictionary import ColumnEntry, Dictionary, read_dictionary
from scarce.audit.evidence import Evidence, Reason, find_links, find_reasons
from scarce.audit.look_alikes import LookAlikes
from scarce.audit.words import percent
from scarce.tables import Column, summarise_columns

COLUMNS = [Column("amount", "number"), Column("shop", "category", distinct=3), Column("paid", "date")]


@pytest.fixture
def known():
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1, n),
            "shop": rng.choice(["a", "b", "c"], n),
            "paid": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
        },
        index=np.arange(n) * 2,  # the numbers of rows in a table of which others are unknown
    )
    return frame, (np.arange(n) % 6 == 0).astype(int)


def test_look_alikes_are_the_nearest_rows_of_their_class(known):
    X, y = known
    index = LookAlikes(COLUMNS, X, y, folds=2, seed=0)
    cases = X.iloc[[3, 7, 11]].set_axis([101, 103, 105])
    encoded, of_cases = index.encoder.transform(X), index.encoder.transform(cases)
    for case, found in zip(of_cases, index.of(cases), strict=True):
        for label, most in ((1, 3), (0, 1)):
            apart = np.linalg.norm(encoded[y == label] - case, axis=1)
            nearest = X.index[y == label][np.argsort(apart, kind="stable")[:most]]
            alike = [other for other in found if other.positive == bool(label)]
            assert [other.row for other in alike] == list(nearest)
            np.testing.assert_allclose([other.distance for other in alike], np.sort(apart)[:most], atol=1e-6)


def test_a_known_row_is_not_its_own_look_alike(known):
    X, y = known
    found = LookAlikes(COLUMNS, X, y, folds=2, seed=0).of(X)
    for row, alike in zip(X.index, found, strict=True):
        assert row not in [other.row for other in alike]
        assert [other.positive for other in alike] == [True] * 3 + [False]


def test_columns_agree_or_differ(known):
    X, y = known
    index = LookAlikes(COLUMNS, X, y, folds=2, seed=0)
    positive = X[y == 1].iloc[0]
    case = positive.to_frame().T.astype(X.dtypes.to_dict()).set_axis([999])
    twin = index.of(case)[0][0]
    assert (twin.row, twin.distance, twin.differ) == (X.index[y == 1][0], 0.0, [])
    assert twin.agree == ["amount", "shop", "paid"]
    other = case.assign(amount=case["amount"] + 3 * index.spreads["amount"], shop="x")
    met = next(alike for alike in index.of(other, positives=10)[0] if alike.row == twin.row)
    assert met.agree == ["paid"]
    assert [(d.column, round(d.size, 6)) for d in met.differ] == [("amount", 3.0), ("shop", 1.0)]
    assert met.differ[1].own == "x"


def test_missing_values_agree_with_missing_values_alone(known):
    X, y = known
    X = X.copy()
    X.iloc[:12, 0] = np.nan
    X.iloc[:12, 2] = pd.NaT
    index = LookAlikes(COLUMNS, X, y, folds=2, seed=0)
    alike = index.of(X.iloc[[0]].set_axis([999]), positives=20)[0]
    for other in alike:
        assert ("amount" in other.agree) == pd.isna(X.loc[other.row, "amount"])
        assert ("paid" in other.agree) == pd.isna(X.loc[other.row, "paid"])


def test_one_class_and_no_cases(known):
    X, y = known
    index = LookAlikes(COLUMNS, X, np.maximum(y, 0) * 0 + (np.arange(len(y)) == 4), folds=1 + 1, seed=0, time="paid")
    assert [c.name for c in index.columns] == ["amount", "shop"]
    assert [[other.positive for other in found] for found in index.of(X.iloc[[4]])] == [[False]]
    assert index.of(X.iloc[:0]) == []


@given(st.lists(st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from([-1, 0, 1])), min_size=1, max_size=12))
def test_links_are_the_known_positives_of_the_same_entity(rows):
    table = pd.DataFrame({"card": [card for card, _ in rows]}, dtype=object)
    y = np.array([outcome for _, outcome in rows])
    cases = np.arange(len(rows))
    for case, found in zip(cases, find_links(table, y, cases, ["card"]), strict=True):
        own = rows[case][0]
        same = [i for i, (card, _) in enumerate(rows) if card is not None and card == own]
        positives = [i for i in same if y[i] == 1 and i != case][::-1]
        assert [link.positives for link in found] == ([positives] if positives else [])
        assert all((link.n_positives, link.n_rows) == (len(positives), len(same)) for link in found)


def test_reasons_say_what_the_probability_would_be(known):
    X, _ = known
    usual = summarise_columns(X, COLUMNS)
    typical = usual["amount"].typical

    def probability_of(rows):
        return np.where(rows["amount"] > 2 * typical, 0.4, 0.02) + np.where(rows["shop"] == "a", 0.1, 0.0)

    cases = pd.DataFrame({"amount": [9 * typical, typical], "shop": ["b", "b"], "paid": X["paid"].iloc[:2]})
    first, second = find_reasons(probability_of, cases.set_axis([5, 6]), usual)
    share = float((usual["amount"].values > 2 * np.float64(typical)) @ np.array(usual["amount"].weights))
    assert [reason.column for reason in first] == ["amount"]
    assert first[0].without == pytest.approx(0.02 + 0.38 * share)
    assert first[0].sentence("Amount", lambda column, text: f"{text} €").startswith("Amount = ")
    assert "raises the probability from" in first[0].sentence()
    assert second == []  # its values are the usual ones


def test_a_usual_value_is_no_reason(known):
    X, _ = known
    usual = summarise_columns(X, COLUMNS)
    case = X.iloc[[0]].assign(amount=usual["amount"].typical)
    below = find_reasons(lambda rows: np.where(rows["amount"] <= usual["amount"].typical, 0.9, 0.1), case, usual)
    assert [reason.column for reason in below[0]] == []


def test_probabilities_for_people():
    shown = [percent(p) for p in (0.0, 0.0009, 0.002, 0.0094, 0.0096, 0.314, 0.99, 0.996, 0.99999)]
    assert shown == ["under 0.1 %", "under 0.1 %", "0.2 %", "0.9 %", "1 %", "31 %", "99 %", "99.6 %", "over 99.9 %"]
    reason = Reason("amount", 912.3, 43.1, 0.02, 0.31)
    assert reason.sentence() == "amount = 912.30 (usual 43.10) raises the probability from 2 % to 31 %"


class TestDictionary:
    def read(self, tmp_path, text):
        (tmp_path / "columns.toml").write_text(text, encoding="utf-8")
        return read_dictionary(tmp_path / "columns.toml")

    def test_entries(self, tmp_path):
        names = self.read(
            tmp_path,
            '[amt]\ntitle = "Amount"\nunit = "€"\n[shop]\nkind = "category"\n[age]\nsensitive = true\nhidden = true\n',
        )
        assert (names.title("amt"), names.title("shop")) == ("Amount", "shop")
        assert (names.show("amt", "1,234.5"), names.show("amt", "(missing)")) == ("1,234.5 €", "(missing)")
        assert (names.kinds, names.hidden, names.sensitive) == ({"shop": "category"}, ["age"], ["age"])
        assert Dictionary().title("amt") == "amt"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[amt", "is not TOML"),
            ("amt = 3", "must be a part of its own"),
            ("[amt]\ncolour = 'red'", "has the entry 'colour'; known ones are"),
            ("[amt]\nhidden = 'yes'", "must be true or false, not 'yes'"),
            ("[amt]\ntitle = 3", "must be a text, not 3"),
            ("[amt]\nkind = 'money'", "'money'; use one of"),
        ],
    )
    def test_faults_are_one_sentence(self, tmp_path, text, message):
        with pytest.raises(AuditError, match=message.replace("?", r"\?").replace("(", r"\(")):
            self.read(tmp_path, text)

    def test_no_file(self, tmp_path):
        with pytest.raises(AuditError, match="cannot be read"):
            read_dictionary(tmp_path / "none.toml")


def test_a_case_as_plain_data(known):
    X, y = known
    usual = summarise_columns(X, COLUMNS)
    names = Dictionary({"amount": ColumnEntry(title="Amount", unit="€"), "shop": ColumnEntry(hidden=True)})
    alike = LookAlikes(COLUMNS, X, y, folds=2, seed=0).of(X.iloc[[1]])[0]
    reasons = [Reason("amount", 912.0, 43.0, 0.02, 0.31), Reason("shop", "x", "a", 0.1, 0.31)]
    links = find_links(X.reset_index(drop=True), y, np.array([1]), ["shop"])[0]
    case = case_data(Evidence(2, 0.31, 100.0, reasons, alike, links), X.iloc[1], usual, names, "case {}".format)
    json.dumps(case, allow_nan=False)
    assert [cell["title"] for cell in case["cells"]] == ["Amount", "paid"]
    assert case["cells"][0]["value"].endswith(" €")
    assert [reason["title"] for reason in case["reasons"]] == ["Amount"]
    assert len(case["look_alikes"]) == 4
    shown = [d["title"] for other in case["look_alikes"] for d in other["differ"]]
    assert "shop" not in shown
    assert all(other["name"].startswith("case ") for other in case["look_alikes"])
    assert [link["value"] for link in case["links"]] == ["(hidden)"] * len(links)
    assert case["summary"] == "31 %"
