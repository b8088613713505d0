"""The bodies and answers of the service, as its OpenAPI page describes them."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

from scarce._typing import Json

from .bodies import ARROW_FILE, ARROW_STREAM

__all__ = [
    "DECIDE",
    "ERRORS",
    "OUTCOMES",
    "REFUSALS",
    "SCORE",
    "Decision",
    "ModelAtWork",
    "Outcomes",
    "Refused",
    "Score",
    "Working",
]

_ID: Final[Json] = {"type": ["string", "integer", "null"], "maxLength": 200}
_CELL: Final[Json] = {"type": ["string", "number", "boolean", "null"]}
_ROW: Final[Json] = {"type": "object", "additionalProperties": _CELL}


def _body(example: Json, **others: Json) -> Json:
    """Return the description of a body with one row or many."""
    one = {"row": _ROW, "id": _ID, **others}
    many = {"rows": {"type": "array", "items": _ROW}, "ids": {"type": ["array", "null"], "items": _ID}, **others}
    choices = [
        {"type": "object", "properties": fields, "required": [first], "additionalProperties": False}
        for fields, first in ((one, "row"), (many, "rows"))
    ]
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"oneOf": choices}, "example": example},
                ARROW_STREAM: binary,
                ARROW_FILE: binary,
            },
        }
    }


SCORE: Final = _body({"row": {"amount": 120.5, "channel": "web"}, "id": "P00017"})
DECIDE: Final = _body(
    {"row": {"amount": 120.5}, "gains": {"tp": 0, "fp": -5, "tn": "0.02 * amount", "fn": "-amount"}, "check_cost": 2},
    gains={"type": ["object", "null"], "additionalProperties": {"type": ["number", "string"]}},
    check_cost={"type": ["number", "null"], "minimum": 0},
)
_OUTCOME: Final[Json] = {
    "type": "object",
    "properties": {"id": {**_ID, "type": ["string", "integer"]}, "positive": {"type": "boolean"}},
    "required": ["id", "positive"],
    "additionalProperties": False,
}
OUTCOMES: Final[Json] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {"outcomes": {"type": "array", "items": _OUTCOME}},
                    "required": ["outcomes"],
                    "additionalProperties": False,
                },
                "example": {"outcomes": [{"id": "P00017", "positive": True}]},
            }
        },
    }
}


class Working(BaseModel):
    """The state of the service: does it work, and is its model compiled."""

    status: str
    compiled: bool
    because: str


class ModelAtWork(BaseModel):
    """The model that scores: its number in the desk, and the first digits of the hash of its manifest."""

    version: int | None
    model: str
    method: str
    written: str
    threshold: float
    compiled: bool
    because: str


class _Reason(BaseModel):
    column: str
    without: float
    probability: float
    sentence: str


class _Scored(BaseModel):
    id: str | None = None
    score: float
    probability: float
    decision: str
    reasons: list[_Reason] | None = None


class Score(_Scored):
    """The answer about one row; of many rows, the answers are in `results`, and what they share is beside them."""

    threshold: float
    version: int | None
    model: str
    missing: list[str]  # columns of the model that the row does not have


class Decision(BaseModel):
    """The answer about one row; of many rows, the answers are in `results`, and what they share is beside them."""

    id: str | None = None
    decision: str
    money: float
    expected: dict[str, float]
    score: float
    probability: float
    version: int | None
    model: str
    missing: list[str]


class Outcomes(BaseModel):
    """The number of outcomes that were stored."""

    stored: int


class Refused(BaseModel):
    """Rows that were refused: a sentence, and each fault."""

    detail: Any
    faults: list[dict[str, Any]] | None = None


ERRORS: Final[dict[int | str, Json]] = {
    401: {"description": "There is no valid token."},
    403: {"description": "The token has another role."},
    413: {"description": "The body is too large."},
    415: {"description": "The body is of another content type."},
    422: {"description": "The body cannot be read; `faults` names rows, columns and cells.", "model": Refused},
    503: {"description": "There is no model."},
}
REFUSALS: Final[dict[int | str, Json]] = {
    401: ERRORS[401],
    403: ERRORS[403],
    422: {"description": "A field cannot be read.", "model": Refused},
}
