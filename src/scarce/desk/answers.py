"""The answers of the service: rows scored or decided by one model, as JSON, as Arrow and as they are recorded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from scarce._typing import Cell, Json
from scarce.engines import RowReader

from .bodies import Batch
from .errors import DeskError
from .loaded import Loaded
from .money import Stakes

__all__ = ["Answer", "decide_rows", "score_rows"]

POSITIVE, NEGATIVE = "positive", "negative"
_MOST_REASONS = 3


@dataclass(frozen=True)
class Answer:
    """The rows of a request with their scores and decisions."""

    score: list[float]
    probability: list[float]
    decision: list[str]
    expected: list[dict[str, float]] | None = None
    reasons: list[list[Json]] | None = None

    @property
    def decisions(self) -> dict[str, int]:
        """Count of each decision."""
        return Counter(self.decision)

    def money(self, row: int) -> float | None:
        """Return what the decision about a row is expected to earn."""
        return None if self.expected is None else self.expected[row][self.decision[row]]

    def json(self, batch: Batch, loaded: Loaded) -> Json:
        """Return the answer for JSON."""
        shared: Json = {} if self.expected is not None else {"threshold": loaded.threshold}
        shared |= {"version": loaded.version, "model": loaded.model}
        results = [self._result(row, batch) for row in range(len(self.score))]
        if not batch.alone:
            return {**shared, "results": results}
        missing = [name for name in loaded.columns if name not in batch.rows[0]]
        return {**results[0], **shared, "missing": missing}

    def table(self, batch: Batch, loaded: Loaded) -> pa.Table:
        """Return the answer for Arrow; the model is in the metadata of its schema."""
        columns: dict[str, Any] = {} if batch.ids is None else {"id": pa.array(batch.ids, pa.string())}
        columns |= {
            "score": self.score,
            "probability": self.probability,
            "decision": pa.array(self.decision, pa.string()),
        }
        for name in ("score", "probability"):
            columns[name] = pa.array(columns[name], pa.float64())
        if self.expected is not None:
            columns["money"] = pa.array([self.money(row) for row in range(len(self.score))], pa.float64())
        metadata = {"model": loaded.model, "version": str(loaded.version or ""), "threshold": repr(loaded.threshold)}
        return pa.table(columns).replace_schema_metadata(metadata)

    def to_record(self, batch: Batch, loaded: Loaded) -> list[Json]:
        """Return the rows as they are recorded."""
        now, rows = datetime.now(UTC), batch.rows.to_pylist() if batch.is_arrow else batch.rows
        return [
            {
                "id": None if batch.ids is None else batch.ids[number],
                "at": now,
                "row": {name: _plain(cell) for name, cell in row.items()},
                "score": self.score[number],
                "probability": self.probability[number],
                "decision": self.decision[number],
                "money": self.money(number),
                "version": loaded.version,
                "model": loaded.model,
            }
            for number, row in enumerate(rows)
        ]

    def _result(self, row: int, batch: Batch) -> Json:
        result: Json = {} if batch.ids is None else {"id": batch.ids[row]}
        result["decision"] = self.decision[row]
        if self.expected is not None:
            result |= {"money": self.money(row), "expected": self.expected[row]}
        result |= {"score": self.score[row], "probability": self.probability[row]}
        if self.reasons is not None:
            result["reasons"] = self.reasons[row]
        return result


def score_rows(loaded: Loaded, batch: Batch, *, explain: bool = False) -> Answer:
    """Score the rows of a request."""
    if batch.alone and not explain:
        found = loaded.scorer.score_row(batch.rows[0])
        return Answer(
            [found.score], [loaded.probability_of_one(found.probability)], [POSITIVE if found.positive else NEGATIVE]
        )
    typed = _reader_of(batch)(loaded.scorer.reader)
    scored = loaded.scorer.score_typed(typed)
    return Answer(
        scored.score.tolist(),
        loaded.probability(scored.probability).tolist(),
        [POSITIVE if positive else NEGATIVE for positive in scored.positive.tolist()],
        reasons=loaded.explain(typed, _MOST_REASONS) if explain and len(batch) else [] if explain else None,
    )


def decide_rows(loaded: Loaded, batch: Batch) -> Answer:
    """Decide the rows of a request by the gains of the request or of the audit."""
    stakes = _stakes(loaded, batch)
    answer = score_rows(loaded, batch)
    if batch.alone:
        decision, expected = stakes.of_row(batch.rows[0], answer.probability[0])
        return Answer(answer.score, answer.probability, [decision], [expected])
    found = stakes.of_rows(_reader_of(batch), np.array(answer.probability))
    return Answer(
        answer.score,
        answer.probability,
        [found.names[number] for number in found.best.tolist()],
        [dict(zip(found.names, row, strict=True)) for row in found.expected.tolist()],
    )


def _stakes(loaded: Loaded, batch: Batch) -> Stakes:
    gains, cost = batch.rest.get("gains"), batch.rest.get("check_cost")
    if gains is not None:
        return loaded.stakes_for(gains, cost)
    own = loaded.stakes
    if own is None:
        raise DeskError("The audit knows no gains; send what the outcomes tp, fp, tn and fn earn (`gains`).")
    return own if cost is None else own.with_check_cost(cost)


def _reader_of(batch: Batch) -> Callable[[RowReader], Sequence[Any]]:
    if batch.is_arrow:
        return lambda reader: reader.of_arrow(batch.rows)
    return lambda reader: reader.of_rows(batch.rows)


def _plain(cell: Cell) -> Cell:
    """Return a cell as JSON holds it."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell if cell is None or isinstance(cell, (str, int, float, bool)) else str(cell)
