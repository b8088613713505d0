import numpy as np
import pandas as pd

from scarce.tables import MISSING, Column, conform


def test_methods_see_finite_numbers_and_categories_without_gaps() -> None:
    frame = pd.DataFrame({"amount": [1, np.inf, None], "shop": [3.0, None, 4.5], "name": ["x", None, "y"]})
    typed = conform(frame, [Column("amount", "number"), Column("shop", "category"), Column("name", "category")])
    assert typed["amount"].isna().tolist() == [False, True, True]
    assert typed["shop"].tolist() == ["3", MISSING, "4.5"]
    assert typed["name"].tolist() == ["x", MISSING, "y"]
