"""A study as data: sets, methods, protocol, metrics, and what the paper printed, read from a TOML file."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from scarce._errors import StudyError
from scarce._files import read_toml
from scarce._typing import Json, Record

from .names import check_name, names_in

__all__ = ["Cell", "Method", "Planned", "Study", "list_studies", "load_study"]

SCALINGS = ("none", "row-l2", "min-max", "standard")
_KEYS = {
    "title", "source", "sets", "scalings", "metrics", "measures", "control", "rivals",
    "view", "protocol", "methods", "printed", "errata", "claims", "of", "notes", "x",
}  # fmt: skip
_RECIPE_KEYS = ("estimator", "params", "steps", "grid", "gains", "negatives")
_METHOD_KEYS = {*_RECIPE_KEYS, "paper_grid", "sweep", "label", "scaling", "every"}
_PROTOCOL_KEYS = {
    "kind",
    "splits",
    "test_size",
    "inner",
    "choose",
    "holdout",
    "refit",
    "rows",
    "test_rows",
    "warm",
    "validation",
}


@dataclass(frozen=True)
class Cell:
    """One set, one split and one method: what one fit and its figures depend on, and nothing else.

    Its key is a hash of that, so the same cell of two studies is computed once.
    """

    set: Record
    split: int
    protocol: Record
    method: Record
    measures: str

    @cached_property
    def key(self) -> str:
        """Return the hash that names the cell in a store."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Method:
    """A column of a study."""

    label: str
    scaling: str
    recipe: Record
    rival: bool = False
    at: Record = field(default_factory=dict)

    @property
    def column(self) -> str:
        """Return the label with the scaling, which distinguishes columns where a study has several scalings."""
        return self.label if self.rival or self.scaling == "none" else f"{self.label} ({self.scaling})"


@dataclass(frozen=True)
class Planned:
    """A cell and its place in the table of a study."""

    set: str
    split: int
    method: Method
    cell: Cell


@dataclass(frozen=True)
class Study:
    """A study, as its file describes it."""

    name: str
    title: str
    source: str
    sets: tuple[Record, ...]
    methods: tuple[Method, ...]
    protocol: Record
    metrics: tuple[str, ...]
    measures: str = "binary"
    control: str = ""
    view: str = "table"
    x: tuple[str, ...] = ()
    printed: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    errata: tuple[Mapping[str, str], ...] = ()
    claims: tuple[Record, ...] = ()
    of: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()

    @property
    def splits(self) -> int:
        """Return how many splits of each set there are."""
        return int(self.protocol["splits"])

    def reduce(self, *, sets: Sequence[str] = (), splits: int | None = None, methods: Sequence[str] = ()) -> Study:
        """Return a smaller study, which lists what was left out."""
        study, reduced = self, list(self.reduced)
        if sets:
            chosen = _chosen("set", sets, [set_["label"] for set_ in self.sets])
            study = replace(study, sets=tuple(set_ for set_ in self.sets if set_["label"] in chosen))
            reduced.append(f"{len(study.sets)} of {len(self.sets)} sets")
        if methods:
            chosen = _chosen("method", methods, [method.label for method in self.methods])
            study = replace(study, methods=tuple(m for m in study.methods if m.label in chosen))
            reduced.append(f"only {', '.join(dict.fromkeys(m.label for m in study.methods))}")
        most = max(self.splits, *(set_.get("splits", 0) for set_ in self.sets))
        if splits is not None and splits < most:
            if splits < 1:
                raise StudyError(f"A study needs at least one split; it was to have {splits}.")
            fewer = tuple({**s, "splits": splits} if s.get("splits", 0) > splits else s for s in study.sets)
            study = replace(study, sets=fewer, protocol={**self.protocol, "splits": min(splits, self.splits)})
            reduced.append(f"{splits} of {most} splits")
        return replace(study, reduced=tuple(reduced))

    @property
    def stamp(self) -> str:
        """Return a hash of what the first split of every set computes, which changes with the protocol and methods."""
        keys = sorted({planned.cell.key for planned in self.plan() if planned.split == 0})
        return hashlib.sha256("".join(keys).encode()).hexdigest()[:12]

    def plan(self) -> Sequence[Planned]:
        """Return every cell, the methods of one set and split together, so that data are loaded once."""
        return self._planned

    @cached_property
    def _planned(self) -> tuple[Planned, ...]:
        return tuple(
            Planned(set_["label"], split, method, self._cell(set_, split, method))
            for set_ in self.sets
            for split in range(set_.get("splits", self.splits))
            for method in self.methods
        )

    def _cell(self, set_: Record, split: int, method: Method) -> Cell:
        kept = ("kind", "test_size", "rows", "test_rows", "warm", "validation")
        outer = {key: self.protocol[key] for key in kept if key in self.protocol}
        inner: Json = {}
        if method.recipe.get("grid"):
            inner = {key: self.protocol[key] for key in ("inner", "holdout", "refit", "choose") if key in self.protocol}
        # These say where a set stands in the tables and how often it is split, not what it is.
        aside = ("label", "group", "panel", "source", "splits")
        what = {key: value for key, value in set_.items() if key not in aside}
        recipe = {"scaling": method.scaling, **method.recipe}
        return Cell(what, split, {**outer, **inner}, recipe, self.measures)


