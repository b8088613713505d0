"""The past of entities in a file, and continued by the rows of a new table."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scarce._errors import TableError

from .history import EntityHistory

__all__ = ["continued", "load_history", "save_history"]


def save_history(history: EntityHistory, file: Path) -> None:
    """Write a fitted history to a compressed file of arrays, from which it is read without running code."""
    settings = {
        "entity": history._names(),
        "time": history.time,
        "amount": history.amount,
        "windows": list(history.windows),
        "delay": history.delay,
        "dated": history.dated_,
        "columns": [str(name) for name in history.feature_names_in_],
    }
    arrays: dict[str, Any] = {
        "settings": np.frombuffer(json.dumps(settings).encode(), dtype=np.uint8),
        "moments": history.moments_,
        "amounts": history.amounts_ if history.amount is not None else np.empty(0),
        # Only three answers matter: positive, negative, unknown.
        "outcomes": np.where(np.isin(history.outcomes_, (0, 1)), history.outcomes_, -1).astype(np.int8),
    }
    for place, (entities, codes) in enumerate(zip(history.entities_, history.codes_, strict=True)):
        arrays[f"entities_{place}"] = entities
        arrays[f"codes_{place}"] = codes.astype(np.int32)
    np.savez_compressed(file, **arrays)


def load_history(file: Path) -> EntityHistory:
    """Read a history that :func:`save_history` wrote."""
    try:
        with np.load(file, allow_pickle=False) as found:
            arrays = dict(found)
        settings = json.loads(arrays["settings"].tobytes())
        dated, columns = settings.pop("dated"), settings.pop("columns")
        history = EntityHistory(**{**settings, "windows": tuple(settings["windows"])})
        history.dated_ = dated
        history.moments_ = arrays["moments"]
        history.outcomes_ = arrays["outcomes"].astype(np.float64)
        history.amounts_ = arrays["amounts"] if history.amount is not None else np.full(len(history.moments_), np.nan)
        history.entities_ = [arrays[f"entities_{place}"] for place in range(len(history.entity))]
        history.codes_ = [arrays[f"codes_{place}"].astype(np.intp) for place in range(len(history.entity))]
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise TableError(f"{file} is damaged; run the audit again.") from error
    history.n_features_in_ = len(columns)
    history.feature_names_in_ = np.asarray(columns, dtype=object)
    return history._sum_up()


def continued(history: EntityHistory, frame: pd.DataFrame) -> EntityHistory:
    """Return a history with the rows of a new table added, whose outcomes count as unknown.

    A row that the history holds already, of the same entities, moment and amount, is not counted twice.
    """
    rows = frame.reset_index(drop=True)
    alone = EntityHistory(
        history.entity, history.time, history.amount, windows=history.windows, delay=history.delay
    ).fit(rows)
    new = ~np.isin(_marks(alone), _marks(history))
    longer = copy.copy(history)
    longer.entities_, longer.codes_ = list(history.entities_), list(history.codes_)
    return longer.partial_fit(rows[new]) if new.any() else longer


def _marks(history: EntityHistory) -> NDArray[np.uint64]:
    """Return a number for each row of the past, equal for equal rows."""
    columns = {
        str(place): pd.Series(np.append(entities, ""), dtype=str).take(codes).to_numpy()
        for place, (entities, codes) in enumerate(zip(history.entities_, history.codes_, strict=True))
    }
    columns |= {"moment": history.moments_, "amount": history.amounts_}
    return pd.util.hash_pandas_object(pd.DataFrame(columns), index=False).to_numpy()
