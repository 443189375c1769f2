"""Trials of single sign-on: an administrator signs on by settings that are not in use yet.

Invariant: a trial starts no session, and changes no account and no group; its settings and its
result are for the administrator who began it, for half an hour; no answer has the secret.
"""

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID, uuid4

import msgspec
from starlette.responses import RedirectResponse, Response

from notes.auth import audit
from notes.auth.oidc import START, Away
from notes.auth.oidc_claims import Person, person_of, refused
from notes.auth.oidc_settings import OidcIn, OidcState, check_stored, checked, get_oidc, store
from notes.config import OidcSettings
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.words.spoken import Spoken

table = Table("single sign-on")

MINUTES = 30
SCREEN = "/w/admin/sign-on"
MOST_CLAIMS_BYTES = 64 * 1024
#: Claims that belong to one sign-on, and say nothing about the person.
TECHNICAL = {"nonce", "at_hash", "c_hash", "s_hash", "jti", "sid"}


class Account(msgspec.Struct, frozen=True):
    """The account that a sign-on would lead to.

    `kind`: `known`, signed on before; `adopted`, has the same confirmed address; `new`; `refused`,
    with the reason in `problem`. `groups` is null if the settings name no claim for them.
    """

    kind: Literal["known", "adopted", "new", "refused"]
    name: str
    email: str
    is_admin: bool
    groups: list[str] | None
    problem: str | None = None


class Result(msgspec.Struct, frozen=True):
    """The result of a trial: the claims and the account, or the reason of the failure."""

    claims: dict[str, Any] = {}
    account: Account | None = None
    problem: str | None = None


class Trial(msgspec.Struct, frozen=True):
    """A trial without its secret; `start` is the path at which the browser signs on."""

    id: UUID
    start: str
    state: Literal["waiting", "done", "failed"]
    issuer: str
    client_id: str
    groups_claim: str | None
    admin_group: str | None
    result: Result | None


@table(
    "POST",
    "/api/v1/settings/oidc/trials",
    scope="admin",
    status=201,
    main_site_only=True,
    has_secret=True,
)
async def post_oidc_trial(call: Call, body: OidcIn) -> Trial:
    """Begin a trial of settings; it changes nothing for others."""
    oidc = await checked(call, body)
    if call.app.sign_on.leaves_from(call.seen) is not None:
        raise Problem(409, f"A trial begins at {call.app.settings.origin}; open it there.")
    made = uuid4()
    sealed = call.app.vault.seal(msgspec.json.encode(oidc), _place(made))

    async def work(conn: Conn) -> None:
        await conn.execute(
            "INSERT INTO oidc_trials (id, user_id, sealed, expires_at)"
            " VALUES (%s, %s, %s, now() + make_interval(mins => %s))",
            (made, call.viewer.person, sealed, MINUTES),
        )
        await audit.note(conn, call.viewer, "oidc.tried", oidc.issuer)

    await call.app.db.transact(work)
    return _trial(made, oidc, None)


@table(
    "GET", "/api/v1/settings/oidc/trials/{id}", scope="admin", main_site_only=True, has_secret=True
)
async def get_oidc_trial(call: Call, id: UUID) -> Trial:
    """Get a trial that you began, with its result."""
    oidc, result = await _own(call, id)
    return _trial(id, oidc, result and _said(result, call.spoken))


@table(
    "POST",
    "/api/v1/settings/oidc/trials/{id}/use",
    scope="admin",
    main_site_only=True,
    has_secret=True,
)
async def use_oidc_trial(call: Call, id: UUID) -> OidcState:
    """Make the settings of a successful trial those for everybody."""
    check_stored(call)
    oidc, result = await _own(call, id)
    if result is None or result.problem is not None:
        raise Problem(409, "The trial has not succeeded; sign on by it first.")

    async def work(conn: Conn) -> None:
        await store(conn, call, oidc)
        await conn.execute("DELETE FROM oidc_trials WHERE id = %s", (id,))

    await call.app.db.transact(work)
    return await get_oidc(call)  # type: ignore[no-any-return]


async def settings(call: Call, id: UUID) -> OidcSettings:
    """The settings of the viewer's own trial. Raises a 404."""
    return (await _own(call, id))[0]