def list_studies() -> list[str]:
    """Return the names of the studies that come with the package.

    Examples
    --------
    >>> from scarce.study import list_studies
    >>> "gamma/table2" in list_studies()
    True
    """
    return sorted(_files())


def load_study(name: str, *, paper_grid: bool = False) -> Study:
    """Read a study of the package, or one from a TOML file of your own.

    Parameters
    ----------
    name : str
        A name that `list_studies` gives, or a path that ends in ``.toml``.
    paper_grid : bool, default=False
        Choose parameters from the paper's grid by cross-validation where the study has an exact choice instead.

    Examples
    --------
    >>> from scarce.study import load_study
    >>> study = load_study("gamma/table2")
    >>> len(study.sets), study.splits
    (19, 5)
    """
    if name.endswith(".toml"):
        try:
            text = read_toml(name)
        except (OSError, ValueError) as error:
            raise StudyError(f"The study {name} cannot be read: {error}.") from error
        return parse_study(name.removesuffix(".toml"), text, paper_grid=paper_grid)
    return _packaged(name, paper_grid)


@cache
def _packaged(name: str, paper_grid: bool) -> Study:
    known = _files()
    if name not in known:
        raise StudyError(f"There is no study {name!r}; scarce study list names them all.")
    return parse_study(name, tomllib.loads(known[name].read_text("utf-8")), paper_grid=paper_grid)


def parse_study(name: str, text: Record, *, paper_grid: bool = False) -> Study:
    """Make a study of the contents of its file, and refuse what it cannot mean."""
    _refuse(name, text, _KEYS, " of a study")
    of = tuple(text.get("of", ()))
    parts = [load_study(part, paper_grid=paper_grid) for part in of]
    if parts:
        # A table of statistics has the cells of the tables it is about.
        sets, methods, protocol = parts[0].sets, parts[0].methods, parts[0].protocol
        metrics = tuple(dict.fromkeys(metric for part in parts for metric in part.metrics))
    else:
        protocol = {"inner": 5, "choose": "f1", **text["protocol"]}
        _refuse(name, protocol, _PROTOCOL_KEYS, " of protocol")
        sets = tuple(_sets(text["sets"]))
        scalings = tuple(text.get("scalings", ["none"]))
        if unknown := set(scalings) - set(SCALINGS):
            raise StudyError(f"{name}: there is no scaling {unknown.pop()!r}; there are {', '.join(SCALINGS)}.")
        methods = tuple(_methods(name, text["methods"], scalings, paper_grid=paper_grid))
        metrics = tuple(text["metrics"])
        if text.get("rivals"):
            common = tomllib.loads(files(__package__).joinpath("studies", "rivals.toml").read_text("utf-8"))
            chosen = text["rivals"] if isinstance(text["rivals"], list) else list(common)
            methods += tuple(
                Method(label, "none", {key: common[label][key] for key in common[label]}, rival=True)
                for label in chosen
            )
    return Study(
        name,
        text["title"],
        text["source"],
        sets,
        methods,
        protocol,
        metrics,
        text.get("measures", "binary"),
        text.get("control", ""),
        text.get("view", "table"),
        tuple(text.get("x", ())),
        text.get("printed", {}),
        tuple(text.get("errata", ())),
        tuple(text.get("claims", ())),
        of,
        tuple(text.get("notes", ())),
    )


