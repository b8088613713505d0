"""The reading of a column: decided once on all of its cells, then the same for any other rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, NamedTuple, cast

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scarce._messages import listed
from scarce._typing import ArrowCells, Json

from .cells import MOST_EXACT, arrow_type, as_text, common_cells, parse_bools, parse_wholes, plain_whole
from .dates import best_date_format, date_formats, looks_like_dates, parse_dates
from .labels import join_spellings, with_labels
from .numbers import COMMA, POINT, Notation, currencies, decide_notation, is_ambiguous, parse_numbers

__all__ = ["NAMED_AS_CODE", "Kind", "Reading", "Verdict", "apply_reading", "infer_reading"]

Kind = Literal["number", "category", "date"]
KINDS: dict[str, Kind] = {"bool": "number", "int64": "number", "float64": "number", "timestamp": "date"}
TYPES = {
    "bool": pa.bool_(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "timestamp": pa.timestamp("us"),
    "string": pa.string(),
}
CODE = "code"
# Names of columns whose digits count nothing: codes of merchants, places, trades and people.
NAMED_AS_CODE = re.compile(
    r"(?i:(?:^|[_\s-])(?:id|code|key|zip|postcode|mcc|naics|nace|siren|siret|iban|bic|merchant|terminal)$)"
    r"|[a-z](?:Id|ID|Code|Zip)$|^(?i:card|addr)\d+$"
)
MAX_DIGITS = 18
# With so many numbers and so few other texts, the texts are slips.
MOSTLY = 0.9
MAX_SLIPS = 3
_WHOLE = r"^[-+]?[0-9]+$"
_LEADING_ZERO = r"^[-+]?0[0-9]"


@dataclass(frozen=True)
class Reading:
    """The way in which the cells of one column are read.

    Attributes
    ----------
    name : str
        The column.
    type : {"bool", "int64", "float64", "timestamp", "string", "nested"}
        Its Arrow type, from which its kind follows.
    written : str
        How cells are written as text: numbers "1,234.5" or "1.234,5", dates "ISO8601" or a format such as "%d-%b-%y",
        "code" for numbers that are labels.
    labels : dict of str
        Where spellings were joined, the label of each spelling without case and blanks.
    lenient : bool
        Whether cells that do not fit are read as empty, because the user named the kind.
    """

    name: str
    type: str
    written: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    lenient: bool = False

    @property
    def kind(self) -> Kind:
        """Return "number", "category" or "date"."""
        return KINDS.get(self.type, "category")

    def as_dict(self) -> Json:
        """Return plain data that ``Reading(**data)`` takes back."""
        return asdict(self)


class Verdict(NamedTuple):
    """A reading, notes on choices that a reader may want to correct, a remark for the list of columns, and a fault."""

    reading: Reading
    notes: tuple[str, ...] = ()
    remark: str = ""
    fault: str = ""


def infer_reading(name: str, cells: ArrowCells, wanted: Kind | None = None, *, typed: bool = False) -> Verdict:
    """Decide how a column is read, on all of its cells.

    Parameters
    ----------
    name : str
        The column.
    cells : ChunkedArray
        Its cells, of any Arrow type.
    wanted : {"number", "category", "date"}, optional
        What the user says it is. Cells that do not fit are then read as empty, and a note counts them.
    typed : bool, default=False
        Whether the source has types, as Parquet has: text of digits alone is then meant to be text.
    """
    cells = common_cells(cells)
    own = arrow_type(cells.type)
    if own == "nested":
        return Verdict(Reading(name, "nested"), remark="Its cells hold more than one value each.")
    if wanted == "category":
        return Verdict(Reading(name, "string", "" if own == "string" else CODE))
    if own != "string":
        return _of_typed(name, cells, own, wanted)
    if pa.types.is_dictionary(cells.type) and wanted is None:
        return _of_labels(name, cells)
    text = as_text(cells)
    if text.null_count == len(text):
        return Verdict(Reading(name, {"number": "float64", "date": "timestamp"}.get(wanted or "", "string")))
    if wanted == "date":
        return _of_kind(name, text, wanted)
    found = _of_plain(name, text, typed=typed and wanted is None, wanted=wanted)
    if found is None:
        found = _of_decorated(name, text) if wanted is None else _of_kind(name, text, wanted)
    return found or _of_labels(name, cells)


def _of_typed(name: str, cells: ArrowCells, own: str, wanted: Kind | None) -> Verdict:
    if wanted is not None and KINDS[own] != wanted:
        return _of_kind(name, as_text(cells), wanted)
    if wanted is None and own in ("int64", "float64") and NAMED_AS_CODE.search(name):
        return _code(name)
    if own == "int64" and cells.null_count and _largest(cells) > MOST_EXACT:
        return _code(name)
    return Verdict(Reading(name, own))


def _code(name: str) -> Verdict:
    because = "its name is that of a code" if NAMED_AS_CODE.search(name) else "its numbers are too long to count"
    return Verdict(Reading(name, "string", CODE), remark=f"Read as a category, because {because}.")


def _largest(cells: ArrowCells) -> int:
    ends = pc.min_max(cells).as_py()
    return max(abs(ends["min"] or 0), abs(ends["max"] or 0))


def _of_plain(name: str, text: ArrowCells, *, typed: bool, wanted: Kind | None) -> Verdict | None:
    """Return how numbers and truth values are read that are written as computers write them."""
    if _all_bools(text.slice(0, 100)) and _all_bools(text):
        return Verdict(Reading(name, "bool"))
    try:
        pc.cast(text, pa.float64())
    except pa.ArrowInvalid:
        return None
    if not pc.all(pc.match_substring_regex(text, _WHOLE)).as_py():
        if wanted is None and NAMED_AS_CODE.search(name):
            return _code(name)
        if not is_ambiguous(text):
            return Verdict(Reading(name, "float64", POINT))
        note = f"Column {name!r}: a point before three digits, as in {_example(text)!r}, is read as a decimal point."
        return Verdict(Reading(name, "float64", POINT), (note,))
    if wanted is None:
        if NAMED_AS_CODE.search(name):
            return _code(name)
        if typed:
            return Verdict(Reading(name, "string"))
        if pc.any(pc.match_substring_regex(text, _LEADING_ZERO)).as_py():
            remark = "Read as a category, because some of its numbers begin with 0."
            return Verdict(Reading(name, "string"), remark=remark)
    if pc.max(pc.utf8_length(text)).as_py() > MAX_DIGITS:
        return _code(name) if wanted is None else Verdict(Reading(name, "float64", POINT))
    if text.null_count and _largest(pc.cast(text, pa.int64())) > MOST_EXACT:
        return _code(name) if wanted is None else Verdict(Reading(name, "float64", POINT))
    return Verdict(Reading(name, "int64", POINT))


def _all_bools(text: ArrowCells) -> bool:
    words = pc.utf8_lower(text.drop_null())
    return len(words) > 0 and bool(pc.all(pc.is_in(words, pa.array(["true", "false"]))).as_py())


def _example(text: ArrowCells) -> str:
    return str(text.filter(pc.match_substring_regex(text, "[.,]"))[0].as_py())


def _of_decorated(name: str, text: ArrowCells) -> Verdict | None:
    """Return how dates and decorated numbers are read, or None for labels."""
    counted = pc.value_counts(text.drop_null())
    values, counts = counted.field("values"), counted.field("counts")
    with_digits = counts.filter(pc.match_substring_regex(values, "[0-9]"))
    if (pc.sum(with_digits).as_py() or 0) < MOSTLY * pc.sum(counts).as_py():
        return None
    if formats := date_formats(values):
        return _of_dates(name, formats)
    decision = decide_notation(values)
    if decision.notation is not None:
        return _of_numbers(name, values, decision.notation, ambiguous=decision.ambiguous)
    advice = "or name the column's kind (`types`), or leave the column out (`drop`)."
    text_reading = Reading(name, "string")
    if decision.fault:
        return Verdict(text_reading, fault=f"Column {name!r} {decision.fault}; write them all in one, {advice}")
    slips = None if NAMED_AS_CODE.search(name) else _slips(values, counts)
    if slips is None:
        return None
    what, other = slips
    row = pc.index(text, other).as_py() + 1
    sentence = f"Column {name!r} holds {what} and also text such as {other!r} (data row {row}); leave such cells empty"
    return Verdict(text_reading, fault=f"{sentence}, {advice}")


def _of_dates(name: str, formats: list[str]) -> Verdict:
    written, notes = formats[0], []
    if written.startswith("%d/%m") and any(other.startswith("%m/%d") for other in formats):
        notes.append(f"Column {name!r}: its dates are read as day/month/year.")
    if "%y" in written:
        notes.append(f"Column {name!r}: of its two-digit years, 69 to 99 are read as 19.. and 00 to 68 as 20...")
    return Verdict(Reading(name, "timestamp", written), tuple(notes), " ".join(n.split(": ", 1)[1] for n in notes))


def _of_numbers(name: str, values: ArrowCells, notation: Notation, *, ambiguous: bool) -> Verdict:
    notes = []
    if ambiguous:
        mark = "comma" if notation == POINT else "point"
        notes.append(
            f"Column {name!r}: a {mark} before three digits, as in {_example(values)!r}, is read as a mark of "
            "thousands."
        )
    units = currencies(values)
    if len(units) > 1:
        notes.append(f"Column {name!r} holds amounts in {listed(units)}, which are read as numbers, not converted.")
    remark = f"Its numbers are read as {notation} is written."
    return Verdict(Reading(name, "float64", notation), tuple(notes), remark)


def _slips(values: ArrowCells, counts: ArrowCells) -> tuple[str, str] | None:
    """Return what a column mostly holds and the first of a few texts that are not, or None."""
    found: list[tuple[str, ArrowCells]] = [("numbers", parse_numbers(values, notation)) for notation in (POINT, COMMA)]
    if looks_like_dates(values.to_pylist()[:200]):
        found.append(("dates", _dates(values, best_date_format(values, counts))))
    total = pc.sum(counts).as_py()
    for what, parsed in found:
        fits = pc.is_valid(parsed)
        others = values.filter(pc.invert(fits))
        if len(others) <= MAX_SLIPS and (pc.sum(counts.filter(fits)).as_py() or 0) >= MOSTLY * total:
            return what, others[0].as_py()
    return None


def _of_kind(name: str, text: ArrowCells, wanted: Kind) -> Verdict:
    """Return how a column is read as the kind that the user named; what does not fit is empty."""
    counted = pc.value_counts(text.drop_null())
    values, counts = counted.field("values"), counted.field("counts")
    if wanted == "number":
        notations: tuple[Notation, ...] = (POINT, COMMA)
        best = max(notations, key=lambda notation: _fitting(values, counts, notation))
        written = decide_notation(values).notation or best
        reading = Reading(name, "float64", written, lenient=True)
    else:
        formats = date_formats(values, compact=True)
        reading = Reading(name, "timestamp", formats[0] if formats else best_date_format(values, counts), lenient=True)
    parsed, misfit = apply_reading(reading, pa.chunked_array([values]))
    lost = counts.filter(pc.is_null(parsed).combine_chunks())
    if misfit is None:
        return Verdict(reading)
    note = (
        f"Column {name!r}: cells that are no {wanted}, such as {misfit!r}, are read as empty: {pc.sum(lost).as_py():,}."
    )
    return Verdict(reading, (note,))


def _fitting(values: ArrowCells, counts: ArrowCells, notation: Notation) -> int:
    return pc.sum(counts.filter(pc.is_valid(parse_numbers(values, notation)))).as_py() or 0


def _of_labels(name: str, cells: ArrowCells) -> Verdict:
    raw = cells if not pa.types.is_dictionary(cells.type) else pc.cast(cells, cells.type.value_type)
    if arrow_type(raw.type) != "string":
        return Verdict(Reading(name, "string", CODE))
    labels, joined = join_spellings(raw)
    notes = tuple(f"Column {name!r}: {listed(same)} are read as one label, {label!r}." for label, same in joined)
    return Verdict(Reading(name, "string", labels=labels), notes)


def apply_reading(reading: Reading, cells: ArrowCells) -> tuple[ArrowCells, str | None]:
    """Return cells typed by a reading, and the first that does not fit or None; a cell that does not fit is null."""
    cells = common_cells(cells)
    if reading.type == "nested":
        return cells, None
    own = arrow_type(cells.type)
    if own == "nested":  # cells of several values each, where the reading knows single ones
        first = next((cell for cell in as_text(cells).to_pylist() if cell is not None), None)
        return pa.nulls(len(cells), TYPES[reading.type]), first
    if reading.type == "string":
        text = as_text(cells)
        if reading.written == CODE:
            return plain_whole(text), None
        return (with_labels(text, reading.labels) if reading.labels else text), None
    if own == "timestamp" and reading.type == "timestamp":
        return pc.cast(cells, TYPES["timestamp"], safe=False), None
    if own in ("bool", "int64", "float64") and reading.type in ("bool", "int64", "float64"):
        typed, text = _of_numeric(cells, own, reading.type), cells
    else:
        text = as_text(cells)
        typed = _of_text(text, reading)
    misfits = pc.and_(pc.is_valid(text), pc.is_null(typed))
    first = pc.index(misfits, True).as_py()
    return typed, None if first < 0 else str(as_text(text)[first].as_py())


def _of_numeric(cells: ArrowCells, own: str, wanted: str) -> ArrowCells:
    if own == wanted or wanted == "float64":
        return pc.cast(cells, TYPES[wanted], safe=False)
    if wanted == "bool":
        return parse_bools(as_text(cells))
    return pc.cast(cells, pa.int64()) if own == "bool" else parse_wholes(pc.cast(cells, pa.float64()))


def _of_text(text: ArrowCells, reading: Reading) -> ArrowCells:
    if reading.type == "bool":
        return parse_bools(text)
    if reading.type == "timestamp":
        return _mapped(text, lambda values: _dates(values, reading.written))
    if reading.written != COMMA:
        try:
            return pc.cast(text, TYPES[reading.type])
        except pa.ArrowInvalid:
            pass
    numbers = _mapped(text, lambda values: parse_numbers(values, cast(Notation, reading.written or POINT)))
    return parse_wholes(numbers) if reading.type == "int64" else numbers


def _mapped(text: ArrowCells, parse: Callable[[ArrowCells], ArrowCells]) -> ArrowCells:
    """Parse each different cell once."""
    encoded = pc.dictionary_encode(text).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # no cells at all
        return pa.chunked_array([], parse(pa.array([], pa.string())).type)
    return pa.chunked_array([pc.take(parse(encoded.dictionary), encoded.indices)])


def _dates(values: ArrowCells, written: str) -> ArrowCells:
    dates: pd.Series = parse_dates(values.to_pylist(), written)
    return pa.array(dates, type=TYPES["timestamp"], from_pandas=True)
