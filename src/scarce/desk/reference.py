"""The page of the routes for programs, made from the OpenAPI schema; it loads nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from scarce._typing import Json

from .auth import require_role
from .site import page
from .tokens import Person

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


class _Route(NamedTuple):
    """A route, as the page shows it."""

    method: str
    path: str
    text: str
    parameters: list[tuple[str, str, str]]  # the name, where it stands, and what it may be
    bodies: list[str]
    example: str
    answers: list[tuple[str, str]]


@router.get("/docs")
def reference(request: Request, person: Annotated[Person, Depends(require_role("viewer"))]) -> Response:
    """Return the page."""
    return page(request, "reference.html.jinja", routes=list(_routes(request.app.openapi())))


def _routes(schema: Json) -> Iterator[_Route]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            contents: Json = operation.get("requestBody", {}).get("content", {})
            examples = [found for content in contents.values() if (found := _example(content, schema))]
            yield _Route(
                method.upper(),
                path,
                operation.get("description", ""),
                [(p["name"], p["in"], _kind(p.get("schema", {}))) for p in operation.get("parameters", [])],
                list(contents),
                json.dumps(examples[0], indent=1, ensure_ascii=False) if examples else "",
                [(status, _said(answer)) for status, answer in sorted(operation["responses"].items())],
            )


def _kind(schema: Any) -> str:
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    return str(schema.get("type", ""))


def _example(content: Json, schema: Json) -> Json | None:
    """Return the example of a body, which may stand where its shape is described."""
    name = str(content.get("schema", {}).get("$ref", "")).rpartition("/")[2]
    found: Json | None = content.get("example") or schema["components"]["schemas"].get(name, {}).get("example")
    return found


def _said(answer: Json) -> str:
    """Return what an answer is; FastAPI's own words for one that went well say nothing."""
    text = str(answer["description"])
    return "Done." if text == "Successful Response" else text
