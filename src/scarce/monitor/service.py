"""The monitor of a model in use."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.compose import ColumnTransformer

from scarce._errors import MonitorError
from scarce._typing import Cell, FloatArray
from scarce._values import plain
from scarce.audit.money import OUTCOMES
from scarce.audit.reference import OWN
from scarce.engines import load_model
from scarce.engines.saved import SavedModel, row_marks
from scarce.tables import Table

from .advice import RENEW_EVERY, Advice, Known, advise, recipe, with_age
from .batches import Batches, outcomes_of
from .drift import measure_drift
from .outcomes import CHECKED, Outcomes, alarms_of_checked, measure_outcomes
from .reference import load_reference
from .report import DriftReport
from .rows import NewRows

__all__ = ["PerformanceMonitor"]

# So many rows of known outcome are kept for later runs, the latest ones.
KEPT = 20_000
TRAINED_ON = 0.01


class PerformanceMonitor:
    """The monitor of the model of an audit: it compares new rows with tested ones, and outcomes with promises.

    Parameters
    ----------
    folder : path
        The folder that an audit wrote.
    seed : int, default=0
        Seed of samples and resamples.
    renew_every : int, default=28
        Days after which renewal is advised even if the latest outcomes do not ask for it; 0 for never.

    Attributes
    ----------
    reports : list of DriftReport
        One for each call of `update`.
    known : DataFrame
        Rows of known outcome from all calls, the latest 20,000: renewal and recalibration are tried on them.
    checked : DataFrame
        Outcomes and probabilities of the rows checked within the budget, from all calls, the latest 20,000: what is too
        little for an alarm in one run is tested again with all of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from scarce.audit import audit, save
    >>> from scarce.datasets import make_transactions
    >>> from scarce.monitor import PerformanceMonitor
    >>> payments = make_transactions(3_000, fraud_rate=0.02, seed=0).frame[["amount", "n_items", "fraud"]]
    >>> folder = Path(mkdtemp()) / "audit"
    >>> save(audit(payments.head(2_000), "fraud", methods=["logistic"], budget=50), folder)
    >>> PerformanceMonitor(folder).update(payments.tail(1_000).drop(columns="fraud")).advice.action
    'keep'
    """

    def __init__(self, folder: str | os.PathLike[str], *, seed: int = 0, renew_every: int = RENEW_EVERY) -> None:
        if renew_every < 0:
            raise MonitorError(f"`renew_every` is a number of days, or 0 for never; it is {renew_every}.")
        self.model: SavedModel = load_model(Path(folder))
        self.reference = load_reference(Path(folder), self.model)
        self.seed = seed
        self.renew_every = renew_every
        self.reports: list[DriftReport] = []
        self.known = self.checked = pd.DataFrame()
        self._last: dict[bool, Cell] = {}
        self._categories = _known_categories(self.model)

    def update(
        self, X: pd.DataFrame, y: ArrayLike | None = None, *, period: Cell = None, chance: ArrayLike | None = None
    ) -> DriftReport:
        """Take the rows of a period, and report.

        Parameters
        ----------
        X : DataFrame
            Rows with the columns of the audited table, as they were written there. If it has the target column,
            outcomes are taken from there.
        y : array-like, optional
            Outcomes, where they are known: those of the target, or 1 and 0; empty, NaN, None or -1 elsewhere.
        period : number, str or date, optional
            The period of the rows; by default the latest moment among them, or the number of the call. Periods must not
            go backwards; those of calls with outcomes, which come late, are a sequence of their own.
        chance : array-like, optional
            The chance of each row to have been checked, NaN where it is unknown: the column ``chance_drawn`` of a
            queue.

        Returns
        -------
        DriftReport
        """
        batches, rows = self.start()
        if not len(X):
            raise MonitorError("There are no new rows; give a table that has some.")
        frame = Table.from_frame(X, readings=batches.readings).frame
        outcome = None if y is None else outcomes_of(np.asarray(y, dtype=object), batches.target, "`y`")
        if outcome is not None and len(outcome) != len(X):
            raise MonitorError(f"`y` must hold one outcome for each of the {len(X):,} rows; it holds {len(outcome):,}.")
        rows.add(batches.rows(frame, outcome, None if chance is None else np.asarray(chance, dtype=np.float64)))
        return self.finish(batches, rows, period)

    def start(self) -> tuple[Batches, NewRows]:
        """Return what scores the parts of a table, and what collects them."""
        batches = Batches(self.model)
        checks = batches.settings.budget_plan.checks
        return batches, NewRows(self.model.columns, self._categories, checks, self.seed)

    def finish(self, batches: Batches, rows: NewRows, period: Cell = None) -> DriftReport:
        """Report on the rows that were collected."""
        with_outcomes = rows.positive.seen + rows.negative.seen > 0
        period = self._period(batches, rows, period)
        last = self._last.get(with_outcomes)
        if last is not None and _is_before(period, last):
            raise MonitorError(
                f"The new rows are of period {plain(period)}, which is before {plain(last)}, the latest one so far; "
                "give rows of that period or a later one."
            )
        hidden = self.model.manifest.get("hidden", ())
        drift = measure_drift(self.reference, rows, self.model.columns, hidden=hidden, seed=self.seed)
        outcomes = measure_outcomes(
            self.reference, rows, names=batches.names, delay=batches.delay, by_period=batches.by_period
        )
        if outcomes is not None:
            self._remember(outcomes)
            outcomes = self._with_earlier(outcomes)
        by_outcomes = self._advice(batches, rows, drifts=bool(drift.alarms))
        advice = with_age(by_outcomes, self._age(), self.renew_every)
        sample = rows.sample.frame[[c.name for c in self.model.own_columns]]
        trained_on = float(np.isin(row_marks(sample), self.model.training_rows).mean())
        notes = []
        if trained_on >= TRAINED_ON:
            notes.append(
                f"{trained_on:.0%} of the new rows are training rows of the model, whose scores are flattered; give "
                "rows that came later."
            )
        kept = None if outcomes is None else replace(outcomes, rows=pd.DataFrame(), checked=pd.DataFrame())
        report = DriftReport(period, rows.count, drift, kept, advice, trained_on, notes)
        self.reports.append(report)
        self._last[with_outcomes] = period
        return report

    def resume(self, last: dict[bool, Cell], known: pd.DataFrame, checked: pd.DataFrame | None = None) -> None:
        """Go on where an earlier process stopped: the latest periods without and with outcomes, and what was kept."""
        self._last, self.known = dict(last), known
        self.checked = pd.DataFrame() if checked is None else checked

    def _period(self, batches: Batches, rows: NewRows, period: Cell) -> Cell:
        if period is not None:
            return period
        if batches.settings.time is None:
            return 1 + max((v for v in self._last.values() if isinstance(v, int)), default=0)
        return pd.Timestamp(int(rows.latest)).floor("s") if batches.dated else rows.latest

    def _remember(self, outcomes: Outcomes) -> None:
        if not len(outcomes.rows):
            return
        new = outcomes.rows[outcomes.rows[OWN + "stands_for"].notna()].sort_values([OWN + "moment", OWN + "number"])
        names = [c.name for c in self.model.columns]
        new = new.assign(**{OWN + "mark": row_marks(new[[*names, OWN + "moment"]])})
        parts = [part for part in (self.known, new) if len(part)]
        if not parts:
            return
        both = pd.concat(parts, ignore_index=True)
        both = both.drop_duplicates(OWN + "mark", keep="last")
        order = np.argsort(both[OWN + "moment"].to_numpy(), kind="stable")
        self.known = both.iloc[order].tail(KEPT).reset_index(drop=True)

    def _with_earlier(self, outcomes: Outcomes) -> Outcomes:
        """Keep the rows checked within the budget, and test them together with those of earlier runs."""
        if not len(outcomes.checked):
            return outcomes
        names = [c.name for c in self.model.columns]
        new = outcomes.checked[[OWN + name for name in CHECKED]].reset_index(drop=True)
        new.insert(0, "mark", row_marks(outcomes.checked[[*names, OWN + "moment"]]))
        earlier = self.checked
        if len(earlier):
            earlier = earlier[~earlier["mark"].isin(new["mark"])]  # a row that is shown again counts once
        if not len(earlier):
            self.checked = new.tail(KEPT)
            return outcomes
        self.checked = pd.concat([earlier, new], ignore_index=True).tail(KEPT).reset_index(drop=True)
        together = alarms_of_checked(self.reference, self.checked, "Since the audit, ")
        return replace(outcomes, alarms=[*outcomes.alarms, *together])

    def _age(self) -> int:
        """Return the days since the model was fitted."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.model.manifest["written"]).astimezone(UTC)).days

    def _advice(self, batches: Batches, rows: NewRows, *, drifts: bool) -> Advice:
        old = self.reference
        money = old.amount is not None and batches.settings.objective == "profit"
        before = Known(
            old.X, old.outcome, old.weight, _worth(old.amount, len(old.X), money), old.probability, old.gains
        )
        known, names = self.known, [c.name for c in self.model.columns]
        if not len(known):
            nothing = before.part(np.empty(0, dtype=np.intp))
            return advise(recipe(self.model.pipeline), before, nothing, share=0.0, drifts=drifts)
        amount = known[OWN + "amount"].to_numpy() if OWN + "amount" in known else None
        gains = known[[OWN + name for name in OUTCOMES]].to_numpy() if OWN + "tp" in known else None
        latest = Known(
            known[names],
            known[OWN + "outcome"].to_numpy(),
            known[OWN + "stands_for"].to_numpy(),
            _worth(amount, len(known), money and amount is not None),
            known[OWN + "probability"].to_numpy(),
            gains,
            known[OWN + "weight"].to_numpy(),
        )
        share = len(rows.queue.frame) / rows.count if batches.by_period else min(1.0, rows.checks / rows.count)
        return advise(
            recipe(self.model.pipeline),
            before,
            latest,
            share=share,
            money=money,
            spread=float(old.about["spread"]),
            drifts=drifts,
            seed=self.seed,
        )


def _worth(amount: FloatArray | None, n: int, money: bool) -> FloatArray:
    return amount if money and amount is not None else np.ones(n)


def _is_before(period: Any, last: Any) -> bool:
    try:
        return bool(period < last)
    except TypeError as error:
        raise MonitorError(
            f"The period {period!r} cannot be compared with {last!r}, the latest one so far; name periods alike."
        ) from error


def _known_categories(model: SavedModel) -> dict[str, set[str]]:
    """Return the values of each category column that the encoder of the model has seen."""
    found: dict[str, set[str]] = {}
    encoder: ColumnTransformer = model.pipeline[0]
    for name, step, columns in encoder.transformers_:
        if name in ("few", "many"):
            step = step[0] if hasattr(step, "steps") else step
            found.update({column: set(seen) for column, seen in zip(columns, step.categories_, strict=True)})
    return found
