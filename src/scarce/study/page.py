"""The pages of all results: every study of the package, the papers' figures, ours, the difference, and the command."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scarce._files import written_whole
from scarce._typing import Record

from .kept import Kept, read_pages, stamp_line
from .report import difference_place, differences_title, fine, interval, number, p_text, signed
from .spec import Study, list_studies, load_study
from .store import Store
from .tabulation import tabulate
from .verdicts import VERDICTS

__all__ = ["write_pages"]

NEARLY_ALL = 0.9
# The page of a study is that of the first part of its name.
PAPERS = {
    "gamma": ("γk-NN", "Viola et al., ICTAI 2019", ("gamma",)),
    "gfrnn": ("GFRNN", "Zhu et al., Knowledge-Based Systems 2015", ("gfrnn",)),
    "ccnnd": ("CCNND", "Kriminger et al., IJCNN 2012", ("ccnnd",)),
    "metaap": ("MetaAP", "Viola et al., Pattern Recognition Letters 2022", ("metaap",)),
    "thesis": ("ME², CONE and profit", "Metzler, thesis 2019", ("me2", "cone", "profit")),
}
OWN = "comparisons"
_HEAD = """# Reproduction

Every table and figure of the papers that can be computed, theirs beside ours, with a page for each paper, and
[comparisons](comparisons.md) of our own. What does not hold as printed is in the [errata](../errata.md). These pages
are written by `scarce study page docs/reproduction` from a store of results; each study names the command to repeat it.

Next to a printed figure, *difference* is ours less it, as a mean over sets, with its 95 % interval by Student's t;
*p* is that of Wilcoxon's signed-rank test over sets; both need six sets whose figures are printed. *apart* is by how
much the two differ on a set, on average and whatever the sign. Columns that a paper does not have are marked †:
general-purpose methods, shown in every comparison.

A statement of a paper is judged by the 95 % interval of the difference it is about: *confirmed* where the whole
interval is on its side, *refuted* where the whole interval is on the other side, and *inconclusive* where it includes
both. *Detectable* is half of the interval: the smallest difference that so many sets and splits can distinguish from
none. The interval is one over sets, by Student's t; with fewer than six sets it is one over their splits, widened for
the training rows that splits have in common (Nadeau and Bengio, Machine Learning 2003), and it holds for these sets
alone. For mean ranks it is the critical difference of Bonferroni and Dunn to both sides. That two methods "do not
differ" is never confirmed, since a difference that is not found may be there.

*Not run since* marks figures of a study that was changed after they were computed.
"""


def write_pages(store: Store, folder: Path) -> None:
    """Write a page for each paper, one for the comparisons without a paper, and an overview of all of them.

    Of a study that the store does not hold, the section of an earlier page in the folder is kept.
    """
    studies = {name: load_study(name) for name in list_studies()}
    earlier = read_pages(folder, [*studies])
    found = {
        name: _Found(tabulate(_run_part(study, store), store), earlier.get(name)) for name, study in studies.items()
    }
    pages = [*PAPERS, OWN]
    of_page = {page: [one for name, one in found.items() if _page(name) == page] for page in pages}
    files = {page: _lines_of_page(page, ones) for page, ones in of_page.items()}
    files["index"] = _overview(of_page)
    for name, lines in files.items():
        with written_whole(folder / f"{name}.md", force=True) as new:
            new.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


class _Found:
    """A study's results: from the store, or from an earlier page where that has more."""

    def __init__(self, data: Record, earlier: Kept | None) -> None:
        self.data = data
        nearly = data["cells"]["done"] >= NEARLY_ALL * data["cells"]["total"]
        self.kept = None if _was_run(data) and (nearly or earlier is None) else earlier

    @property
    def was_run(self) -> bool:
        """True if there are figures of the study as it is now."""
        return _was_run(self.data) if self.kept is None else not self.kept.is_stale(self.data["stamp"])

    @property
    def verdicts(self) -> Counter[str]:
        if self.kept is not None:
            return self.kept.verdicts(self.data["stamp"])
        return Counter(claim["verdict"] for claim in self.data["claims"])

    def section(self) -> list[str]:
        return [*_section(self.data)] if self.kept is None else self.kept.lines(self.data["stamp"])

    def summary(self) -> list[str]:
        if self.kept is None or not self.kept.overview:
            return [*_summary(self.data)]
        return self.kept.overview_lines(self.data["stamp"])


def _page(name: str) -> str:
    family = name.split("/")[0]
    return next((page for page, (_, _, families) in PAPERS.items() if family in families), OWN)


def _overview(of_page: Mapping[str, Sequence[_Found]]) -> list[str]:
    lines = [_HEAD, _line("page", "paper", "studies", "run", *VERDICTS), f"|{'---|' * (4 + len(VERDICTS))}"]
    for page, found in of_page.items():
        title, paper = (*PAPERS[page][:2],) if page in PAPERS else ("Comparisons", "none")
        verdicts = sum((one.verdicts for one in found), Counter())
        figures = len(found), sum(one.was_run for one in found), *(verdicts[verdict] for verdict in VERDICTS)
        lines.append(_line(f"[{title}]({page}.md)", paper, *map(str, figures)))
    lines += ["", "| study | what | cells | method | printed | ours | difference | p |", f"|{'---|' * 8}"]
    lines += [line for found in of_page.values() for one in found for line in one.summary()]
    return [*lines, "", "```{toctree}", ":hidden:", "", *of_page, "```"]


