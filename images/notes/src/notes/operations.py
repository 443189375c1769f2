"""Every operation of the API, in one list: routes and the OpenAPI document are made from it."""

import functools

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from notes.auth import accounts, audit, oidc_routes, people, tokens
from notes.events import stream
from notes.files import serve, uploads
from notes.http import openapi
from notes.http.endpoint import Operation
from notes.jobs import api as jobs
from notes.pages import api as pages
from notes.pages import around, comments, revisions, search, tree
from notes.share import links as share
from notes.spaces import api as spaces
from notes.transfer import api as imports
from notes.transfer import exporting
from notes.version import version
from notes.web import doors, reading, shared, workspace

OPERATIONS: list[Operation] = [
    operation
    for table in (
        pages.table,
        tree.table,
        revisions.table,
        search.table,
        comments.table,
        uploads.table,
        serve.table,
        around.table,
        spaces.table,
        share.table,
        imports.table,
        exporting.table,
        accounts.table,
        tokens.table,
        people.table,
        oidc_routes.table,
        audit.table,
        stream.table,
        jobs.table,
        reading.table,
        workspace.table,
        doors.table,
        shared.table,
    )
    for operation in table.operations
]


@functools.cache
def openapi_json() -> bytes:
    """The document, as it is served."""
    described = [op for op in OPERATIONS if op.path.startswith("/api/")]
    return msgspec.json.encode(openapi.document(described, version()))


def document_routes() -> list[Route]:
    """Where the document is served."""

    async def serve(_: Request) -> Response:
        return Response(openapi_json(), media_type="application/json")

    return [Route("/api/v1/openapi.json", serve)]
