"""The site of a host name: its name and version, and its web app manifest.

The workspace's shell is the same for every site and user; it gets here what differs.
"""

from uuid import UUID

import msgspec
from starlette.responses import Response

from notes.http.context import Call
from notes.http.problems import not_found
from notes.http.routing import Table
from notes.version import version
from notes.web.assets import web_manifest
from notes.words.spoken import VARY, Spoken, of_reader

table = Table("site")


class Site(msgspec.Struct, frozen=True):
    """A site: the main one, or with `space_id` that of a space."""

    name: str
    version: str
    space_id: UUID | None
    is_set_up: bool
    has_sign_on: bool


@table("GET", "/api/v1/site", scope=None)
async def get_site(call: Call) -> Site:
    """Get the site's name, the version, and if there is a single sign-on."""
    name, is_set_up = await _name(call)
    has_sign_on = await call.app.sign_on.configured() is not None
    return Site(name, version(), call.seen.site.space_id, is_set_up, has_sign_on)


@table("GET", "/manifest.webmanifest", scope=None, media_type="application/manifest+json")
async def get_web_manifest(call: Call) -> Response:
    """The web app manifest, which makes the workspace installable."""
    name, _ = await _name(call)
    t = Spoken(of_reader(call.request.headers))
    return Response(
        msgspec.json.encode(web_manifest(name, t)),
        headers={"cache-control": "private, max-age=3600", "vary": VARY},
        media_type="application/manifest+json",
    )


async def _name(call: Call) -> tuple[str, bool]:
    """The site's name, and if the first-time setup is done."""
    # A space's name is for its readers; a visitor of its site may be none.
    row = await call.app.db.one(
        "SELECT s.site_name, s.installed_at IS NOT NULL AS done, p.name FROM settings s"
        " LEFT JOIN spaces p ON p.id = %s AND space_role(p.id, %s, %s, %s) > 0",
        (call.seen.site.space_id, *call.viewer.access),
    )
    if row is None:
        raise not_found("site")
    return row["name"] or row["site_name"], row["done"]