async def finish(call: Call, away: Away, query: Mapping[str, str]) -> Response:
    """Records what came back from the provider, and redirects to the screen of the trial.

    Raises a 400 if the browser is not signed in as the administrator who began the trial.
    """
    tried = away.trial
    assert tried is not None  # noqa: S101 - the caller has checked it
    if "admin" not in call.viewer.scopes:
        raise refused("a trial needs the administrator who began it")
    oidc, _ = await _own(call, tried)
    try:
        claims = await call.app.sign_on.claims_of(oidc, away, query)
        shown = {name: claims[name] for name in sorted(claims) if name not in TECHNICAL}
        if len(msgspec.json.encode(shown)) > MOST_CLAIMS_BYTES:
            shown = {"sub": claims["sub"]}
        person = person_of(oidc, claims)
        account = await call.app.db.run(lambda conn: _account_of(conn, person))
        result = Result(shown, account)
    except Problem as problem:
        result = Result(problem=problem.document.detail)
    sealed = call.app.vault.seal(msgspec.json.encode(result), f"{_place(tried)}/result")
    await call.app.db.do("UPDATE oidc_trials SET result = %s WHERE id = %s", (sealed, tried))
    return RedirectResponse(f"{SCREEN}?trial={tried}", 303, {"cache-control": "no-store"})


async def _own(call: Call, id: UUID) -> tuple[OidcSettings, Result | None]:
    """The settings and the result of the viewer's own trial. Raises a 404 for any other one."""
    row = await call.app.db.one(
        "SELECT sealed, result FROM oidc_trials"
        " WHERE id = %s AND user_id = %s AND expires_at > now()",
        (id, call.viewer.user_id),
    )
    if row is None:
        raise not_found("trial")
    vault = call.app.vault
    oidc = msgspec.json.decode(vault.open(bytes(row["sealed"]), _place(id)), type=OidcSettings)
    if row["result"] is None:
        return oidc, None
    opened = vault.open(bytes(row["result"]), f"{_place(id)}/result")
    return oidc, msgspec.json.decode(opened, type=Result)


def _place(id: UUID) -> str:
    return f"oidc_trials/{id}"


def _said(result: Result, t: Spoken) -> Result:
    """The result with its reasons in the language of `t`."""
    account = result.account
    if account is not None and account.problem is not None:
        account = msgspec.structs.replace(account, problem=t.said(account.problem))
    problem = result.problem and t.said(result.problem)
    return msgspec.structs.replace(result, account=account, problem=problem)


def _trial(id: UUID, oidc: OidcSettings, result: Result | None) -> Trial:
    state: Literal["waiting", "done", "failed"] = "waiting"
    if result is not None:
        state = "failed" if result.problem is not None else "done"
    return Trial(
        id,
        f"{START}?trial={id}",
        state,
        oidc.issuer,
        oidc.client_id,
        oidc.groups_claim,
        oidc.admin_group,
        result,
    )


async def _account_of(conn: Conn, person: Person) -> Account:
    """The account that this person would get; reads only."""
    row = await (
        await conn.execute(
            "SELECT u.name, u.email, u.is_admin, u.disabled_at, i.user_id IS NOT NULL AS known,"
            " NOT EXISTS (SELECT 1 FROM users o WHERE o.is_admin AND o.disabled_at IS NULL"
            " AND o.id <> u.id) AS last FROM users u LEFT JOIN identities i ON i.user_id = u.id"
            " AND i.issuer = %(issuer)s AND i.subject = %(subject)s"
            " WHERE i.user_id IS NOT NULL OR u.email = %(email)s ORDER BY known DESC LIMIT 1",
            {"issuer": person.issuer, "subject": person.subject, "email": person.email},
        )
    ).fetchone()
    groups = None if person.groups is None else sorted(person.groups)
    if row is None:
        return Account("new", person.name, person.email, person.is_admin is True, groups)
    problem = None
    if row["disabled_at"] is not None:
        problem = "This account is disabled."
    elif not row["known"] and not person.email_verified:
        problem = "The provider does not confirm the e-mail address of an existing account."
    is_admin = row["is_admin"] if person.is_admin is None else person.is_admin
    # The last administrator stays one, with any groups.
    is_admin = is_admin or (row["is_admin"] and row["last"])
    kind: Literal["known", "adopted", "refused"] = "known" if row["known"] else "adopted"
    if problem is not None:
        kind = "refused"
    return Account(kind, row["name"], row["email"], is_admin, groups, problem)
