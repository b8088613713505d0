"""The figures of the service for Prometheus."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from scarce._typing import FloatArray, Json

from .loaded import Loaded

__all__ = ["Metrics"]

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9)
_ROWS_TO_COUNT_ONE_BY_ONE = 200


class Metrics:
    """Counts, times and the distribution of probabilities, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._used: dict[Any, Any] = {}
        route = ["route"]
        self._requests = Counter(
            "scarce_requests", "Requests by route and status.", [*route, "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "scarce_request_seconds", "Time to answer.", route, buckets=_SECONDS, registry=self.registry
        )
        self._rows = Counter(
            "scarce_rows", "Rows scored, by model and decision.", ["model", "decision"], registry=self.registry
        )
        self._probability = Histogram(
            "scarce_probability", "Probabilities of scored rows.", ["model"], buckets=_SHARES, registry=self.registry
        )
        self._model = Gauge(
            "scarce_model", "1 for the model at work.", ["model", "version", "compiled"], registry=self.registry
        )
        self._reloads = Counter("scarce_reloads", "Models that were loaded.", registry=self.registry)
        self._watched: dict[str, Gauge] = {}

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._labelled(self._requests, route, str(status)).inc()
        self._labelled(self._seconds, route).observe(seconds)

    def scored(self, model: str, decisions: dict[str, int], probability: FloatArray | list[float]) -> None:
        """Count the rows of a request; of many rows the first stand for all in the distribution."""
        for decision, rows in decisions.items():
            self._labelled(self._rows, model, decision).inc(rows)
        observe = self._labelled(self._probability, model).observe
        for share in probability[:_ROWS_TO_COUNT_ONE_BY_ONE]:
            observe(float(share))

    def loaded(self, model: Loaded) -> None:
        """Show another model as the one at work."""
        self._model.clear()
        self._model.labels(model.model, str(model.version or ""), str(model.scorer.compiled).lower()).set(1)
        self._reloads.inc()

    def watched(self, at: float, report: Json) -> None:
        """Show the last report of the monitor; a figure that is not known is left out."""
        drift, outcomes = report["drift"], report["outcomes"]
        whole = outcomes["periods"][-1] if outcomes and outcomes["periods"] else {}
        intervals = {
            "auc": (drift["auc"], "AUC of a classifier of new rows against tested ones; 0.5 is guessing."),
            "expected_ratio": (drift["expected_ratio"], "Expected positives, in times of those among tested rows."),
            "precision": (whole.get("precision"), "Positives among the checked rows within the budget."),
            "recall": (whole.get("recall"), "Positives within the budget among all positives."),
            "calibration": ((outcomes or {}).get("calibration"), "Positives found, in times of those expected."),
        }
        figures = {
            "time_seconds": (at, "When the monitor looked last, in seconds since 1970."),
            "rows": (report["rows"], "New rows that it looked at."),
            "alarms": (len(report["alarms"]), "Changes beyond chance that are large enough to matter."),
            "needs_person": (int(report["needs_person"]), "1 if there is an alarm, or the advice is not to keep."),
            "score_psi": (drift["score"]["psi"], "Population stability index of the score."),
            "column_psi": (
                max((column["psi"] for column in drift["columns"]), default=0.0),
                "Largest population stability index of a column.",
            ),
        }
        known = {name: (one["estimate"], text) for name, (one, text) in intervals.items() if one is not None}
        for name, (value, text) in {**figures, **known}.items():
            if name not in self._watched:
                self._watched[name] = Gauge(f"scarce_monitor_{name}", text, registry=self.registry)
            self._watched[name].set(value)

    def _labelled(self, figure: Any, *labels: str) -> Any:
        """Return a figure with labels, from those that were used before."""
        key = id(figure), labels
        found = self._used.get(key)
        if found is None:
            found = self._used[key] = figure.labels(*labels)
        return found

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them."""
        return generate_latest(self.registry)
