"""Marks, with a signed cookie, a browser that has signed in to an account before.

Attempts by such a browser are counted separately, so strangers who guess passwords use up their
own attempts, not those of the account's owner. Invariant: the cookie grants no access; its holder
still needs the password, and gets no more attempts than one address does.
"""

import secrets
import time

from starlette.responses import Response

from notes.auth.rate_limits import account
from notes.http.context import Call
from notes.http.viewer import Seen

DAYS = 180
_PURPOSE = "known browser"


def cookie_name(seen: Seen) -> str:
    return "__Host-known" if seen.secure else "known"


def known(call: Call, email: str) -> str | None:
    """The browser's identifier for this account; None if it never signed in to it."""
    given = call.request.cookies.get(cookie_name(call.seen), "")
    expires, _, rest = given.partition(".")
    nonce, _, signature = rest.partition(".")
    if not (expires.isascii() and expires.isdigit() and len(expires) < 12 and nonce):
        return None
    message = f"{expires}/{nonce}/{account(email)}"
    if int(expires) < time.time() or not call.app.vault.signed(message, _PURPOSE, signature):
        return None
    return nonce


def remember(call: Call, response: Response, email: str) -> None:
    """Marks the browser that has just signed in; an earlier identifier is kept."""
    nonce = known(call, email) or secrets.token_urlsafe(12)
    expires = int(time.time()) + DAYS * 86_400
    signature = call.app.vault.sign(f"{expires}/{nonce}/{account(email)}", _PURPOSE)
    response.set_cookie(
        cookie_name(call.seen),
        f"{expires}.{nonce}.{signature}",
        max_age=DAYS * 86_400,
        secure=call.seen.secure,
        httponly=True,
        samesite="lax",
    )
