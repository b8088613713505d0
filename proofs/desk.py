"""The bars of the review desk and of the scoring service."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from proofs import desk_pages, desk_service
from proofs.cases import Case, Proof
from proofs.parts import Parts

_TITLES = {
    "load": "A decision among 200 a second",
    "speed": "One row, and a thousand, beside LightGBM",
    "bits": "Scores of the service and of the model",
    "fuzz": "Requests made from the schema",
    "pages": "The queue with 100,000 cases",
    "kills": "Verdicts and kills",
}
_STATEMENTS = {
    "load": "`POST /v1/decide` and an empty route, each with its turns of a few seconds, for 60 seconds in all.",
    "speed": "One row inside the process, and 1,000 rows as Arrow, against `Booster.predict` of the same rows.",
    "bits": "Rows that the service scored against `score_samples` of the same rows.",
    "fuzz": "What schemathesis makes of `/openapi.json`, with and without a token.",
    "pages": "Time to the first byte, the median of turns, against a desk with 1,000 cases.",
    "kills": "Eight clients decide at once, and the server is killed at random moments.",
}


def _proof(name: str, cases: Callable[[], Iterator[Case]]) -> Callable[[], Proof]:
    columns = ("what", "where", "measured", "bar", "verdict")
    return lambda: Proof(_TITLES[name], _STATEMENTS[name], columns, list(cases()))


PARTS = {name: _proof(name, cases) for name, cases in {**desk_service.PARTS, **desk_pages.PARTS}.items()}
PROOF = Parts("desk", "The review desk and the scoring service", PARTS)
