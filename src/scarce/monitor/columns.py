"""The drift of single columns: distributions, empty cells and unknown categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact

from scarce.audit.shift import column_apart
from scarce.metrics._holm import holm
from scarce.tables import MISSING, Column

from .reference import Reference
from .rows import NewRows

__all__ = ["ColumnDrift", "columns_apart", "population_stability_index"]

BINS = 10
# The usual limit below which a population counts as stable.
STABLE = 0.1
# A smaller change in the share of empty cells or unknown categories is of no use to anybody.
POINT = 0.01


@dataclass(frozen=True)
class ColumnDrift:
    """A column, or the score, of new rows beside that of the tested ones.

    Attributes
    ----------
    name : str
        The column.
    psi : float
        The population stability index, 0 for equal distributions.
    p_value : float
        The chance of such a difference among rows of one kind, corrected for the number of columns (Holm): the
        Kolmogorov-Smirnov test for numbers, the chi-squared test for categories.
    before, now : str or float
        The median or the most frequent value.
    missing_before, missing_now, p_missing : float
        The share of empty cells, and the corrected p-value of its change (Fisher's exact test).
    unknown_before, unknown_now, p_unknown : float or None
        The same of categories that a model had not seen; None for numbers.
    """

    name: str
    psi: float
    p_value: float
    before: str | float | None
    now: str | float | None
    missing_before: float = 0.0
    missing_now: float = 0.0
    p_missing: float = 1.0
    unknown_before: float | None = None
    unknown_now: float | None = None
    p_unknown: float | None = None

    def differs(self, level: float) -> bool:
        """Return whether the distribution differs by more than chance and by enough to matter."""
        return self.p_value < level and self.psi >= STABLE

    def lacks_more(self, level: float) -> bool:
        """Return whether the share of empty cells differs by more than chance and by a point or more."""
        return self.p_missing < level and abs(self.missing_now - self.missing_before) >= POINT

    def knows_less(self, level: float) -> bool:
        """Return whether unknown categories have become more, beyond chance and by a point or more."""
        if self.p_unknown is None or self.unknown_now is None or self.unknown_before is None:
            return False
        return self.p_unknown < level and self.unknown_now - self.unknown_before >= POINT


def population_stability_index(old: pd.Series, new: pd.Series, kind: str = "number") -> float:
    """Return the population stability index: the sum over bins of the difference of shares times that of their logs.

    Numbers are binned by the tenths of the old values, categories by value, the ten most frequent ones of both and
    the others together; empty cells have a bin of their own. Half a row is added to each bin.

    Examples
    --------
    >>> import pandas as pd
    >>> from scarce.monitor.columns import population_stability_index
    >>> old = pd.Series([1.0, 2.0, 3.0, 4.0] * 50)
    >>> round(population_stability_index(old, old), 3), population_stability_index(old, old + 2) > 0.25
    (0.0, True)
    """
    if kind == "number":
        edges = np.unique(np.quantile(old.dropna(), np.arange(1, BINS) / BINS)) if old.notna().any() else np.empty(0)
        bins = [np.where(part.isna(), len(edges) + 1, np.searchsorted(edges, part, side="left")) for part in (old, new)]
        size = len(edges) + 2
        counts = [np.bincount(part, minlength=size) for part in bins]
    else:
        both = pd.concat([part.value_counts() for part in (old, new)], axis=1).fillna(0.0).to_numpy()
        both = both[np.argsort(-both.sum(axis=1), kind="stable")]
        both = np.vstack([both[:BINS], both[BINS:].sum(axis=0)])
        counts = [both[:, 0], both[:, 1]]
    held = (counts[0] + counts[1]) > 0
    shares = [(c[held] + 0.5) / (c[held] + 0.5).sum() for c in counts]
    return float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())


def columns_apart(reference: Reference, rows: NewRows, columns: Sequence[Column]) -> list[ColumnDrift]:
    """Compare each column of new rows with that of the tested ones; dates, which go on by themselves, are left out."""
    old, new = reference.X[reference.drawn], rows.sample.frame
    tested = [c for c in columns if c.kind != "date"]
    if not tested:
        return []
    apart = [column_apart(old[c.name], new[c.name], c.kind) for c in tested]
    empty_before = [_empty(old[c.name], c.kind) for c in tested]
    p_empty = [
        _share_p(before, len(old), rows.missing[c.name], rows.count)
        for c, before in zip(tested, empty_before, strict=True)
    ]
    total = reference.about["rows"]
    unknown_before = {c.name: reference.about["unknown"].get(c.name) for c in tested if c.name in rows.unknown}
    p_unknown = {
        name: _share_p(round(share * total), round(total), rows.unknown[name], rows.count)
        for name, share in unknown_before.items()
        if share is not None
    }
    unknown_p = dict(zip(p_unknown, holm(list(p_unknown.values())), strict=True))
    found = []
    for c, a, p, before, p_e in zip(
        tested, apart, holm([a.p_value for a in apart]), empty_before, holm(p_empty), strict=True
    ):
        known = c.name in unknown_p
        found.append(
            ColumnDrift(
                c.name,
                population_stability_index(old[c.name], new[c.name], c.kind),
                float(p),
                a.before,
                a.now,
                before / len(old),
                rows.missing[c.name] / rows.count,
                float(p_e),
                unknown_before[c.name] if known else None,
                rows.unknown[c.name] / rows.count if known else None,
                unknown_p.get(c.name),
            )
        )
    return sorted(found, key=lambda column: -column.psi)


def _empty(cells: pd.Series, kind: str) -> int:
    return int((cells == MISSING).sum()) if kind == "category" else int(cells.isna().sum())


def _share_p(before: int, of_before: int, now: int, of_now: int) -> float:
    """Return the two-sided p-value of Fisher's exact test that two shares are equal."""
    if before == now == 0:
        return 1.0
    return float(fisher_exact([[before, of_before - before], [now, of_now - now]]).pvalue)
