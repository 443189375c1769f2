"""API of the look of a space's site: accent colour, navigation, logo, language, search engines.

Invariant: the look is shown at the space's domain only, to those who may read the space. A change
notifies `app_spaces` in the same transaction, so every replica shows it within moments.
"""

import hashlib
from typing import Annotated, Any
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from starlette.responses import Response

from notes.auth import audit
from notes.db.connect import Conn
from notes.files.names import policy
from notes.files.ranges import unchanged
from notes.http.context import Call
from notes.http.look import Look, SiteLink
from notes.http.problems import Problem, not_found
from notes.http.routing import RawBody, Table
from notes.pages import access
from notes.pages.roles import Role
from notes.spaces import domains
from notes.spaces.colours import shades
from notes.spaces.pictures import MOST_BYTES, picture_type
from notes.spaces.site_links import address, label
from notes.words.spoken import LANGUAGES

table = Table("spaces")

MOST_LINKS = 8
Colour = Annotated[str, msgspec.Meta(pattern=r"^#[0-9A-Fa-f]{6}$(?!\n)")]
Label = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
Address = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class LinkIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the navigation: a path of the site, or an http, https or mailto address."""

    label: Label
    url: Address


class LookIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A look to set; `base_version` is the version that it replaces, 0 if there is none.

    Without `is_indexed` the pages ask search engines not to list them. `language` is that of the
    words around the pages' texts, one of `languages`; null: the one that the reader's browser asks
    for.
    """

    base_version: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    accent: Colour | None = None
    links: Annotated[list[LinkIn], msgspec.Meta(max_length=MOST_LINKS)] = []
    is_indexed: bool = True
    language: Annotated[str, msgspec.Meta(pattern=r"^[a-z]{2,3}$(?!\n)")] | None = None


class Shown(msgspec.Struct, frozen=True):
    """The accent colour as the site shows it: changed where text would not be readable in it."""

    light: str
    dark: str


class Logo(msgspec.Struct, frozen=True):
    """The logo's address, media type and size in bytes."""

    url: str
    type: str
    size: int


class SpaceLook(msgspec.Struct, frozen=True):
    """The look of a space's site; `shown` is derived from `accent`.

    `languages` are the tags of those that a site can have.
    """

    version: int
    accent: str | None
    shown: Shown | None
    links: list[SiteLink]
    is_indexed: bool
    logo: Logo | None
    language: str | None = None
    languages: tuple[str, ...] = LANGUAGES


class LogoQuery(msgspec.Struct, frozen=True):
    """The beginning of the logo's SHA-256; with the present one a browser may keep the logo."""

    v: str = ""


def look_of(row: DictRow) -> Look:
    """The look from a row of a space and its look, whose columns may be null."""
    found = shades(row["accent"]) if row["accent"] else None
    return Look(
        row["name"],
        row["description"],
        row["public"],
        row["is_indexed"],
        found.light if found else None,
        found.dark if found else None,
        tuple(msgspec.convert(row["links"] or [], list[SiteLink])),
        row["logo_sha256"],
        row["logo_type"],
        row["language"],
    )


async def _look(conn: Conn, id: UUID) -> SpaceLook:
    cursor = await conn.execute(
        "SELECT version, accent, links, is_indexed, logo_type, logo_sha256, language,"
        " octet_length(logo) AS size FROM space_looks WHERE space_id = %s",
        (id,),
    )
    row = await cursor.fetchone()
    if row is None:
        return SpaceLook(0, None, None, [], True, None)
    logo = None
    if row["logo_sha256"] is not None:
        url = f"/api/v1/spaces/{id}/logo?v={row['logo_sha256'][:16]}"
        logo = Logo(url, row["logo_type"], row["size"])
    shown = Shown(*shades(row["accent"])) if row["accent"] else None
    links = msgspec.convert(row["links"], list[SiteLink])
    return SpaceLook(
        row["version"], row["accent"], shown, links, row["is_indexed"], logo, row["language"]
    )


@table("GET", "/api/v1/spaces/{id}/look", main_site_only=True)
async def get_look(call: Call, id: UUID) -> SpaceLook:
    """Get the look of a space's site."""

    async def work(conn: Conn) -> SpaceLook:
        await access.space(conn, call, id, Role.MANAGER)
        return await _look(conn, id)

    return await call.app.db.run(work)


