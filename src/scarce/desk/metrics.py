"""The figures of the service for Prometheus."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from scarce._typing import FloatArray

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
