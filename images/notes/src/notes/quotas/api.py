"""API of quotas: users read their own, editors their space's, administrators set them."""

from typing import Annotated
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.auth import audit
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import not_found
from notes.http.routing import Table
from notes.pages import access
from notes.pages.roles import Role

table = Table("quotas")

Amount = Annotated[int, msgspec.Meta(ge=0, le=2**50)]


class Share(msgspec.Struct, frozen=True):
    """The used amount and its limit; `is_own` if the limit is not the default."""

    used: int
    limit: int
    is_own: bool


class SpaceUsage(msgspec.Struct, frozen=True):
    """Usage of a space: versions, files and comments of its pages, including the trash."""

    bytes: Share
    pages: Share


class AccountUsage(msgspec.Struct, frozen=True):
    """Usage of a user: all that they have created, in any space."""

    bytes: Share
    pages: Share
    spaces: Share


class Quotas(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The default limits of accounts and spaces."""

    account_bytes: Amount
    account_pages: Amount
    account_spaces: Amount
    space_bytes: Amount
    space_pages: Amount


class SpaceQuota(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A space's own limits; null means the default."""

    bytes: Amount | None = None
    pages: Amount | None = None


class AccountQuota(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user's own limits; null means the default."""

    bytes: Amount | None = None
    pages: Amount | None = None
    spaces: Amount | None = None


def _share(row: DictRow, name: str) -> Share:
    own = row[f"own_{name}"]
    return Share(row[name], row[f"{name}_limit"] if own is None else own, own is not None)


@table("GET", "/api/v1/quotas", scope="admin", main_site_only=True)
async def get_quotas(call: Call) -> Quotas:
    """Get the default limits."""
    row = await call.app.db.one(
        "SELECT account_bytes, account_pages, account_spaces, space_bytes, space_pages"
        " FROM settings"
    )
    if row is None:
        raise not_found("installation")
    return Quotas(**row)


@table("PUT", "/api/v1/quotas", scope="admin", main_site_only=True)
async def put_quotas(call: Call, body: Quotas) -> Quotas:
    """Set the default limits."""

    async def work(conn: Conn) -> None:
        await conn.execute(
            "UPDATE settings SET account_bytes = %(account_bytes)s,"
            " account_pages = %(account_pages)s, account_spaces = %(account_spaces)s,"
            " space_bytes = %(space_bytes)s, space_pages = %(space_pages)s",
            msgspec.structs.asdict(body),
        )
        await audit.note(conn, call.viewer, "quotas.set", "all", **msgspec.structs.asdict(body))

    await call.app.db.transact(work)
    return body


async def account(call: Call, person: UUID) -> AccountUsage:
    """The usage of a user. Raises a 404."""
    row = await call.app.db.one(
        "SELECT u.bytes, u.pages, u.spaces, u.bytes_limit AS own_bytes,"
        " u.pages_limit AS own_pages, u.spaces_limit AS own_spaces, s.account_bytes AS bytes_limit,"
        " s.account_pages AS pages_limit, s.account_spaces AS spaces_limit"
        " FROM account_usage u, settings s WHERE u.user_id = %s",
        (person,),
    )
    if row is None:
        raise not_found("person")
    return AccountUsage(_share(row, "bytes"), _share(row, "pages"), _share(row, "spaces"))


@table("GET", "/api/v1/me/usage")
async def get_my_usage(call: Call) -> AccountUsage:
    """Get your usage and limits."""
    return await account(call, call.viewer.person)


@table("GET", "/api/v1/users/{id}/usage", scope="admin", main_site_only=True)
async def get_user_usage(call: Call, id: UUID) -> AccountUsage:
    """Get a user's usage and limits."""
    return await account(call, id)


@table("PUT", "/api/v1/users/{id}/quota", scope="admin", main_site_only=True)
async def put_user_quota(call: Call, id: UUID, body: AccountQuota) -> AccountUsage:
    """Set a user's own limits."""

    async def work(conn: Conn) -> None:
        cursor = await conn.execute(
            "UPDATE account_usage SET bytes_limit = %s, pages_limit = %s, spaces_limit = %s"
            " WHERE user_id = %s",
            (body.bytes, body.pages, body.spaces, id),
        )
        if cursor.rowcount == 0:
            raise not_found("person")
        await audit.note(conn, call.viewer, "quota.set", str(id), **msgspec.structs.asdict(body))

    await call.app.db.transact(work)
    return await account(call, id)


@table("GET", "/api/v1/spaces/{id}/usage")
async def get_space_usage(call: Call, id: UUID) -> SpaceUsage:
    """Get a space's usage and limits; for its editors."""
    await call.app.db.run(lambda conn: access.space(conn, call, id, Role.EDITOR))
    return await _space(call, id)


async def _space(call: Call, id: UUID) -> SpaceUsage:
    row = await call.app.db.one(
        "SELECT u.bytes, u.pages, u.bytes_limit AS own_bytes, u.pages_limit AS own_pages,"
        " s.space_bytes AS bytes_limit, s.space_pages AS pages_limit"
        " FROM space_usage u, settings s WHERE u.space_id = %s",
        (id,),
    )
    if row is None:
        raise not_found("space")
    return SpaceUsage(_share(row, "bytes"), _share(row, "pages"))


@table("PUT", "/api/v1/spaces/{id}/quota", scope="admin", main_site_only=True)
async def put_space_quota(call: Call, id: UUID, body: SpaceQuota) -> SpaceUsage:
    """Set a space's own limits."""

    async def work(conn: Conn) -> None:
        cursor = await conn.execute(
            "UPDATE space_usage SET bytes_limit = %s, pages_limit = %s WHERE space_id = %s",
            (body.bytes, body.pages, id),
        )
        if cursor.rowcount == 0:
            raise not_found("space")
        changed = msgspec.structs.asdict(body)
        await audit.note(conn, call.viewer, "quota.set", "space", space_id=id, **changed)

    await call.app.db.transact(work)
    return await _space(call, id)
