"""Options in files, and audits that are repeated."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.audit import AuditError, Settings, audit, changes_since, read_gains, read_options, save
from scarce.audit.options import repeated_options, write_options
from scarce.audit.settings import settings_of
from tests.payments import make_table

texts = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), min_size=1, max_size=12)


@given(
    target=texts,
    budget=st.one_of(st.integers(1, 999), st.just("100/day")),
    keep=st.lists(texts, max_size=3),
    explore=st.floats(0, 0.5),
    quick=st.booleans(),
    gains=st.one_of(st.none(), st.just({"fn": "-0.8*amount", "zeta": 5.0})),
)
def test_options_written_and_read_are_the_same(tmp_path_factory, **options: object) -> None:
    settings = settings_of({**options, "objective": "profit"})
    file = tmp_path_factory.mktemp("options") / "audit.toml"
    file.write_text(write_options(settings, "/data/a.csv"), encoding="utf-8")
    read = read_options(file)
    assert read.pop("table") == "/data/a.csv"
    assert settings_of(read) == settings


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text('table = "data/a.csv"\nreviews = "r.csv"\ntarget = "fraud"\nexplore = "5%"\n')
    options = read_options(tmp_path / "audit.toml")
    assert options["table"] == str(tmp_path / "data/a.csv")
    assert options["reviews"] == str(tmp_path / "r.csv")
    options.pop("table")
    assert settings_of(options).explore == 0.05


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget 200", r"is not a TOML file: .*; write lines such as budget = 200"),
        ("bugdet = 200", "An audit has no option 'bugdet'"),
        ('explore = "much"', "`explore` is a share of the queue such as 5%; it was 'much'"),
    ],
)
def test_mistakes_in_files_have_sentences(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "audit.toml").write_text(text)
    with pytest.raises(AuditError, match=message):
        read_options(tmp_path / "audit.toml")


def test_gains_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "gains.toml").write_text('fn = "-0.8*amount"\nfp = -5\n')
    assert read_gains(tmp_path / "gains.toml") == {"fn": "-0.8*amount", "fp": -5}
    (tmp_path / "gains.toml").write_text("fn = true\n")
    with pytest.raises(AuditError, match="gives fn as neither a number nor an expression"):
        read_gains(tmp_path / "gains.toml")
    with pytest.raises(AuditError, match="There is no file"):
        read_gains(tmp_path / "absent.toml")


def weekly() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table of last week, and the same a week later: outcomes have come in, there is a new column and new rows."""
    whole = make_table(900, seed=4).drop(columns=["chargeback", "currency"])
    last = whole.head(700).copy()
    last.loc[600:, "fraud"] = None
    now = whole.assign(region="north")
    now.loc[700:, "fraud"] = None
    now.loc[::2, "region"] = "south"
    return last, now


def test_an_audit_is_repeated_and_shows_what_changed(tmp_path: Path) -> None:
    last, now = weekly()
    options = {"budget": 20, "time": "date", "methods": ["lightgbm", "logistic"]}
    first = audit(last, "fraud", **options, minutes=5)
    save(first, tmp_path / "last")
    assert repeated_options(tmp_path / "last")["methods"] == [o.candidate.key for o in first.comparison.outcomes]
    again = repeated_options(tmp_path / "last")
    assert "minutes" not in again
    second = audit(now, **again)
    changes = " ".join(changes_since(tmp_path / "last", second))
    assert "The table has 900 rows, 700 of known outcome" in changes
    assert "it had 700, 600 and" in changes
    assert "New columns: 'region'." in changes
    hits = int((now.set_index("payment").loc[first.queue["payment"], "fraud"] == "yes").sum())
    kept = "as" if first.promise.low <= hits <= first.promise.high else "not as"
    assert f"20 of the 20 rows of the earlier queue have an outcome now, {hits} positive: {kept} promised." in changes
    # Nothing of the earlier queue is to be ranked again, since all of it has an outcome.
    assert "0 of these rows were in the earlier queue too." in changes
    with pytest.raises(AuditError, match="is not the folder of an audit; name one that scarce audit wrote"):
        changes_since(tmp_path / "nowhere", second)
    with pytest.raises(AuditError, match="name a folder that scarce audit wrote"):
        repeated_options(tmp_path / "nowhere")


def test_the_same_options_give_the_same_queue(tmp_path: Path) -> None:
    last, _ = weekly()
    last.to_csv(tmp_path / "payments.csv", index=False)
    first = audit(tmp_path / "payments.csv", "fraud", budget=15, quick=True, explore=0.2)
    save(first, tmp_path / "out")
    second = audit(**read_options(tmp_path / "out" / "audit.toml"))
    pd.testing.assert_frame_equal(first.queue, second.queue)
    assert second.settings == first.settings
    assert isinstance(second.settings, Settings)
