"""Decides whether an invitation holds, and finds one by its secret.

An invitation holds while its creator could create it again: their account is active and an
administrator's. It ends with its time, when it is accepted, revoked or replaced, and as soon as
another account has its address. Invariant: nobody learns from the answer to a secret why it opens
nothing.
"""

from typing import LiteralString

from psycopg.rows import DictRow

from notes.auth import rate_limits
from notes.auth.token_digest import digest
from notes.http.context import Call
from notes.http.problems import Problem

IS_OPEN: LiteralString = (
    "(i.accepted_at IS NULL AND i.expires_at > now()"
    " AND maker.is_admin AND maker.disabled_at IS NULL)"
)
"""True for an invitation `i` of a person `maker` that its secret still opens."""
HAS_ACCOUNT: LiteralString = "EXISTS (SELECT 1 FROM users u WHERE u.email = i.email)"

TAKEN = "There is an account with this e-mail address already."


def refused() -> Problem:
    """The 404 for a secret that opens nothing: unknown, malformed, used, revoked or expired."""
    return Problem(404, "This invitation does not hold.")


async def opened(call: Call, secret: str) -> DictRow:
    """The open invitation of a secret. Raises a 404, or a 409 if an account has its address.

    Only what opens nothing counts as an attempt: guesses are limited as those at the password of a
    share link. The limit is that of an address alone, since a wrong secret names no invitation.
    """
    place = (rate_limits.INVITATION, call.seen.address)
    await rate_limits.count(call.app.db, *place)
    row = await call.app.db.one(
        "SELECT i.id, i.email, i.name, i.expires_at, maker.name AS made_by_name, s.site_name, "
        + HAS_ACCOUNT
        + " AS has_account FROM invitations i JOIN users maker ON maker.id = i.made_by, settings s"
        " WHERE i.secret_hash = %s AND " + IS_OPEN,
        (digest(secret),),
    )
    if row is None:
        raise refused()
    await rate_limits.uncount(call.app.db, *place)
    if row["has_account"]:
        raise Problem(409, TAKEN)
    return row
