"""The difference of an audit from an earlier one of the same kind."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from scarce._errors import AuditError
from scarce._messages import listed
from scarce._typing import Json
from scarce.engines.manifest import check_file, read_manifest
from scarce.engines.saved import MANIFEST
from scarce.tables.types import cell_text

from .result import Audit

__all__ = ["changes_since"]


def changes_since(folder: Path, result: Audit) -> list[str]:
    """Return in sentences what changed since an earlier audit, and what became of its queue.

    Parameters
    ----------
    folder : path
        The folder that the earlier audit wrote.
    result : Audit
        The audit of now.
    """
    if not (folder / MANIFEST).exists():
        raise AuditError(f"{folder} is not the folder of an audit; name one that scarce audit wrote.")
    manifest = read_manifest(folder / MANIFEST)
    check_file(folder, "report.json", manifest)
    try:
        before = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        queue = pd.read_csv(folder / "queue.csv", dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise AuditError(f"The files of the audit in {folder} are damaged ({error}); name another one.") from error
    return [
        *_of_table(before, result),
        *_of_methods(before, result),
        *_of_queue(before, queue, manifest["identifiers"], result),
    ]


def _of_table(before: Json, result: Audit) -> list[str]:
    profile, data = result.profile, before["data"]
    rate = profile.positives / profile.labelled
    found = [
        f"The table has {profile.rows:,} rows, {profile.labelled:,} of known outcome and {profile.positives:,} "
        f"positive ({rate:.2%}); it had {data['rows']:,}, {data['labelled']:,} and {data['positives']:,} "
        f"({data['rate']:.2%})."
    ]
    old = {column["name"]: column for column in data["columns"]}
    new = {column.name: column for column in profile.columns if not result.names[column.name].hidden}
    for what, names in (
        ("New columns", [name for name in new if name not in old]),
        ("Columns that are no longer there", [name for name in old if name not in new]),
    ):
        if names:
            found.append(f"{what}: {listed(names)}.")
    for name in new.keys() & old.keys():
        was, now = (old[name]["kind"], old[name]["role"]), (new[name].kind, new[name].role)
        if was != now:
            found.append(f"Column {name!r} is read as {now[0]} ({now[1]}); it was {was[0]} ({was[1]}).")
    return [found[0], *sorted(found[1:])]


def _of_methods(before: Json, result: Audit) -> list[str]:
    winner = result.comparison.winner
    was = before["comparison"]["methods"][0]
    name = result.comparison.deciding
    found = []
    if was["name"] != winner.candidate.name:
        found.append(f"{winner.candidate.name} came first; it was {was['name']}.")
    same = [method for method in before["comparison"]["methods"] if method["name"] == winner.candidate.name]
    if same and name in same[0]["figures"]:
        old, new = same[0]["figures"][name], winner.figures[name]
        apart = new.low > old["high"] or new.high < old["low"]
        judged = "more than the intervals allow for" if apart else "within the intervals"
        found.append(
            f"{winner.candidate.name} has {_title(before, name)} {new.estimate:.3g} ({new.low:.3g} to {new.high:.3g}); "
            f"it had {old['estimate']:.3g} ({old['low']:.3g} to {old['high']:.3g}), a change {judged}."
        )
    return found


def _title(before: Json, name: str) -> str:
    return str(before["comparison"]["titles"].get(name, name)).lower()


def _of_queue(before: Json, queue: pd.DataFrame, identifiers: list[str], result: Audit) -> list[str]:
    old, new = before["headline"], result.promise
    found = [
        f"Of {new.size:,} rows to check between {new.low:,} and {new.high:,} should be positive; it was between "
        f"{old['hits_low']:,} and {old['hits_high']:,} of {old['size']:,}."
    ]
    keys = [name for name in identifiers if name in queue and name in result.frame]
    if not keys or not before["queue"]["new_rows"]:
        return found
    names = [name for name in keys if name in result.queue]
    if names:
        again = set(map(tuple, queue[names].to_numpy())) & set(_texts(result.queue, names))
        found.append(f"{len(again):,} of these rows were in the earlier queue too.")
    known = pd.Series(result.target.y, index=_texts(result.frame, keys))
    known = known[~known.index.duplicated()]
    verdicts = known.reindex(list(map(tuple, queue[keys].to_numpy()))).dropna()
    checked = verdicts[verdicts >= 0]
    if not len(checked):
        return [*found, "No row of the earlier queue has an outcome yet."]
    hits = int(checked.sum())
    text = f"{len(checked):,} of the {len(queue):,} rows of the earlier queue have an outcome now, {hits:,} positive"
    if len(checked) == len(queue):
        inside = old["hits_low"] <= hits <= old["hits_high"]
        text += f": {'as' if inside else 'not as'} promised"
    return [*found, text + "."]


def _texts(frame: pd.DataFrame, names: list[str]) -> list[tuple[str, ...]]:
    columns = [frame[name].map(cell_text, na_action="ignore").fillna("").astype(str) for name in names]
    return list(zip(*columns, strict=True))
