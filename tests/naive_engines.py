"""A saved model at work, slow and obvious: each row is a table of its own, read, typed and scored by the pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scarce.engines import SavedModel
from scarce.tables import Table, conform


def score_one(model: SavedModel, row: Mapping[str, Any]) -> tuple[float, float, bool]:
    """Return the score, the probability and the decision of a row whose absent columns are empty."""
    held = pd.DataFrame({c.name: pd.Series([row.get(c.name)], dtype=object) for c in model.columns})
    readings = [reading for reading in model.readings if reading.name in held]
    X = conform(Table.from_frame(held, readings=readings).frame, model.columns)
    score, probability, positive = score_frame(model, X)
    return float(score[0]), float(probability[0]), bool(positive[0])


def score_frame(model: SavedModel, X: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Return the same of typed rows, by the three methods that users call."""
    classes = list(model.pipeline.classes_)
    positive = classes.index(model.pipeline[-1].pos_label_)
    with np.errstate(over="ignore"):  # of numbers that are too large, which scikit-learn then refuses
        encoded, method = model.pipeline[:-1].transform(X), model.pipeline[-1]
        return (
            method.score_samples(encoded),
            method.predict_proba(encoded)[:, positive],
            method.predict(encoded) == classes[positive],
        )


def same_bits(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(one, other, strict=True))


def naive_sum_of_leaves(trees: Sequence[Any], row: Sequence[float]) -> float:
    """Walk through each tree, and add up the values of the leaves in the order of the trees."""
    total = 0.0
    for tree in trees:
        node = 0
        while tree.feature[node] >= 0:
            x = row[tree.feature[node]]
            left = tree.missing_left[node] if x != x else x <= tree.threshold[node]
            node = tree.child[node][0 if left else 1]
        total += tree.value[node]
    return total
