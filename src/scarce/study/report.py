"""The report of a study: one HTML page that refers to nothing outside itself, CSV, and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from scarce._files import written_whole
from scarce._typing import Cell, Json, Record
from scarce.tables.writing import inert_cell

from .spec import Study
from .store import Store
from .tabulation import tabulate

__all__ = ["difference_place", "differences_title", "fine", "interval", "number", "p_text", "write_report"]

# A drawing of more methods than this cannot be read.
MOST = 50


def write_report(study: Study, store: Store, folder: Path) -> Json:
    """Write ``report.html``, ``table.csv``, ``cells.csv`` and ``table.tex`` into a folder.

    A study of groups of sets has ``differences.csv`` as well.

    Returns
    -------
    dict
        The contents of the report, as plain data.
    """
    data = tabulate(study, store)
    texts = {
        "report.html": html(data),
        "table.csv": _csv(_table_lines(data)),
        "cells.csv": _csv(_cell_lines(study, store)),
        "table.tex": latex(data),
    }
    if data["differences"]:
        texts["differences.csv"] = _csv(_difference_lines(data))
    if data["several"] and data["differences"]:
        from scarce._svg import to_file

        from . import plots

        texts["differences.svg"] = to_file(plots.gains(data["differences"]))
    # All are made before the first is written, so that a failure leaves an earlier report as it was.
    for name, text in texts.items():
        with written_whole(folder / name, force=True) as new:
            new.write_text(text, encoding="utf-8")
    return data


def html(data: Record) -> str:
    """Return the report as a page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from . import plots

    environment = Environment(loader=PackageLoader("scarce.study"), autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"number": number, "signed": signed, "fine": fine, "p": p_text}
    environment.globals |= {"interval": interval}
    drawings = {
        "curves": [plots.plane(c) if "points" in c else plots.panels(data["curves"]) for c in data["curves"][:1]],
        "differences": [plots.gains(data["differences"])] if data["several"] and data["differences"] else [],
        "means": [
            plots.means(table) for table in data["tables"] if 0 < sum(c["n_sets"] > 0 for c in table["columns"]) <= MOST
        ],
        "agreement": [drawn for table in data["tables"] if (drawn := plots.agreement(table))],
        "ranks": [
            (f"{table['label']}, {name}", plots.rank_diagram(ranking))
            for table in data["tables"]
            for name, ranking in table["rankings"].items()
            if 3 <= len(ranking["ranks"]) <= MOST
        ],
    }
    return environment.get_template("study.html.jinja").render(
        study=data, plots=drawings, differences_title=differences_title(data)
    )


def latex(data: Record) -> str:
    """Return each table as a LaTeX tabular, sets as rows, the best of our figures in bold."""
    parts = []
    for table in data["tables"]:
        columns = [c for c in table["columns"] if c["n_sets"]]
        best = min if table["lower_is_better"] else max
        lines = [
            f"% {data['name']}, {table['label']}: {data['source']}",
            rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
            " & ".join(["set", *(_tex(c["column"]) for c in columns)]) + r" \\ \hline",
        ]
        for i, set_ in enumerate(table["sets"]):
            row = [c["values"][i] for c in columns]
            there = [value for value in row if value is not None]
            top = number(best(there)) if there else ""
            cells = [rf"\textbf{{{top}}}" if number(value) == top and top else number(value) for value in row]
            lines.append(" & ".join([_tex(set_), *cells]) + r" \\")
        lines.append(r"\hline")
        for name, key in [("mean", "mean")] + [("printed", "printed_mean")] * data["has_printed"]:
            lines.append(" & ".join([name, *(number(c[key]) for c in columns)]) + r" \\")
        parts.append("\n".join([*lines, r"\end{tabular}", ""]))
    return "\n".join(parts)


def differences_title(data: Record) -> str:
    """Return the title of the table of differences."""
    if data["several"]:
        return f"Each method less {data['control']}, by day"
    return f"{data['control']} less each other method, average precision"


def difference_place(row: Record, data: Record) -> str:
    """Return where a difference was found, and of which metric it is where there are several."""
    metric = f"{row['label']}, " if data["several"] else ""
    return metric + row["place"] + (f", {row['sets']} of {row['of']} sets" if row["of"] > 1 else "")


def number(value: float | None) -> str:
    """Write a figure as the papers do: three places."""
    return "" if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Write a difference with its sign."""
    return "" if value is None else f"{value:+.3f}".replace("-", "−")


def fine(value: float | None) -> str:
    """Write a small difference or an end of its interval: four places and the sign."""
    return "" if value is None else f"{value:+.4f}".replace("-", "−")


def interval(low: float | None, high: float | None) -> str:
    """Write the ends of an interval."""
    return "" if low is None or high is None else f"{signed(low)} to {signed(high)}"


def p_text(value: float | None) -> str:
    """Write a p-value."""
    if value is None:
        return ""
    return "< .001" if value < 0.001 else f"{value:.3f}"


def _table_lines(data: Record) -> Iterable[Sequence[Cell]]:
    beside = ("printed", "difference") if data["has_printed"] else ()
    yield "study", "metric", "set", "method", "scaling", "ours", "standard deviation", "splits", *beside
    for table in data["tables"]:
        for column in table["columns"]:
            for i, set_ in enumerate(table["sets"]):
                ours, printed = column["values"][i], column["printed"][i]
                if ours is None and printed is None:
                    continue
                apart = None if ours is None or printed is None else ours - printed
                place = (data["name"], table["metric"], set_, column["label"], column["scaling"])
                yield *place, ours, column["spread"][i], column["splits"][i], *((printed, apart) if beside else ())


def _difference_lines(data: Record) -> Iterable[Sequence[Cell]]:
    names = ("place", "sets", "against", "ours", "theirs", "difference", "low", "high", "drawn")
    metric = ("metric",) if data["several"] else ()
    names = (*metric, *names)
    yield "study", "control is" if data["several"] else "ours is", *names, "wins", "ties", "losses"
    for row in data["differences"]:
        yield data["name"], data["control"], *(row[name] for name in names), *row["record"]


def _cell_lines(study: Study, store: Store) -> Iterable[Sequence[Cell]]:
    yield "set", "split", "method", "metric", "value", "fit seconds", "predict seconds", "peak MB", "chosen", "written"
    plan = study.plan()
    stored = store.read({planned.cell.key for planned in plan})
    for planned in plan:
        outcome = stored.get(planned.cell.key)
        for metric, value in (outcome.figures if outcome else {}).items():
            assert outcome is not None
            cost = (outcome.fit_seconds, outcome.predict_seconds, outcome.peak_mb, outcome.chosen or "")
            yield planned.set, planned.split, planned.method.column, metric, value, *cost, outcome.written


def _csv(lines: Iterable[Sequence[Cell]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([inert_cell(cell) for cell in line] for line in lines)
    return stream.getvalue()


def _tex(text: str) -> str:
    for plain, written in (("\\", r"\textbackslash "), ("_", r"\_"), ("%", r"\%"), ("&", r"\&"), ("γ", r"$\gamma$")):
        text = text.replace(plain, written)
    return text