def _sets(sets: Any) -> Iterator[Record]:
    from scarce.datasets import list_datasets

    if sets == "all":
        # The rows of these have an order in time, which shuffled splits would ignore.
        sets = [info.name for info in list_datasets() if info.name not in ("handbook-payments", "ieee-cis")]
    elif isinstance(sets, str):
        # The sets of another study.
        sets = load_study(sets).sets
    for set_ in sets:
        plain = {"name": set_} if isinstance(set_, str) else dict(set_)
        yield {**plain, "label": plain.get("label", plain["name"])}


def _methods(study: str, methods: Record, scalings: Sequence[str], *, paper_grid: bool) -> Iterator[Method]:
    for scaling in scalings:
        for name, method in methods.items():
            _refuse(study, method, _METHOD_KEYS, f" of method {name}")
            if "every" in method:
                yield from _registry(scaling, method)
                continue
            recipe = {key: method[key] for key in _RECIPE_KEYS if key in method}
            for named in names_in(method):
                check_name(named)
            if paper_grid and "paper_grid" in method:
                recipe["grid"] = method["paper_grid"]
                name += ", paper's grid"
            scaling_ = method.get("scaling", scaling)
            if "sweep" not in method:
                yield Method(name, scaling_, recipe)
            for parameter, values in method.get("sweep", {}).items():
                for value in values:
                    # A table holds the place on the axis, and the parameters that it stands for.
                    given = dict(value) if isinstance(value, Mapping) else {"at": value, parameter: value}
                    at = {"method": name, parameter: given.pop("at")}
                    swept = {**recipe, "params": {**recipe.get("params", {}), **given}}
                    yield Method(method["label"].format(**at), scaling_, swept, at=at)


def _registry(scaling: str, method: Record) -> Iterator[Method]:
    """Yield every estimator of the library that needs no other one, with the same parameters."""
    from scarce.registry import all_estimators

    for name, _ in all_estimators():
        if name not in method["every"].get("without", ()):
            yield Method(name, scaling, {"estimator": name, "params": method.get("params", {})})


def _refuse(study: str, given: Record, known: set[str], where: str) -> None:
    if unknown := set(given) - known:
        raise StudyError(
            f"{study}: {unknown.pop()!r} is no key{where} of a study; there are {', '.join(sorted(known))}."
        )


def _chosen(what: str, wanted: Sequence[str], there: Sequence[str]) -> set[str]:
    for one in wanted:
        if one not in there:
            raise StudyError(f"The study has no {what} {one!r}; it has {', '.join(dict.fromkeys(there))}.")
    return set(wanted)


def _files() -> dict[str, Traversable]:
    folder = files(__package__).joinpath("studies")
    found = {}
    for entry in folder.iterdir():
        if entry.is_dir():
            inside = (file for file in entry.iterdir() if file.name.endswith(".toml"))
            found.update({f"{entry.name}/{file.name.removesuffix('.toml')}": file for file in inside})
        elif entry.name.endswith(".toml") and entry.name != "rivals.toml":
            found[entry.name.removesuffix(".toml")] = entry
    return found
