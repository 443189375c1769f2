"""Cookies about the work that a browser stores and has not sent, for people who share it.

Invariant: a sign-out deletes nothing that another person has not sent.
"""

import re
from dataclasses import dataclass
from uuid import UUID

from starlette.responses import Response

from notes.http.context import Call

#: Set by the workspace: each person with edits or files that are not sent, and their number, as
#: `id:number`, joined by dots. An older workspace set the number of all.
UNSENT = "notes-unsent"
#: The people, joined by dots, whose stored work the workspace deletes before it shows anything.
LEFT = "notes-left"

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NUMBER = r"[1-9][0-9]{0,5}"
_ONE_YEAR = 31_536_000


@dataclass(frozen=True, slots=True)
class Unsent:
    """The number of the person's own edits and files, and the cookie without them."""

    own: int
    others: str


def found(call: Call) -> Unsent:
    """Reads what the browser has not sent; without a session all of it is of others."""
    cookie = call.request.cookies.get(UNSENT, "")
    person = call.viewer.user_id
    if re.fullmatch(_NUMBER, cookie):
        return Unsent(int(cookie) if person else 0, cookie)
    numbers = dict(re.findall(rf"({_ID}):({_NUMBER})(?=\.|$)", cookie))
    own = int(numbers.pop(str(person), 0))
    return Unsent(own, ".".join(f"{one}:{number}" for one, number in numbers.items()))


def delete(call: Call, response: Response) -> None:
    """Has the browser delete what it stores of the person who signs out.

    Where others have something unsent it cannot do so by itself: the workspace does it later.
    """
    others = found(call).others
    if not others:
        response.headers["clear-site-data"] = '"cache", "storage"'
        response.delete_cookie(UNSENT)
        return
    response.headers["clear-site-data"] = '"cache"'
    _set(call, response, UNSENT, others)
    if call.viewer.user_id is not None:
        _set(call, response, LEFT, _joined(call, call.viewer.user_id))


def _joined(call: Call, person: UUID) -> str:
    """The people whose work is to be deleted, with one more."""
    before = re.findall(_ID, call.request.cookies.get(LEFT, ""))
    return ".".join(dict.fromkeys([*before, str(person)]))


def _set(call: Call, response: Response, name: str, value: str) -> None:
    response.set_cookie(name, value, _ONE_YEAR, secure=call.seen.secure, samesite="lax")
