import numpy as np
import pandas as pd
import pytest

from scarce.tables import TableError, read_target


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        (["n", "y", "n", "n"], "y"),
        ([0, 1, 0, 0], "1"),
        ([0.0, 1.0, 1.0, np.nan], "0"),
        ([True, False, True, True], "False"),
        ([1, 2, 1, 2], "2"),
    ],
)
def test_the_rarer_value_is_positive(values: list, positive: str) -> None:
    frame = pd.DataFrame({"t": values})
    found = read_target(frame, "t")
    assert found.positive == positive
    assert found.y.tolist() == [-1 if pd.isna(v) else int(str(v).removesuffix(".0") == positive) for v in values]


def test_the_positive_value_can_be_named() -> None:
    frame = pd.DataFrame({"t": ["a", "b", "c", "a"]})
    assert read_target(frame, "t", "a").y.tolist() == [1, 0, 0, 1]
    assert read_target(pd.DataFrame({"t": [0, 1, 1]}), "t", "1.0").y.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("values", "positive", "sentence"),
    [
        (["a", "a"], None, "only one value"),
        (list(range(200)), None, r"200 different values .*\(`positive`\)"),
        (["a", "b", "b"], "c", "No row has t = c, .*choose one of the values 'b' and 'a'"),
        ([None, None], None, "is empty"),
    ],
)
def test_targets_that_cannot_be_learned(values: list, positive: str | None, sentence: str) -> None:
    with pytest.raises(TableError, match=sentence):
        read_target(pd.DataFrame({"t": values}), "t", positive)