def _lines_of_page(page: str, found: Sequence[_Found]) -> list[str]:
    if page in PAPERS:
        title, paper, _ = PAPERS[page]
        lines = [f"# {title}: the figures of {paper}", "", "Theirs beside ours; [what the columns mean](index.md)."]
    else:
        lines = ["# Comparisons without a paper", "", "Figures of our own; [what the columns mean](index.md)."]
    for one in found:
        lines += ["", *one.section()]
    errata = {erratum["id"]: erratum["text"] for one in found for erratum in one.data["errata"]}
    if errata:
        lines += ["", "## Errata", "", *(f"### {id_}\n\n{text}\n" for id_, text in sorted(errata.items()))]
    return lines


def _run_part(study: Study, store: Store) -> Study:
    """Return the study with the first splits whose cells were nearly all run, so that columns are comparable."""
    plan = [planned for planned in study.plan() if not planned.method.rival]
    stored = store.read(planned.cell.key for planned in plan)
    if not stored:
        return study
    for splits in range(1, study.splits):
        done = [planned.cell.key in stored for planned in plan if planned.split == splits]
        if sum(done) < NEARLY_ALL * len(done):
            return study.reduce(splits=splits)
    return study


def _summary(found: Record) -> Iterator[str]:
    """Yield a line for the method that the study is about."""
    # Of many metrics the first is what the study is about.
    tables = found["tables"][: None if len(found["tables"]) <= 4 else 1]
    columns = [(t, c) for t in tables for c in t["columns"] if c["n_sets"] and c["label"] == found["control"]]
    if found["several"]:
        # A replay is about differences from its control, and not about the control.
        columns = []
    for table, column in columns:
        yield _line(_link(found), table["label"], _share(found), column["column"], *_beside(column))
    if not columns:
        yield _line(_link(found), found["title"], _share(found) if _was_run(found) else "not run", *[""] * 5)


def _section(found: Record) -> Iterator[str]:
    yield f"## {found['name']}"
    yield f"\n{found['title']}. {found['source']}.\n"
    command = f"scarce study run {found['name']}" + _options(found)
    yield f"```sh\n{command}\n```\n"
    if not _was_run(found):
        needed = ", ".join(sorted(set(found["needs"].values())))
        yield f"Not run: it needs {needed}." if needed else "Not run."
        return
    days = found["days"][0] if len(found["days"]) == 1 else f"{found['days'][0]} to {found['days'][-1]}"
    reduced = f" Reduced: {'; '.join(found['reduced'])}." if found["reduced"] else ""
    failed = found["cells"]["failed"]
    missing = found["cells"]["total"] - found["cells"]["done"] - failed
    rest = f" **Not complete**: {missing:,} {'cell was' if missing == 1 else 'cells were'} not run." if missing else ""
    if failed:
        # The last line of a search over a grid is what went wrong in its fits.
        why = "; ".join(f"{place}, {message.strip().splitlines()[-1]}" for place, message in found["failures"].items())
        rest += f" {failed:,} {'cell has' if failed == 1 else 'cells have'} no result: {why}"
    yield stamp_line(found["stamp"])
    yield f"\n{_share(found)} cells, {days}. {found['protocol']}{reduced}{rest}"
    if len(found["tables"]) > 4 and len(found["tables"][0]["sets"]) == 1:
        yield from _one_set(found["tables"])
    else:
        for table in found["tables"]:
            yield from _table(table)
    if found["differences"]:
        yield from _differences(found)
    if found["curves"]:
        yield from _curve(found["curves"])
    if found["claims"]:
        yield "\n" + _line("statement", "", "verdict", "difference", "95 % interval", "detectable", "evidence")
        yield f"|{'---|' * 7}"
        for claim in found["claims"]:
            ends = interval(claim["low"], claim["high"])
            shown = signed(claim["difference"]), ends, number(claim["least"]), claim["detail"]
            yield _line(claim["text"], claim["scaling"], claim["verdict"], *shown)
    for column, name in found["needs"].items():
        yield f"\n{column} was left out: it needs `{name}`."
    for note in found["notes"]:
        yield f"\n{note}" + ("" if note.endswith(".") else ".")
    if found["errata"]:
        yield "\nErrata: " + ", ".join(f"[{e['id']}](#{e['id']})" for e in found["errata"]) + "."


