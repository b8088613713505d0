"""Spellings of one label: 'yes' and 'Yes ', '1' and '1.0'."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from scarce._typing import ArrowCells

__all__ = ["join_spellings", "label_key", "with_labels"]

# Above that, letters in other cases may be other codes.
MAX_LABELS = 100
_WHOLE = re.compile(r"([-+]?\d+)\.0+")


def label_key(spelling: str) -> str:
    """Return what all spellings of a label have in common.

    Examples
    --------
    >>> from scarce.tables.labels import label_key
    >>> label_key("Yes ") == label_key("yes"), label_key("1.0") == label_key("1")
    (True, True)
    """
    return _WHOLE.sub(r"\1", spelling.strip().casefold())


def join_spellings(cells: ArrowCells) -> tuple[dict[str, str], list[tuple[str, list[str]]]]:
    """Return the label of each key, and the spellings that were joined under each label.

    The label is the most frequent spelling. Nothing is joined in a column of more than 100 labels.
    """
    counted = pc.value_counts(cells.drop_null())
    spellings: dict[str, dict[str, int]] = {}
    for spelling, count in zip(counted.field("values"), counted.field("counts"), strict=True):
        spellings.setdefault(label_key(spelling.as_py()), {})[spelling.as_py()] = count.as_py()
        if len(spellings) > MAX_LABELS:
            return {}, []
    if len(spellings) == len(counted):
        return {}, []
    labels: dict[str, str] = {}
    joined: list[tuple[str, list[str]]] = []
    for key, of_key in spellings.items():
        trimmed: dict[str, int] = {}
        for spelling, count in of_key.items():
            trimmed[spelling.strip()] = trimmed.get(spelling.strip(), 0) + count
        label = min(trimmed, key=lambda s: (-trimmed[s], s))
        labels[key] = label
        if len(of_key) > 1:
            joined.append((label, sorted(of_key)))
    return dict(sorted(labels.items())), sorted(joined)


def with_labels(text: ArrowCells, labels: Mapping[str, str]) -> ArrowCells:
    """Return cells with their spellings replaced by labels; a cell without one stays as it is."""
    encoded = pc.dictionary_encode(text).combine_chunks()
    words = [labels.get(label_key(word), word) for word in encoded.dictionary.to_pylist()]
    return pa.chunked_array([pc.take(pa.array(words, pa.string()), encoded.indices)])
