"""Builds the OpenAPI document from the operations."""

import re
from collections.abc import Sequence
from types import UnionType
from typing import Any, get_args
from uuid import UUID

import msgspec

from notes.http.problems import PROBLEM_TYPE, ProblemDocument
from notes.http.routing import Operation

_REF = "#/components/schemas/{name}"
_DESCRIPTIONS = {200: "Done", 201: "Created", 202: "Accepted", 204: "Done", 206: "A part of it"}


def document(operations: Sequence[Operation], version: str) -> dict[str, Any]:
    """The OpenAPI 3.1 document of `operations`."""
    kinds: list[Any] = [ProblemDocument]
    for operation in operations:
        kinds += [k for k in (operation.body, operation.query) if k]
        kinds += _parts(operation.returns)
    _, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    paths = dict[str, Any]()
    for operation in operations:
        template = re.sub(r"{(\w+):\w+}", r"{\1}", operation.path)
        paths.setdefault(template, {})[operation.method.lower()] = _operation(operation, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Notes",
            "version": version,
            "description": "The API of the workspace: all its functions, for programs.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "__Host-notes"},
            },
        },
    }


def _operation(operation: Operation, components: dict[str, Any]) -> dict[str, Any]:
    first, _, rest = operation.summary.partition("\n")
    out: dict[str, Any] = {
        "operationId": operation.name,
        "summary": first,
        "tags": [operation.tag],
        "parameters": _parameters(operation, components),
        "responses": _responses(operation),
        "security": [] if operation.scope is None else [{"token": []}, {"session": []}],
    }
    if rest.strip():
        out["description"] = rest.strip()
    if operation.body is not None:
        out["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _schema(operation.body)}},
        }
    elif operation.raw is not None:
        binary = {"schema": {"type": "string", "format": "binary"}}
        form = {
            "schema": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
                "required": ["file"],
            }
        }
        out["requestBody"] = {
            "required": True,
            "content": {
                kind: form if kind == "multipart/form-data" else binary
                for kind in operation.raw.media_types
            },
        }
    return out


def _parameters(operation: Operation, components: dict[str, Any]) -> list[dict[str, Any]]:
    found = list[dict[str, Any]]()
    for name, kind in operation.path_types.items():
        schema = {"type": "string", "format": "uuid"} if kind is UUID else _schema(kind)
        found.append({"name": name, "in": "path", "required": True, "schema": schema})
    if operation.query is not None:
        described = components[operation.query.__name__]
        required = set(described.get("required", ()))
        for name, schema in described["properties"].items():
            found.append(
                {"name": name, "in": "query", "required": name in required, "schema": schema}
            )
    return found


def _responses(operation: Operation) -> dict[str, Any]:
    problem = {
        "description": "A problem",
        "content": {PROBLEM_TYPE: {"schema": _schema(ProblemDocument)}},
    }
    found = dict[str, Any]()
    for status in (operation.status, *operation.statuses):
        response: dict[str, Any] = {"description": _DESCRIPTIONS.get(status, "Done")}
        if status == operation.status and operation.media_type != "application/json":
            response["content"] = {operation.media_type: {}}
        elif status != 204 and operation.returns is not type(None):
            response["content"] = {"application/json": {"schema": _schema(operation.returns)}}
        found[str(status)] = response
    return {**found, "4XX": problem, "503": problem}


def _parts(kind: Any) -> list[Any]:
    """The types in a return annotation: none for a raw response, several for a union."""
    if isinstance(kind, UnionType):
        return [part for one in get_args(kind) for part in _parts(one)]
    is_response = isinstance(kind, type) and kind.__module__.startswith("starlette.")
    return [] if kind is type(None) or is_response else [kind]


def _schema(kind: Any) -> dict[str, Any]:
    schemas, _ = msgspec.json.schema_components(_parts(kind), ref_template=_REF)
    if len(schemas) > 1:
        return {"anyOf": list(schemas)}
    return schemas[0] if schemas else {}
