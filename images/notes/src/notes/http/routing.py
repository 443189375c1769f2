"""Turns typed functions into routes, and stores their description for OpenAPI.

A handler's annotations are its contract: `body` and `query` are structs, other parameters are taken
from the path, and the return type is the response. Invariant: the document describes exactly what
is checked, since both are read from the same annotations.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from notes.http.buffers import Body
from notes.http.compression import NO_SECRET, json_response
from notes.http.context import Call
from notes.http.problems import Problem, invalid
from notes.http.viewer import Scope

Handler = Callable[..., Awaitable[Any]]
JSON_LIMIT_BYTES = 1024 * 1024  # decoding takes the event loop a few milliseconds
# A larger body with a document, or with the steps that make one, is checked by a worker first.
DOCUMENT_LIMIT_BYTES = 16 * 1024 * 1024
MAX_PARAMETERS = 50
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class RawBody:
    """A request body that the handler reads itself, as a stream."""

    media_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    handler: Handler
    scope: Scope | None
    status: int
    summary: str
    tag: str
    path_types: dict[str, Any]
    body: Any
    raw: RawBody | None
    query: Any
    returns: Any
    media_type: str
    main_site_only: bool
    statuses: tuple[int, ...]
    body_bytes: int
    has_secret: bool
    decoder: msgspec.json.Decoder[Any] | None = field(default=None)

    @property
    def name(self) -> str:
        return self.handler.__name__


Guard = Callable[[Request, Operation], Awaitable[Call]]


class Table:
    """The operations of one module."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.operations: list[Operation] = []

    def __call__(
        self,
        method: str,
        path: str,
        *,
        scope: Scope | None = "read",
        status: int = 200,
        raw: RawBody | None = None,
        media_type: str = "application/json",
        main_site_only: bool = False,
        statuses: Sequence[int] = (),
        body_bytes: int = JSON_LIMIT_BYTES,
        has_secret: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Declares a handler. With `scope` None anybody may call it.

        `statuses` are other successful statuses; for these the handler returns a `Response`.
        An answer with a link, a token, or settings of the sign-on `has_secret`: its length must
        not tell what is in it, so it is never compressed.
        """

        def declare(handler: Handler) -> Handler:
            hints = get_type_hints(handler, include_extras=True)
            returns = hints.pop("return")
            body, query = hints.pop("body", None), hints.pop("query", None)
            names = set(inspect.signature(handler).parameters) - {"call", "body", "query"}
            self.operations.append(
                Operation(
                    method,
                    path,
                    handler,
                    scope,
                    status,
                    inspect.getdoc(handler) or handler.__name__,
                    self.tag,
                    {name: hints[name] for name in names},
                    body,
                    raw,
                    query,
                    returns,
                    media_type,
                    main_site_only,
                    tuple(statuses),
                    body_bytes,
                    has_secret,
                    msgspec.json.Decoder(body) if body is not None else None,
                )
            )
            return handler

        return declare


def routes(operations: Sequence[Operation], guard: Guard) -> list[Route]:
    """One route per path: a known path with another method is a 405 that lists the methods."""
    by_path = dict[str, dict[str, Operation]]()
    for operation in operations:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    return [_route(path, methods, guard) for path, methods in by_path.items()]


def _route(path: str, methods: dict[str, Operation], guard: Guard) -> Route:
    if "GET" in methods:
        methods.setdefault("HEAD", methods["GET"])
    allow = ", ".join(sorted(methods))

    async def answer(request: Request) -> Response:
        operation = methods.get(request.method)
        if operation is None:
            raise Problem(
                405,
                f"{request.method} is not possible here; {allow} is.",
                headers={"allow": allow},
            )
        # Its problems have none either, also those that are raised before it runs.
        request.scope[NO_SECRET] = path.startswith("/api/") and not operation.has_secret
        call = await guard(request, operation)
        return await _run(operation, call)

    # Starlette would answer other methods itself, in plain text.
    route = Route(path, answer)
    route.methods = None
    return route


async def _run(operation: Operation, call: Call) -> Response:
    request = call.request
    arguments = {
        name: _path_value(name, request.path_params[name], kind)
        for name, kind in operation.path_types.items()
    }
    if operation.query is not None:
        arguments["query"] = _query(request, operation.query)
    if operation.decoder is not None:
        arguments["body"] = await _json(call, operation)
    result = await operation.handler(call, **arguments)
    if isinstance(result, Response):
        return result
    if result is None:
        return Response(status_code=operation.status)
    content, headers = _encode(result), {"cache-control": "no-store"}
    if operation.has_secret:
        return Response(content, operation.status, headers, "application/json")
    return await json_response(request, content, operation.status, headers)


def _path_value(name: str, text: str, kind: Any) -> Any:
    if kind is UUID:
        # Only the canonical form: other spellings would be a second URL of the same object.
        try:
            value = UUID(text)
        except ValueError:
            value = None
        if value is None or str(value) != text.lower():
            raise Problem(404, f"{name} is not an id: {text[:60]!r}", field=name)
        return value
    try:
        return msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Problem(404, f"{name}: {error}", field=name) from None


def _query(request: Request, kind: Any) -> Any:
    if request.scope["query_string"].count(b"&") >= MAX_PARAMETERS:
        raise Problem(422, f"There may be {MAX_PARAMETERS} parameters.", field="query")
    given = dict[str, str]()
    for key, value in request.query_params.multi_items():
        if key in given:
            raise Problem(422, f"{key}: is given twice", field=key)
        given[key] = value
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise invalid(error, "query") from None


async def _json(call: Call, operation: Operation) -> Any:
    request = call.request
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Problem(415, "Send application/json.", field="content-type")
    is_known = call.viewer.user_id is not None
    with Body(request, operation.body_bytes, known=is_known) as body:
        too_long = Problem(413, f"A JSON body may have at most {body.most} bytes here.")
        content = await body.read(too_long)
        if len(content) <= JSON_LIMIT_BYTES:
            return _decoded(operation, bytes(content))
        if "steps" in operation.body.__struct_fields__:
            rest, steps = await call.app.documents.split_steps(call.account, bytes(content))
            return msgspec.structs.replace(_decoded(operation, rest), steps=msgspec.Raw(steps))
        rest, doc = await call.app.documents.split_body(call.account, bytes(content))
        return msgspec.structs.replace(_decoded(operation, rest), doc=msgspec.Raw(doc))


def _decoded(operation: Operation, content: bytes) -> Any:
    assert operation.decoder is not None  # noqa: S101 - called only for operations with a body
    try:
        return operation.decoder.decode(content)
    except msgspec.ValidationError as error:
        raise invalid(error, "body") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, f"The body is not JSON: {error}", field="body") from None
