"""Routes of single sign-on: start and callback.

Invariant: every sign-on sets the account's groups and administrator flag as the provider says, but
the last active administrator stays one.
"""

import logging
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from psycopg import errors
from starlette.responses import RedirectResponse, Response

from notes.auth import audit, oidc_trial, rate_limits, sessions
from notes.auth.accounts import address_of, agent_of
from notes.auth.oidc import CALLBACK, START, same_site_path
from notes.auth.oidc_claims import Person, person_of
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.http.viewer import Seen, Viewer
from notes.log import say
from notes.notifications import gained
from notes.pages import left

logger = logging.getLogger(__name__)

table = Table("single sign-on")


def _binding_cookie(seen: Seen) -> str:
    return "__Host-oidc" if seen.secure else "oidc"


class StartQuery(msgspec.Struct, frozen=True):
    """The path to return to after the sign-on; `trial` is one that you began."""

    return_to: str = "/"
    trial: UUID | None = None


@table("GET", START, scope=None, status=303)
async def start_sign_on(call: Call, query: StartQuery) -> Response:
    """Redirect to the identity provider; by a trial's settings, for who began that trial."""
    elsewhere = call.app.sign_on.leaves_from(call.seen)
    if elsewhere is not None:
        query_text = urlencode({"return_to": same_site_path(query.return_to)})
        return RedirectResponse(f"{elsewhere}?{query_text}", 303, {"cache-control": "no-store"})
    await rate_limits.count(call.app.db, rate_limits.OIDC_START, call.seen.address)
    tried = None
    if query.trial is not None:
        if "admin" not in call.viewer.scopes:
            raise not_found("trial")
        tried = (query.trial, await oidc_trial.settings(call, query.trial))
    return_to = same_site_path(query.return_to)
    url, binding = await call.app.sign_on.leave(call.seen, return_to, tried)
    response = RedirectResponse(url, 303, {"cache-control": "no-store"})
    response.set_cookie(
        _binding_cookie(call.seen),
        binding,
        max_age=600,
        secure=call.seen.secure,
        httponly=True,
        samesite="lax",
    )
    return response


@table("GET", CALLBACK, scope=None, status=303)
async def finish_sign_on(call: Call) -> Response:
    """Receive the browser from the identity provider and sign it in; a trial signs nobody in."""
    binding = call.request.cookies.get(_binding_cookie(call.seen))
    query = dict(call.request.query_params)
    away = await call.app.sign_on.come_back(call.seen, query, binding)
    if away.trial is not None:
        return await oidc_trial.finish(call, away, query)
    oidc = await call.app.sign_on.required()
    person = person_of(oidc, await call.app.sign_on.claims_of(oidc, away, query))
    previous = sessions.cookie(call.request, call.seen)

    async def work(conn: Conn) -> tuple[UUID, str | None]:
        user_id = await _account(conn, person)
        return user_id, await sessions.start(
            conn, user_id, previous, address_of(call), user_agent=agent_of(call)
        )

    user_id, token = await call.app.db.transact(work)
    if token is None:
        raise Problem(403, "This account is disabled.")
    response = RedirectResponse(same_site_path(away.return_to), 303, {"cache-control": "no-store"})
    sessions.set_cookie(response, call.seen, token, user_id)
    response.delete_cookie(
        _binding_cookie(call.seen), secure=call.seen.secure, httponly=True, samesite="lax"
    )
    return response


async def _account(conn: Conn, person: Person) -> UUID:
    key = (person.issuer, person.subject)
    # Two concurrent first sign-ons of one person create one account.
    await conn.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", ("\n".join(key),))
    row = await (
        await conn.execute(
            "SELECT u.id, u.disabled_at, u.name, u.email FROM identities i"
            " JOIN users u ON u.id = i.user_id"
            " WHERE i.issuer = %s AND i.subject = %s",
            key,
        )
    ).fetchone()
    if row is None:
        row = await _adopt(conn, person)
        await conn.execute(
            "INSERT INTO identities (issuer, subject, user_id) VALUES (%s, %s, %s)",
            (*key, row["id"]),
        )
    if row["disabled_at"] is not None:
        raise Problem(403, "This account is disabled.")
    who = Viewer(row["id"], row["name"], row["email"])
    if person.is_admin is not None:
        await _administers(conn, who, is_admin=person.is_admin)
    if person.groups is not None:
        await _set_groups(conn, who, person.groups)
    return who.person


