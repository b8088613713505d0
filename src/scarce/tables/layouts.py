"""From the lines of a data file to numbers, column names and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from scarce._typing import FloatArray, Frame, Keywords

MISSING_MARKS = ("", "?", "<null>", "NA")


class ParsedFile(NamedTuple):
    """A parsed file: the features as numbers, their names, and the label of each row as text."""

    data: FloatArray
    names: list[str]
    labels: NDArray[np.str_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of a text file. Lines that start with ``@`` (the header of KEEL's files) are never rows.

    Parameters
    ----------
    delimiter : str or None
        None is any run of blanks.
    header : bool
        Whether the first line holds the column names.
    label : int
        The column of the label.
    drop : tuple of int
        Columns that are not read: identifiers and free text.
    names : tuple of str
        Names of the feature columns, for files that do not hold them.
    codes : mapping or None
        The number that stands for each word of the feature cells; rows with any other word are left out.
    first : int or None
        Only this many rows are read.
    constant_at : int or None
        A column of zeros is put back here: KEEL leaves constant columns out.
    repairs : tuple of (str, str)
        Rows known to be wrong in this copy, without blanks, each with the right one. An empty left side adds a
        row that the copy has lost.
    """

    delimiter: str | None = ","
    header: bool = False
    label: int = -1
    drop: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    codes: Mapping[str, int] | None = None
    first: int | None = None
    constant_at: int | None = None
    repairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LibSVM:
    """The sparse text format of LIBSVM, with its number of features."""

    n_features: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parquet:
    """A Parquet file, of which the named columns are features.

    Parameters
    ----------
    label : str
        The column of the label, 0 or 1.
    features : tuple of str
        The columns of numbers that are the features.
    extras : mapping
        Columns given apart that are not numbers to learn from: the name in the result and the name of the column.
    """

    label: str
    features: tuple[str, ...]
    extras: Mapping[str, str]


def parse_text(lines: Iterable[str], layout: Layout) -> ParsedFile:
    """Read a text file.

    A column in which every cell is a number, or a mark for a missing one (an empty cell, ``?``, ``<null>``,
    ``NA``: they become NaN), stays one column. A column that holds categories becomes one 0/1 column per
    category, in alphabetical order; a mark for a missing value counts as a category there.

    Parameters
    ----------
    lines : iterable of str
        The lines of the file.
    layout : Layout
        Where things are in it.

    Returns
    -------
    ParsedFile
        Numbers, names and labels.
    """
    head, rows = _split_header(lines, layout)
    if not rows:
        raise ValueError("The file holds no rows. Check that it is the right one and that it is complete.")
    n_columns = _cells(rows[:1], layout).shape[1]
    label = layout.label % n_columns
    columns = [j for j in range(n_columns) if j != label and j not in layout.drop]
    names = list(layout.names) or [head[j] if len(head) == n_columns else f"x{i}" for i, j in enumerate(columns)]

    try:
        numbers = np.loadtxt(rows, usecols=[*columns, label], **_reading(layout))
    except ValueError:
        cells = _cells(rows, layout, [*columns, label])
        data, names, labels = _encode(cells[:, :-1], names, cells[:, -1], layout.codes)
    else:
        data, labels = numbers[:, :-1], np.char.mod("%g", numbers[:, -1])
    if layout.constant_at is not None:
        data = np.insert(data, layout.constant_at, 0.0, axis=1)
        names.insert(layout.constant_at, "constant")
    return ParsedFile(np.ascontiguousarray(data), names, labels)


def parse_libsvm(streams: Sequence[BinaryIO], layout: LibSVM) -> ParsedFile:
    """Read files in LIBSVM's sparse format, one after the other, into one dense table."""
    # The files of one set may disagree on whether features are counted from 0 or from 1, so each is read alone.
    parts = [load_svmlight_file(stream, n_features=layout.n_features, zero_based="auto") for stream in streams]
    data = np.vstack([part[0].toarray() for part in parts])
    labels = np.char.mod("%g", np.concatenate([part[1] for part in parts]))
    return ParsedFile(data, [f"x{j}" for j in range(layout.n_features)], labels)


def parse_frame(frame: Frame, layout: Parquet) -> ParsedFile:
    """Take features and label from the pandas frame of a Parquet file."""
    data = np.ascontiguousarray(frame[list(layout.features)].to_numpy(np.float64))
    labels = frame[layout.label].to_numpy(np.int64).astype(np.str_)
    return ParsedFile(data, list(layout.features), labels)


def _cells(rows: list[str], layout: Layout, columns: list[int] | None = None) -> NDArray[np.str_]:
    """Read cells as text, without the blanks around them."""
    return np.char.strip(np.loadtxt(rows, dtype=np.str_, usecols=columns, **_reading(layout)))


def _reading(layout: Layout) -> Keywords:
    return {"delimiter": layout.delimiter, "comments": None, "quotechar": '"', "ndmin": 2}


def _split_header(lines: Iterable[str], layout: Layout) -> tuple[list[str], list[str]]:
    head: list[str] = []
    rows: list[str] = []
    for line in map(str.strip, lines):
        if line.lower().startswith("@attribute"):
            head.append(line.split()[1])
        elif line and not line.startswith("@"):
            rows.append(line)
    if layout.header and rows:
        head = _cells(rows[:1], layout)[0].tolist()
        del rows[0]
    if layout.repairs:
        right = dict(layout.repairs)
        rows = [right.get(line.replace(" ", ""), line) for line in rows] + [r for w, r in layout.repairs if not w]
    return head, rows[: layout.first]


def _encode(
    cells: NDArray[np.str_], names: list[str], labels: NDArray[np.str_], codes: Mapping[str, int] | None
) -> tuple[FloatArray, list[str], NDArray[np.str_]]:
    if codes is not None:
        known = np.isin(cells, list(codes)).all(axis=1)
        categories, positions = np.unique(cells[known], return_inverse=True)
        numbers = np.array([codes[category] for category in categories], dtype=np.float64)
        return numbers[positions.reshape(-1, cells.shape[1])], names, labels[known]

    columns: list[FloatArray] = []
    new_names: list[str] = []
    for name, column in zip(names, cells.T, strict=True):
        try:
            numbers = np.where(np.isin(column, MISSING_MARKS), "nan", column).astype(np.float64)
        except ValueError:
            categories = np.unique(column)
            columns.extend((column == category).astype(np.float64) for category in categories)
            new_names.extend(f"{name}={category}" for category in categories)
        else:
            columns.append(numbers)
            new_names.append(name)
    return np.column_stack(columns), new_names, labels
