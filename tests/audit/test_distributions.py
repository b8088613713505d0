"""Small distributions of columns."""

import re

import numpy as np
import pandas as pd

from scarce.audit.distributions import BINS, distributions, sparkline
from scarce.audit.warnings import one_line_each
from scarce.tables import Column

COLUMNS = [
    Column("amount", "number"),
    Column("flag", "number"),
    Column("paid", "date"),
    Column("shop", "category"),
    Column("empty", "number"),
    Column("unique", "category"),
]


def table(n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "amount": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n)),
            "flag": rng.integers(0, 2, n),
            "paid": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 200, n), "D"),
            "shop": rng.choice([f"<s{i}>" for i in range(30)], n),
            "empty": np.nan,
            "unique": [f"u{i}" for i in range(n)],
        }
    )
    return frame, rng.choice([1, 0, -1], n, p=[0.2, 0.5, 0.3])


def test_shares_are_of_known_rows_with_a_value() -> None:
    frame, y = table()
    found = distributions(frame, COLUMNS, y)
    assert set(found) == {"amount", "flag", "paid", "shop"}
    for label, name in ((1, "positive"), (0, "negative")):
        rows = frame[y == label]
        flag = getattr(found["flag"], name)
        assert flag == [(rows["flag"] == value).mean() for value in (0, 1)]
        assert np.isclose(sum(getattr(found["amount"], name)), rows["amount"].notna().mean())
        most = found["shop"].labels[0]
        assert getattr(found["shop"], name)[0] == (rows["shop"] == most).mean()
        assert np.isclose(sum(getattr(found["shop"], name)), 1.0)
    assert len(found["amount"].labels) == len(found["shop"].labels) == BINS
    assert found["shop"].labels[-1] == "others"


def test_bins_of_numbers_are_of_equal_width_between_the_outer_ones() -> None:
    values = np.r_[np.arange(1_000.0), 1e9]
    found = distributions(pd.DataFrame({"amount": values}), COLUMNS[:1], np.r_[np.zeros(1_000, int), 1])["amount"]
    assert found.positive == [0.0] * (BINS - 1) + [1.0]
    assert max(found.negative) < 0.11
    assert min(found.negative) > 0.07


def test_a_sparkline_has_a_bar_for_each_bin_and_class() -> None:
    frame, y = table()
    drawn = sparkline(distributions(frame, COLUMNS, y)["shop"])
    assert drawn.count("<rect") == 2 * BINS
    assert "<s1>" not in drawn
    assert all(0 <= float(height) <= 22 for height in re.findall(r'height="([\d.]+)"/>', drawn))


def test_warnings_of_one_kind_are_one_line() -> None:
    found = one_line_each([f"Column 'c{i}': the day comes first." for i in range(8)] + ["Other.", "Other."])
    assert found == ["Columns 'c0', 'c1', 'c2', 'c3', 'c4' and 3 more: the day comes first.", "Other."]
