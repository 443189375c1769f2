"""Lists all operations; the routes and the OpenAPI document are built from it."""

import functools

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from notes.auth import (
    accounts,
    audit,
    next_steps,
    oidc_routes,
    oidc_settings,
    oidc_trial,
    own_sessions,
    setup,
    tokens,
    users,
)
from notes.edits import api as edits
from notes.edits import bursts, moments, retention
from notes.events import stream
from notes.files import serve, uploads
from notes.http import openapi
from notes.http.compression import json_response
from notes.http.routing import Operation
from notes.invitations import api as invitations
from notes.jobs import api as jobs
from notes.notifications import api as notifications
from notes.pages import api as pages
from notes.pages import (
    comments,
    lists,
    people,
    permissions,
    persons,
    repeats,
    revisions,
    search,
    tree,
)
from notes.presence import api as presence
from notes.quotas import api as quotas
from notes.share import links as share
from notes.spaces import api as spaces
from notes.spaces import domains, looks, members
from notes.transfer import api as imports
from notes.transfer import export, previews, zip_uploads
from notes.version import version
from notes.web import (
    invitation_views,
    page_views,
    reading_views,
    share_views,
    sign_in,
    site,
    site_views,
    workspace_views,
)

OPERATIONS: list[Operation] = [
    operation
    for table in (
        pages.table,
        tree.table,
        revisions.table,
        edits.table,
        moments.table,
        bursts.table,
        retention.table,
        presence.table,
        search.table,
        comments.table,
        repeats.table,
        notifications.table,
        uploads.table,
        serve.table,
        lists.table,
        permissions.table,
        people.table,
        persons.table,
        spaces.table,
        domains.table,
        looks.table,
        members.table,
        share.table,
        imports.table,
        previews.table,
        zip_uploads.table,
        export.table,
        setup.table,
        next_steps.table,
        accounts.table,
        own_sessions.table,
        tokens.table,
        users.table,
        invitations.table,
        quotas.table,
        oidc_routes.table,
        oidc_settings.table,
        oidc_trial.table,
        audit.table,
        stream.table,
        jobs.table,
        reading_views.table,
        page_views.table,
        workspace_views.table,
        sign_in.table,
        share_views.table,
        invitation_views.table,
        site.table,
        site_views.table,
    )
    for operation in table.operations
]


@functools.cache
def openapi_json() -> bytes:
    """The OpenAPI document as JSON."""
    described = [op for op in OPERATIONS if op.path.startswith("/api/")]
    return msgspec.json.encode(openapi.document(described, version()))


def document_routes() -> list[Route]:
    """The route of the OpenAPI document."""

    async def serve(request: Request) -> Response:
        return await json_response(request, openapi_json())

    return [Route("/api/v1/openapi.json", serve)]
