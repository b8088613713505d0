"""Verdicts that go before the outcomes of a table."""

import pandas as pd
import pytest

from scarce.audit import AuditError
from scarce.audit.reviews import apply_reviews
from scarce.tables import read_target

TABLE = pd.DataFrame(
    {"id": [1, 2, 3, 4, 5], "kind": list("aabbb"), "fraud": ["yes", "no", None, "no", "no"], "x": range(5)}
)
TARGET = read_target(TABLE, "fraud")


def reviewed(**columns: list) -> tuple[list, list[str]]:
    frame, sentences = apply_reviews(TABLE, TARGET, pd.DataFrame(columns))
    assert TABLE["fraud"].tolist()[0] == "yes"
    return frame["fraud"].where(frame["fraud"].notna(), None).tolist(), sentences


def test_the_latest_verdict_goes_before_the_outcome() -> None:
    outcomes, sentences = reviewed(
        id=[3, 1, 3, 9],
        verdict=["no", "no", "1", "yes"],
        time=["2024-02-01", "2024-01-02", "2024-03-01", "2024-01-01"],
    )
    assert outcomes == ["no", "no", "yes", "no", "no"]
    assert sentences == [
        "2 rows have a verdict in the reviews, which goes before their outcome; it changed 2 outcomes.",
        "1 reviews are of rows that are not in the table, and were not used.",
    ]


def test_an_empty_verdict_takes_the_outcome_back_and_the_file_decides_among_equal_times() -> None:
    outcomes, _ = reviewed(id=[1, 2, 2], verdict=[None, "yes", "no"], time=[1, 5, 5])
    assert outcomes == [None, "no", None, "no", "no"]


def test_rows_are_named_by_any_columns_of_the_table() -> None:
    outcomes, sentences = reviewed(kind=["b"], verdict=["positive"])
    assert outcomes == ["yes", "no", "yes", "yes", "yes"]
    assert "3 rows have a verdict" in sentences[0]
    # A number in one file may be a text or a fraction in the other.
    assert reviewed(id=["2.0"], verdict=["yes"])[0][1] == "no"
    assert reviewed(id=[2.0], verdict=["yes"])[0][1] == "yes"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [1]}, "The reviews need a column 'verdict' beside the identifiers"),
        ({"verdict": ["yes"]}, "and they name no row; keep the identifier columns"),
        ({"id": [1], "note": ["?"], "verdict": ["yes"]}, "'note' is not a column of the table"),
        ({"id": [1, 2], "verdict": ["yes", "maybe"]}, "Review 2 has the verdict 'maybe' .*; write 'yes' or 'no'"),
        ({"id": [1], "verdict": ["yes"], "time": ["soon"]}, "The time 'soon' of a review cannot be read"),
    ],
)
def test_each_mistake_has_its_sentence(columns: dict, message: str) -> None:
    with pytest.raises(AuditError, match=message):
        reviewed(**columns)
