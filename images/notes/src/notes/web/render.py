"""Templates. Invariant: whatever is not HTML of our own making is escaped."""

import functools
from datetime import datetime
from typing import TYPE_CHECKING, Any

import jinja2
from starlette.requests import Request
from starlette.responses import Response

from notes.edge.app import NONCE
from notes.http.call import Viewer
from notes.version import version

if TYPE_CHECKING:
    from notes.http.call import Call


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("notes.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
    )
    environment.filters["when"] = _when
    environment.globals["version"] = version()
    return environment


def _when(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC") if moment else "never"


def template(
    request: Request, name: str, viewer: Viewer, status: int = 200, **values: Any
) -> Response:
    """The answer with a template's page."""
    text = (
        _environment()
        .get_template(name)
        .render(viewer=viewer, nonce=request.scope.get(NONCE, ""), **values)
    )
    return Response(
        text, status, {"cache-control": "no-store"}, media_type="text/html; charset=utf-8"
    )


def page(call: "Call", name: str, status: int = 200, **values: Any) -> Response:
    """A page for whoever asks."""
    return template(call.request, name, call.viewer, status, **values)