async def _administers(conn: Conn, who: Viewer, *, is_admin: bool) -> None:
    """Sets the administrator flag; the last active administrator keeps it, with an audit entry."""
    try:
        async with conn.transaction():  # a savepoint: the sign-on continues in both cases
            cursor = await conn.execute(
                "UPDATE users SET is_admin = %(is)s WHERE id = %(id)s AND is_admin <> %(is)s",
                {"is": is_admin, "id": who.person},
            )
        if cursor.rowcount:
            if not is_admin:
                await left.tell_out_of_groups(conn, [who.person])
            detail: dict[str, Any] = {"fields": ["is_admin"], "is_admin": is_admin, "via": "oidc"}
            await audit.note(conn, who, "user.changed", who.email, **detail)
    except errors.RestrictViolation:
        await audit.note(conn, who, "user.last_administrator_kept", who.email)
        say(
            logger,
            "identity provider revoked the last administrator; the account stays administrator",
            logging.WARNING,
            user=who.person,
        )


async def _adopt(conn: Conn, person: Person) -> dict[str, Any]:
    """The account with the same verified address, or a new one."""
    found = await (
        await conn.execute(
            "SELECT id, disabled_at, name, email FROM users WHERE email = %s", (person.email,)
        )
    ).fetchone()
    if found is not None:
        if not person.email_verified:
            raise Problem(
                403,
                "An account with this e-mail address exists, and the identity provider does"
                " not confirm that the address is yours.",
            )
        who = Viewer(found["id"], found["name"], found["email"])
        detail: dict[str, Any] = {"issuer": person.issuer, "identity": person.subject}
        await audit.note(conn, who, "user.identity_linked", who.email, **detail)
        return found
    made = await (
        await conn.execute(
            "INSERT INTO users (email, name) VALUES (%s, %s)"
            " RETURNING id, disabled_at, name, email",
            (person.email, person.name),
        )
    ).fetchone()
    assert made is not None  # noqa: S101 - an insert returns its row
    who = Viewer(made["id"], person.name, person.email)
    await audit.note(conn, who, "user.signed_on_first", person.email)
    return made


async def _set_groups(conn: Conn, who: Viewer, names: frozenset[str]) -> None:
    user_id, wanted = who.person, sorted(names)
    cursor = await conn.execute(
        "INSERT INTO groups (name) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING RETURNING name",
        (wanted,),
    )
    made = [row["name"] for row in await cursor.fetchall()]
    # The lock waits for a change that gives access to the group: its place is to be found.
    cursor = await conn.execute(
        "SELECT g.id, g.name FROM groups g WHERE name = ANY(%s) AND NOT EXISTS (SELECT 1"
        " FROM group_members m WHERE m.group_id = g.id AND m.user_id = %s)"
        " ORDER BY g.id FOR NO KEY UPDATE",
        (wanted, user_id),
    )
    found = await cursor.fetchall()
    new = [row["id"] for row in found]
    places = await gained.by_groups(conn, [user_id], new)
    cursor = await conn.execute(
        "DELETE FROM group_members m USING groups g WHERE g.id = m.group_id AND m.user_id = %s"
        " AND m.from_oidc AND g.name <> ALL(%s) RETURNING g.name",
        (user_id, wanted),
    )
    detail: dict[str, Any] = {
        "added": sorted(row["name"] for row in found),
        "removed": sorted(row["name"] for row in await cursor.fetchall()),
        "made": made,
    }
    await conn.execute(
        "INSERT INTO group_members (group_id, user_id, from_oidc)"
        " SELECT unnest(%s::uuid[]), %s, true ON CONFLICT DO NOTHING",
        (new, user_id),
    )
    await gained.tell(conn, places, None)
    if detail["removed"]:
        await left.tell_out_of_groups(conn, [user_id])
    if any(detail.values()):
        await audit.note(conn, who, "user.groups", who.email, **detail)
