"""The folder of an audit: written whole, and its model loaded without running unknown code."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np
import skops.io

import scarce
from scarce._files import sha256, written_whole
from scarce._typing import Json
from scarce._values import plain
from scarce.engines.manifest import FILES
from scarce.engines.saved import HISTORY, MANIFEST, TRAINING_ROWS, row_marks
from scarce.tables import Reading, Usual
from scarce.tables.past import save_history
from scarce.tables.writing import write_csv, write_excel, write_parquet

from .dictionary import ColumnEntry
from .handover import write_handover
from .options import OPTIONS, write_options
from .reference import write_reference
from .report import report_data, report_html
from .result import Audit

__all__ = ["save"]

PACKAGES = ("lightgbm", "numpy", "pandas", "scikit-learn", "scipy", "skops")


def save(result: Audit, out: Path, *, force: bool = False) -> None:
    """Write the queue, the report, the model and all that is needed to use and to monitor it to a folder.

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
        write_handover(result, new)
        made = [] if result.histories is None else [column.name for column in result.histories.columns]
        marks = row_marks(result.task.X.drop(columns=made))
        np.save(new / TRAINING_ROWS, np.unique(marks), allow_pickle=False)
        if result.histories is not None:
            save_history(result.histories.fitted, new / HISTORY)
        write_reference(result, new)
        skops.io.dump(result.model, new / "model.skops")
        (new / OPTIONS).write_text(write_options(result.settings, result.source.path), encoding="utf-8")
        types = skops.io.get_untrusted_types(file=new / "model.skops")
        files = {name: sha256(new / name) for name in FILES if (new / name).exists()}
        _write_json(new / MANIFEST, {**_manifest(result), "files": files, "trusted_types": types})


def _manifest(result: Audit) -> Json:
    """Return all that is needed to repeat the audit and to use its model."""
    features = result.profile.features
    settings = result.settings
    shown = [*result.profile.identifiers, settings.time, settings.distinct, *settings.entity, settings.amount]
    needed = {*(c.name for c in features), *filter(None, shown)}
    made = {} if result.histories is None else result.histories.sources
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
        "hidden": result.names.hidden,
        "columns": [
            {
                "name": c.name,
                "kind": c.kind,
                "usual": asdict(_plain(result.usual[c.name])),
                **_words(result.names[c.name]),
                **({"made_from": made[c.name]} if c.name in made else {}),
            }
            for c in features
        ],
        "readings": [_for_new_rows(reading).as_dict() for reading in result.readings if reading.name in needed],
    }


def _words(entry: ColumnEntry) -> Json:
    """Return the words of the dictionary that reasons need."""
    return {name: value for name in ("title", "unit", "hidden") if (value := getattr(entry, name))}


def _for_new_rows(reading: Reading) -> Reading:
    """Return a reading that takes fractions too where the training rows happened to have none."""
    return replace(reading, type="float64") if reading.type == "int64" else reading


def _write_json(file: Path, data: Json) -> None:
    file.write_text(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _plain(usual: Usual) -> Usual:
    """Return usual values as JSON knows them: dates as text, missing numbers as null."""
    *values, typical = (plain(v) for v in (*usual.values, usual.typical))
    return Usual(values, usual.weights, typical)
