"""KEEL's own five-fold partitions of its imbalanced sets."""

from __future__ import annotations

import os
import zipfile
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._typing import FloatArray
from scarce.tables.layouts import Layout, parse_text

from ._catalogue import get_record
from ._records import Record
from ._sources import DatasetUnavailable

FOLDS_FILE = "keel_imbalanced_5fold.zip"


class Fold(NamedTuple):
    """One of the five splits."""

    X_train: FloatArray
    y_train: NDArray[np.int64]
    X_test: FloatArray
    y_test: NDArray[np.int64]


def load_keel_folds(name: str, path: str | os.PathLike[str] | None = None) -> list[Fold]:
    """Load KEEL's own five-fold partition of one of its imbalanced sets.

    Parameters
    ----------
    name : str
        The name of the set, as KEEL spells it or as `load` does: ``"glass1"`` or ``"keel-glass1"``.
    path : path-like or None, default=None
        The archive ``keel_imbalanced_5fold.zip`` or its folder; None looks into the folder that the environment
        variable ``SCARCE_DATA`` names. It holds, for each set, ``name/name-5-1tra.dat``, ``name/name-5-1tst.dat`` and
        so on up to 5.

    Returns
    -------
    list of Fold
        Five tuples ``(X_train, y_train, X_test, y_test)``; 1 is the positive class.

    Raises
    ------
    DatasetUnavailable
        If the archive, or the set within it, is not there.
    ValueError
        If the name is unknown, or the folds are not a partition of the set. In the archive this was written for,
        that is so for abalone9-18: 117 of the 147 test rows of its first fold are among that fold's training rows.

    Notes
    -----
    Columns are encoded as `load` does it, over the rows of all folds together: a column that holds categories
    becomes one 0/1 column per category, in alphabetical order, the same in every fold.
    """
    record = get_record(name if name.casefold().startswith("keel-") else f"keel-{name}")
    stem = record.name.removeprefix("keel-")
    given = path or os.environ.get("SCARCE_DATA")
    archive = Path(given or FOLDS_FILE).expanduser()
    archive = archive / FOLDS_FILE if archive.is_dir() else archive
    if not given or not archive.is_file():
        raise DatasetUnavailable(
            f"KEEL's partitions are not on this machine. Pass path=, or set the environment variable SCARCE_DATA "
            f"to the folder that holds {FOLDS_FILE} (now: {os.fspath(given) if given else 'not set'})."
        )
    with zipfile.ZipFile(archive) as opened:
        members = set(opened.namelist())
        # KEEL adds this ending to sets that it also distributes in another form.
        stem = next((s for s in (stem, f"{stem}Imb") if f"{s}/{s}-5-1tra.dat" in members), "")
        if not stem:
            raise DatasetUnavailable(f"{str(archive)!r} does not hold a partition of {record.name!r}.")
        parts = [_rows(opened, f"{stem}/{stem}-5-{k}{part}.dat") for k in range(1, 6) for part in ("tra", "tst")]
    data, _, labels = parse_text((line for part in parts for line in part), Layout())
    target = np.isin(labels, record.sources[0].positive).astype(np.int64)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    X, y = np.split(data, ends), np.split(target, ends)
    folds = [Fold(X[k], y[k], X[k + 1], y[k + 1]) for k in range(0, 10, 2)]
    _check_partition(record, folds, archive)
    return folds


def _rows(archive: zipfile.ZipFile, member: str) -> list[str]:
    with archive.open(member) as stream, TextIOWrapper(stream, encoding="utf-8-sig") as text:
        return [line for line in text if line.strip() and not line.startswith("@")]


def _check_partition(record: Record, folds: list[Fold], archive: Path) -> None:
    """Refuse folds whose test parts are not the whole set, or share rows with their training parts."""
    X_test = np.vstack([fold.X_test for fold in folds])
    y_test = np.concatenate([fold.y_test for fold in folds])
    whole = _sorted_rows(X_test, y_test)
    same = (
        np.array_equal(whole, _sorted_rows(np.vstack([a, c]), np.concatenate([b, d])), equal_nan=True)
        for a, b, c, d in folds
    )
    if (*X_test.shape, y_test.sum()) != (record.rows, record.features, record.positives) or not all(same):
        raise ValueError(
            f"The folds of {record.name!r} in {str(archive)!r} are not a partition of its {record.rows} rows: rows are "
            "missing, or stand in several test parts, or in the training and the test part of one fold. Make folds of "
            "your own with StratifiedKFold."
        )


def _sorted_rows(X: FloatArray, y: NDArray[np.int64]) -> FloatArray:
    table = np.column_stack([X, y])
    return table[np.lexsort(table.T)]
