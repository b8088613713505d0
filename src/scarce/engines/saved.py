"""A model that an audit saved, read back without running code that it may contain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import skops.io
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

import scarce
from scarce._errors import AuditError
from scarce._typing import Cell, Json
from scarce.tables import Column, EntityHistory, Reading, Usual, conform
from scarce.tables.past import continued, load_history

from .manifest import check_file, read_manifest

__all__ = ["HISTORY", "MANIFEST", "REFERENCE", "TRAINING_ROWS", "SavedModel", "load_model", "row_marks"]

MANIFEST = "manifest.json"
MODEL = "model.skops"
TRAINING_ROWS = "training-rows.npy"
HISTORY = "history.npz"
REFERENCE = "reference.parquet"


@dataclass(frozen=True)
class SavedModel:
    """A model read back: the pipeline, its columns and how they are read, and the marks of its training rows.

    Where it learned from the history of entities, `history` is their past when the audit was written.
    """

    pipeline: Pipeline
    columns: list[Column]
    readings: list[Reading]
    usual: dict[str, Usual]
    training_rows: NDArray[np.uint64]
    manifest: Json
    history: EntityHistory | None = None

    @property
    def own_columns(self) -> list[Column]:
        """The columns that a table must have, without those that are made from its entities' history."""
        made = () if self.history is None else set(self.history.get_feature_names_out())
        return [column for column in self.columns if column.name not in made]

    def typed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return rows of a table as the model takes them.

        The history of an entity is that known when the audit was written, and the earlier rows of `frame`, whose
        outcomes count as unknown.
        """
        own = conform(frame, self.own_columns)
        if self.history is None:
            return own
        try:
            numbers = continued(self.history, frame).transform(frame)
        except ValueError as error:
            raise AuditError(f"The history of the rows' entities could not be made: {error}") from error
        names = [str(name) for name in self.history.get_feature_names_out()]
        both = own.join(pd.DataFrame(numbers, columns=names, index=frame.index))
        return both[[column.name for column in self.columns]]


def row_marks(X: pd.DataFrame) -> NDArray[np.uint64]:
    """Return a number for each row of typed columns: equal rows have equal numbers, and others differ.

    The numbers are 64-bit hashes, so that two different rows of a table have the same one by a chance that can be
    ignored, and no row can be read back from them.
    """
    # -0.0 and 0.0 are equal, and their bits are not.
    same = {name: X[name] + 0.0 if X[name].dtype == np.float64 else X[name] for name in X.columns}
    return pd.util.hash_pandas_object(pd.DataFrame(same), index=False).to_numpy()


def load_model(path: Path) -> SavedModel:
    """Load a model and its manifest from an audit's folder or from the model file in it.

    Every field of the manifest is checked, and every file that is read against its hash in there.
    """
    model_file = path / MODEL if path.is_dir() else path
    if not model_file.exists():
        previous = Path(f"{path.absolute()}.previous")
        left = (
            f" A run that was to replace it was killed: run it again, or name {previous}." if previous.exists() else ""
        )
        raise AuditError(
            f"There is no model {model_file}; name the folder that scarce audit wrote, or its model.skops.{left}"
        )
    folder = model_file.parent
    manifest = read_manifest(folder / MANIFEST)
    for name in (MODEL, TRAINING_ROWS):
        check_file(folder, name, manifest)
    try:
        foreign = sorted(set(skops.io.get_untrusted_types(file=model_file)) - set(scarce.trusted_types()))
    except Exception as error:  # skops has no error of its own for files that it did not write
        raise AuditError(f"{model_file} is not a model that scarce audit wrote; run the audit again.") from error
    if foreign:
        raise AuditError(
            f"{model_file} holds types that no audit writes ({', '.join(foreign[:3])}), so it was not opened; "
            "use a model from a source that you trust."
        )
    pipeline = skops.io.load(model_file, trusted=scarce.trusted_types())
    if float(pipeline[-1].threshold_) != manifest["threshold"]:
        raise AuditError(f"{folder / MANIFEST} has another threshold than the model beside it; run the audit again.")
    columns = [Column(c["name"], c["kind"]) for c in manifest["columns"]]
    readings = [Reading(**reading) for reading in manifest["readings"]]
    try:
        usual = {c["name"]: _typed(c["usual"], c["kind"]) for c in manifest["columns"]}
    except ValueError as error:
        raise AuditError(
            f"{folder / MANIFEST} is damaged or was changed: a usual value is no date; run the audit again."
        ) from error
    history = None
    if any("made_from" in c for c in manifest["columns"]):
        check_file(folder, HISTORY, manifest)
        history = load_history(folder / HISTORY)
    marks = np.load(folder / TRAINING_ROWS, allow_pickle=False)
    return SavedModel(pipeline, columns, readings, usual, marks, manifest, history)


def _typed(plain: Json, kind: str) -> Usual:
    def read(values: Iterable[Cell]) -> list[Cell]:
        if kind == "date":
            return [pd.NaT if v is None else pd.Timestamp(v) for v in values]
        return [float("nan") if v is None else v for v in values] if kind == "number" else list(values)

    return Usual(
        read(plain["values"]), plain["weights"], None if plain["typical"] is None else read([plain["typical"]])[0]
    )