def _one_set(tables: Sequence[Record]) -> Iterator[str]:
    """Yield one table for many metrics of one set: ours, and in parentheses what is printed."""
    names = [c["column"] for c in tables[0]["columns"] if c["n_sets"]]
    yield f"\n{tables[0]['sets'][0]}; in parentheses the printed figures:\n"
    yield _line("", *names) + f"\n|---|{'---|' * len(names)}"
    for table in tables:
        figures = [(c["mean"], c["printed_mean"]) for c in table["columns"] if c["n_sets"]]
        yield _line(table["label"], *(number(a) + (f" ({number(b)})" if b is not None else "") for a, b in figures))


def _table(table: Record) -> Iterator[str]:
    columns = [c for c in table["columns"] if c["n_sets"]]
    if len(columns) > 40:
        return
    ranked = next(iter(table["rankings"].values()), None) if table["rankings"] else None
    everything = table["rankings"].get("all columns", ranked)
    yield f"\n{table['label'][0].upper()}{table['label'][1:]}, means over sets:\n"
    yield _line("method", "ours", "printed", "difference", "95 % interval", "apart", "p", "sets", "mean rank")
    yield f"|{'---|' * 9}"
    for column in columns:
        rank = everything["ranks"].get(column["column"]) if everything else None
        name = column["column"] + (" †" if column["rival"] else "")
        same = (
            f" ({number(column['ours_mean'])} on the {column['n_both']} printed)"
            if 0 < column["n_both"] < column["n_sets"]
            else ""
        )
        printed, ours, difference, p = _beside(column)
        place = "" if rank is None else f"{rank:.2f}"
        apart = number(column["apart"])
        ends = interval(column["low"], column["high"])
        yield _line(name, ours + same, printed, difference, ends, apart, p, str(column["n_sets"]), place)
    for name, ranking in table["rankings"].items():
        friedman, f = p_text(ranking["friedman_p"]), p_text(ranking["iman_davenport_p"])
        apart = f"{ranking['nemenyi_cd']:.2f} (Nemenyi) or {ranking['bonferroni_dunn_cd']:.2f} (Bonferroni-Dunn)"
        yield (
            f"\nRanks, {name}, {ranking['n_sets']} sets: Friedman {ranking['friedman']:.2f} (p {friedman}), "
            f"Iman-Davenport {ranking['iman_davenport']:.2f} (p {f}), critical difference {apart}."
        )


def _differences(found: Record) -> Iterator[str]:
    yield f"\n{differences_title(found)}:\n"
    compared = ("method", "its mean", found["control"])
    if not found["several"]:
        compared = ("against", found["control"], "the other")
    yield _line("where", *compared, "difference", "95 % interval", "drawn", "win/tie/loss")
    yield f"|{'---|' * 8}"
    for row in found["differences"]:
        place = difference_place(row, found)
        interval = "" if row["low"] is None else f"{fine(row['low'])} to {fine(row['high'])}"
        record = "/".join(map(str, row["record"]))
        figures = (number(row["ours"]), number(row["theirs"]), fine(row["difference"]))
        yield _line(place, row["against"], *figures, interval, row["drawn"], record)


def _beside(column: Record) -> tuple[str, str, str, str]:
    figures = number(column["printed_mean"]), number(column["mean"]), signed(column["difference"])
    return *figures, p_text(column["p"])


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _link(found: Record) -> str:
    return f"[{found['name']}]({_page(found['name'])}.md#{_anchor(found['name'])})"


def _curve(curves: list[Record]) -> Iterator[str]:
    for curve in curves:
        if "points" in curve:
            real, synthetic, value = max(curve["points"], key=lambda point: float(point[2]))
            plain = next((point[2] for point in curve["points"] if point[:2] == [1.0, 1.0]), None)
            at_one = "" if plain is None else f"; at (1, 1) it is {number(plain)}"
            where = f"{curve['x']} {real:.1f} and {curve['y']} {synthetic:.1f}"
            yield f"\nThe best {curve['z']} is {number(value)}, at {where}{at_one}."
            continue
        xs = sorted({point[0] for line in curve["lines"].values() for point in line})
        where = f", {curve['title']}" if curve["title"] else ""
        yield f"\n{curve['y'][0].upper()}{curve['y'][1:]} against {curve['x']}{where}:\n"
        yield f"| | {' | '.join(f'{x:g}' for x in xs)} |\n|---|{'---|' * len(xs)}"
        for name, line in curve["lines"].items():
            at = {point[0]: point[1] for point in line}
            yield f"| {name} | {' | '.join(number(at.get(x)) for x in xs)} |"


def _options(found: Record) -> str:
    splits = next((less.split()[0] for less in found["reduced"] if less.endswith("splits")), None)
    return f" --splits {splits}" if splits else ""


def _was_run(found: Record) -> bool:
    """Return whether anything was run besides rivals, whose cells several studies share."""
    return any(c["n_sets"] and not c["rival"] for table in found["tables"] for c in table["columns"])


def _share(found: Record) -> str:
    return f"{found['cells']['done']:,} of {found['cells']['total']:,}"


def _anchor(name: str) -> str:
    """Return the anchor that GitHub and Sphinx give to a heading."""
    return re.sub(r"[^\w-]", "", name.lower())
