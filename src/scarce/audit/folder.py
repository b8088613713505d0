"""The folder of an audit: written whole, and its model loaded without running unknown code."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import skops.io
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

import scarce
from scarce._errors import AuditError
from scarce._files import written_whole
from scarce._typing import Cell, Json
from scarce._values import plain
from scarce.tables import Column, Reading
from scarce.tables.writing import write_csv, write_excel, write_parquet

from .options import OPTIONS, write_options
from .reasons import Usual
from .report import report_data, report_html
from .result import Audit

__all__ = ["MANIFEST", "SavedModel", "load", "row_marks", "save"]

MANIFEST = "manifest.json"
TRAINING_ROWS = "training-rows.npy"
PACKAGES = ("lightgbm", "numpy", "pandas", "scikit-learn", "scipy", "skops")


@dataclass(frozen=True)
class SavedModel:
    """A model read back: the pipeline, its columns and how they are read, and the marks of its training rows."""

    pipeline: Pipeline
    columns: list[Column]
    readings: list[Reading]
    usual: dict[str, Usual]
    training_rows: NDArray[np.uint64]
    manifest: Json


def row_marks(X: pd.DataFrame) -> NDArray[np.uint64]:
    """Return a number for each row of typed columns: equal rows have equal numbers, and others differ.

    The numbers are 64-bit hashes, so that two different rows of a table have the same one by a chance that can be
    ignored, and no row can be read back from them.
    """
    # -0.0 and 0.0 are equal, and their bits are not.
    same = {name: X[name] + 0.0 if X[name].dtype == np.float64 else X[name] for name in X.columns}
    return pd.util.hash_pandas_object(pd.DataFrame(same), index=False).to_numpy()


def save(result: Audit, out: Path, *, force: bool = False) -> None:
    """Write the queue, the report, the model, its manifest and the marks of its training rows to a folder.

    The folder appears complete or not at all; by `force` it replaces another audit.
    """
    data = report_data(result)
    page = report_html(result, data)
    with written_whole(out, force=force, marker=MANIFEST) as new:
        new.mkdir()
        write_csv(result.queue, new / "queue.csv")
        write_excel(result.queue, new / "queue.xlsx")
        write_parquet(result.queue, new / "queue.parquet")
        (new / "report.html").write_text(page, encoding="utf-8")
        _write_json(new / "report.json", data)
        np.save(new / TRAINING_ROWS, np.unique(row_marks(result.task.X)), allow_pickle=False)
        skops.io.dump(result.model, new / "model.skops")
        (new / OPTIONS).write_text(write_options(result.settings, result.source.path), encoding="utf-8")
        types = skops.io.get_untrusted_types(file=new / "model.skops")
        _write_json(new / MANIFEST, {**_manifest(result), "trusted_types": types})


def _manifest(result: Audit) -> Json:
    """Return all that is needed to repeat the audit and to use its model."""
    features = result.profile.features
    shown = [*result.profile.identifiers, result.settings.time, result.settings.amount]
    needed = {*(c.name for c in features), *filter(None, shown)}
    return {
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(result.seconds, 1),
        "python": platform.python_version(),
        "packages": {"scarce": scarce.__version__, **{name: version(name) for name in PACKAGES}},
        "data": {
            "name": result.source.name,
            "sha256": result.source.sha256,
            "simulated": result.source.simulated,
            "rows": result.profile.rows,
            "labelled": result.profile.labelled,
            "positives": result.profile.positives,
        },
        "settings": asdict(result.settings),
        "methods": [outcome.candidate.key for outcome in result.comparison.outcomes],
        "folds": result.comparison.folds.description,
        "target": {
            "column": result.target.name,
            "positive": result.target.positive,
            "negative": result.target.others,
        },
        "log_odds_shift": result.promise.shift,
        "winner": result.comparison.winner.candidate.name,
        "threshold": result.threshold,
        "reasons": result.settings.budget_plan.checks,
        "queue": "rows of unknown outcome" if result.new_rows else "tested rows of known outcome, out-of-fold scores",
        "identifiers": result.profile.identifiers,
        "columns": [
            {
                "name": c.name,
                "kind": c.kind,
                "usual": asdict(_plain(result.usual[c.name])),
            }
            for c in features
        ],
        "readings": [_for_new_rows(reading).as_dict() for reading in result.readings if reading.name in needed],
    }


def _for_new_rows(reading: Reading) -> Reading:
    """Return a reading that takes fractions too where the training rows happened to have none."""
    return replace(reading, type="float64") if reading.type == "int64" else reading


def load(path: Path) -> SavedModel:
    """Load a model and its manifest from an audit's folder or from the model file in it."""
    model_file = path / "model.skops" if path.is_dir() else path
    if not model_file.exists():
        raise AuditError(
            f"There is no model {model_file}; name the folder that scarce audit wrote, or its model.skops."
        )
    manifest = _read_manifest(model_file.with_name(MANIFEST))
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
    columns = [Column(c["name"], c["kind"]) for c in manifest["columns"]]
    readings = [Reading(**reading) for reading in manifest["readings"]]
    usual = {c["name"]: _typed(c["usual"], c["kind"]) for c in manifest["columns"]}
    marks = model_file.with_name(TRAINING_ROWS)
    if not marks.exists():
        raise AuditError(f"There is no {marks}; keep the files of an audit in the same folder.")
    return SavedModel(pipeline, columns, readings, usual, np.load(marks, allow_pickle=False), manifest)


def _read_manifest(file: Path) -> Json:
    try:
        manifest: Json = json.loads(file.read_text(encoding="utf-8"))
        manifest["columns"], manifest["readings"]
    except FileNotFoundError as error:
        raise AuditError(f"There is no {file}; keep the model and its manifest in the same folder.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise AuditError(f"{file} is damaged; run the audit again.") from error
    return manifest


def _write_json(file: Path, data: Json) -> None:
    file.write_text(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _plain(usual: Usual) -> Usual:
    """Return usual values as JSON knows them: dates as text, missing numbers as null."""
    *values, typical = (plain(v) for v in (*usual.values, usual.typical))
    return Usual(values, usual.weights, typical)


def _typed(plain: Json, kind: str) -> Usual:
    def read(values: Iterable[Cell]) -> list[Cell]:
        if kind == "date":
            return [pd.NaT if v is None else pd.Timestamp(v) for v in values]
        return [float("nan") if v is None else v for v in values] if kind == "number" else list(values)

    return Usual(
        read(plain["values"]), plain["weights"], None if plain["typical"] is None else read([plain["typical"]])[0]
    )
