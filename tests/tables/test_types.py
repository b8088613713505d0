import pandas as pd
import pytest

from scarce.tables import Column, TableError, conform


def test_text_where_a_model_needs_numbers_is_refused() -> None:
    frame = pd.DataFrame({"amount": ["1.5", "none"], "day": ["2024-01-01", "soon"]})
    with pytest.raises(TableError, match="'amount' must hold numbers, and it holds text such as 'none'; write plain"):
        conform(frame, [Column("amount", "number")])
    with pytest.raises(TableError, match="'day' holds cells that are not dates as before; write them like"):
        conform(frame, [Column("day", "date")])
