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
            examples = [content["example"] for content in contents.values() if "example" in content]
            yield _Route(
                method.upper(),
                path,
                operation.get("description", ""),
                [(p["name"], p["in"], _kind(p.get("schema", {}))) for p in operation.get("parameters", [])],
                list(contents),
                json.dumps(examples[0], indent=1, ensure_ascii=False) if examples else "",
                [(status, answer["description"]) for status, answer in sorted(operation["responses"].items())],
            )


def _kind(schema: Any) -> str:
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    return str(schema.get("type", ""))
