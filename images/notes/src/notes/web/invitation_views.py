"""The page of an invitation, on which the invited person makes their account.

It needs no script and no session. The address has the secret: no answer gives it to another site or
to a log, and it opens nothing any more once the account is there.
"""

from typing import Any

from psycopg.rows import DictRow
from starlette.responses import Response

from notes.auth import devices
from notes.auth.sessions import set_cookie
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.invitations.accepting import AcceptIn, accept
from notes.invitations.holding import opened
from notes.web.forms import convert, fields
from notes.web.render import page
from notes.web.sign_in import see

table = Table("doors")

PATH = "/s/{token}/invitation"
_WRONG = {
    "name": "Type a name of 1 to 120 characters, in one line.",
    "password": "Choose a password of 10 to 1000 characters.",
}


@table("GET", PATH, scope=None, main_site_only=True)
async def invitation_page(call: Call, token: str) -> Response:
    """Show for whom an invitation is, and the form that accepts it."""
    try:
        invitation = await opened(call, token)
    except Problem as problem:
        return _refused(call, problem)
    return _page(call, invitation=invitation, typed=invitation["name"])


@table("POST", PATH, scope=None, main_site_only=True)
async def invitation_form(call: Call, token: str) -> Response:
    """Accept an invitation: make the account, and sign in to it."""
    try:
        invitation = await opened(call, token)
    except Problem as problem:
        return _refused(call, problem)
    given = await fields(call)
    # The address is the invitation's, whatever the form says.
    body = {"name": given.get("name", "").strip(), "password": given.get("password", "")}
    try:
        session, who = await accept(call, token, convert(body, AcceptIn))
    except Problem as problem:
        if problem.status != 422:
            return _refused(call, problem)
        wrong = _WRONG[problem.document.errors[0].field]
        return _page(call, 422, invitation=invitation, typed=body["name"], error=wrong)
    response = see("/")
    set_cookie(response, call.seen, session, who.person)
    devices.remember(call, response, who.email)
    return response


def _refused(call: Call, problem: Problem) -> Response:
    if problem.status not in {404, 409}:
        raise problem
    return _page(call, problem.status)


def _page(
    call: Call, status: int = 200, *, invitation: DictRow | None = None, **values: Any
) -> Response:
    shown = {"error": None, "typed": "", "taken": status == 409, **values}
    response = page(call, "invitation.html", status, invitation=invitation, **shown)
    # Not even requests to this site have the secret as their Referer: a proxy may log it. With
    # "no-referrer" the form would come without its Origin, and be refused.
    response.headers["referrer-policy"] = "strict-origin"
    response.headers["x-robots-tag"] = "noindex"
    return response