@table("PUT", "/api/v1/spaces/{id}/look", scope="write", main_site_only=True)
async def put_look(call: Call, id: UUID, body: LookIn) -> SpaceLook:
    """Set the look of a space's site, without the logo.

    Raises a 409, with the look as it is now, if somebody has changed it since `base_version`.
    """
    links = [{"label": label(one.label), "url": address(one.url)} for one in body.links]
    accent = body.accent.lower() if body.accent else None
    if body.language is not None and body.language not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise Problem(422, f"A site can have the languages {known}.", field="language")

    async def work(conn: Conn) -> SpaceLook:
        row = await _managed(conn, call, id)
        now = await _look(conn, id)
        if now.version != body.base_version:
            raise Problem(
                409,
                "Somebody else has changed the look in the meantime; reload it.",
                field="base_version",
                current=now,
            )
        await conn.execute(
            "INSERT INTO space_looks (space_id, accent, links, is_indexed, language)"
            " VALUES (%s, %s, %s, %s, %s) ON CONFLICT (space_id) DO UPDATE SET"
            " accent = excluded.accent, links = excluded.links, is_indexed = excluded.is_indexed,"
            " language = excluded.language, version = space_looks.version + 1",
            (id, accent, Jsonb(links), body.is_indexed, body.language),
        )
        return await _changed(conn, call, row, "look")

    return await call.app.db.transact(work)


@table(
    "PUT",
    "/api/v1/spaces/{id}/logo",
    scope="write",
    main_site_only=True,
    raw=RawBody(("application/octet-stream",)),
)
async def put_logo(call: Call, id: UUID) -> SpaceLook:
    """Set the logo of a space's site: a picture of at most 256 KB.

    PNG, JPEG, GIF, WebP, AVIF or SVG, recognised by its content.
    """
    await call.app.db.run(lambda conn: access.space(conn, call, id, Role.MANAGER))
    data = await _received(call)
    kind, sha256 = picture_type(data), hashlib.sha256(data).hexdigest()

    async def work(conn: Conn) -> SpaceLook:
        row = await _managed(conn, call, id)
        await conn.execute(
            # The version is that of the rest of the look.
            "INSERT INTO space_looks (space_id, version, logo, logo_type, logo_sha256)"
            " VALUES (%s, 0, %s, %s, %s) ON CONFLICT (space_id) DO UPDATE SET logo = excluded.logo,"
            " logo_type = excluded.logo_type, logo_sha256 = excluded.logo_sha256",
            (id, data, kind, sha256),
        )
        return await _changed(conn, call, row, "logo")

    return await call.app.db.transact(work)


@table("DELETE", "/api/v1/spaces/{id}/logo", scope="write", main_site_only=True)
async def delete_logo(call: Call, id: UUID) -> SpaceLook:
    """Remove the logo of a space's site."""

    async def work(conn: Conn) -> SpaceLook:
        row = await _managed(conn, call, id)
        await conn.execute(
            "UPDATE space_looks SET logo = NULL, logo_type = NULL, logo_sha256 = NULL"
            " WHERE space_id = %s",
            (id,),
        )
        return await _changed(conn, call, row, "logo")

    return await call.app.db.transact(work)


@table("GET", "/api/v1/spaces/{id}/logo", scope=None, statuses=(304,), media_type="image/*")
async def get_logo(call: Call, id: UUID, query: LogoQuery) -> Response:
    """Get the logo of a space's site; for everybody who may read the space."""

    async def work(conn: Conn) -> DictRow | None:
        await access.space(conn, call, id, Role.VIEWER)
        cursor = await conn.execute(
            "SELECT logo, logo_type, logo_sha256 FROM space_looks WHERE space_id = %s", (id,)
        )
        return await cursor.fetchone()

    row = await call.app.db.run(work)
    if row is None or row["logo"] is None:
        raise not_found("logo")
    etag = f'"{row["logo_sha256"]}"'
    is_present = query.v != "" and row["logo_sha256"].startswith(query.v)
    headers = {
        "etag": etag,
        # The address of the next logo is another one.
        "cache-control": "private, max-age=86400" if is_present else "private, no-cache",
        "content-security-policy": policy(row["logo_type"]),
    }
    if unchanged(call.request.headers, etag):
        return Response(status_code=304, headers=headers)
    return Response(bytes(row["logo"]), headers=headers, media_type=row["logo_type"])


async def _managed(conn: Conn, call: Call, id: UUID) -> DictRow:
    """The row of a space that the viewer manages; its look is locked until the end."""
    await conn.execute("SELECT 1 FROM spaces WHERE id = %s FOR NO KEY UPDATE", (id,))
    return await access.space(conn, call, id, Role.MANAGER)


async def _changed(conn: Conn, call: Call, row: DictRow, what: str) -> SpaceLook:
    await domains.announce(conn, row["id"])
    detail: dict[str, Any] = {"fields": [what]}
    await audit.note(conn, call.viewer, "space.changed", row["name"], space_id=row["id"], **detail)
    return await _look(conn, row["id"])


async def _received(call: Call) -> bytes:
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/octet-stream" and not kind.startswith("image/"):
        raise Problem(415, "Send a picture.", field="content-type")
    data = bytearray()
    async for part in call.request.stream():
        data += part
        if len(data) > MOST_BYTES:
            raise Problem(413, f"A logo may have at most {MOST_BYTES} bytes.", field="body")
    return bytes(data)
