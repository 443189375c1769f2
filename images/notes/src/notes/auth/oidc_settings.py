"""API of the identity provider's settings. Invariant: no answer has the client's secret."""

from typing import Annotated

import msgspec

from notes.auth import audit
from notes.auth.oidc import STORED
from notes.config import OidcSettings
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table

table = Table("single sign-on")

Issuer = Annotated[
    str, msgspec.Meta(pattern=r"^https?://[^\s?#/\x00]+(/[^\s?#\x00]*)?$(?!\n)", max_length=500)
]
ClientId = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
Secret = Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
Claim = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class OidcIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the identity provider; the secret is stored encrypted.

    Without a secret the stored one stays, if issuer and client are the stored ones.
    """

    issuer: Issuer
    client_id: ClientId
    client_secret: Secret | None = None
    groups_claim: Claim | None = None
    admin_group: Claim | None = None


class OidcState(msgspec.Struct, frozen=True):
    """The settings in use, without the secret, and the address to register with the provider."""

    configured: bool
    from_environment: bool
    redirect_uri: str
    issuer: str | None = None
    client_id: str | None = None
    groups_claim: str | None = None
    admin_group: str | None = None


@table("GET", "/api/v1/settings/oidc", scope="admin", main_site_only=True, has_secret=True)
async def get_oidc(call: Call) -> OidcState:
    """The settings of the identity provider in use."""
    oidc = await call.app.sign_on.configured()
    uri = call.app.sign_on.redirect_uri(call.seen)
    if oidc is None:
        return OidcState(configured=False, from_environment=False, redirect_uri=uri)
    fixed = call.app.settings.oidc is not None
    return OidcState(
        True, fixed, uri, oidc.issuer, oidc.client_id, oidc.groups_claim, oidc.admin_group
    )


@table("PUT", "/api/v1/settings/oidc", scope="admin", main_site_only=True, has_secret=True)
async def put_oidc(call: Call, body: OidcIn) -> OidcState:
    """Set the identity provider; refused if the environment sets it."""
    oidc = await checked(call, body)
    await call.app.db.transact(lambda conn: store(conn, call, oidc))
    return await get_oidc(call)  # type: ignore[no-any-return]


@table("DELETE", "/api/v1/settings/oidc", scope="admin", status=204, main_site_only=True)
async def delete_oidc(call: Call) -> None:
    """Delete the stored settings of the identity provider."""

    async def work(conn: Conn) -> None:
        cursor = await conn.execute("DELETE FROM credentials WHERE name = %s", (STORED,))
        if cursor.rowcount:
            await audit.note(conn, call.viewer, "oidc.forgotten", STORED)

    await call.app.db.transact(work)


async def checked(call: Call, body: OidcIn) -> OidcSettings:
    """The whole settings. Raises a 409 if the environment sets them, a 422 if some are missing."""
    check_stored(call)
    if body.admin_group and not body.groups_claim:
        raise Problem(422, "An admin group needs a groups claim.", field="groups_claim")
    secret = body.client_secret
    if secret is None:
        stored = await call.app.sign_on.configured()
        # The secret of one provider must not be sent to another one.
        if stored is None or (stored.issuer, stored.client_id) != (body.issuer, body.client_id):
            raise Problem(422, "Another issuer or client needs its secret.", field="client_secret")
        secret = stored.client_secret
    return OidcSettings(body.issuer, body.client_id, secret, body.groups_claim, body.admin_group)


def check_stored(call: Call) -> None:
    """Raises a 409 if the environment sets the identity provider."""
    if call.app.settings.oidc is not None:
        raise Problem(409, "The OIDC_ variables of the environment set the identity provider.")


async def store(conn: Conn, call: Call, oidc: OidcSettings) -> None:
    """Makes these the settings for everybody."""
    sealed = call.app.vault.seal(msgspec.json.encode(oidc), f"credentials/{STORED}")
    await conn.execute(
        "INSERT INTO credentials (name, sealed) VALUES (%s, %s) ON CONFLICT (name)"
        " DO UPDATE SET sealed = excluded.sealed, updated_at = now()",
        (STORED, sealed),
    )
    await audit.note(conn, call.viewer, "oidc.set", oidc.issuer)
