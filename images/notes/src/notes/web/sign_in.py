"""Pages for setup, login and logout, which need no session."""

from typing import Literal

import msgspec
from starlette.responses import RedirectResponse, Response

from notes.auth import accounts, devices, setup, unsent
from notes.auth.accounts import LoginIn
from notes.auth.oidc import same_site_path
from notes.auth.sessions import set_cookie
from notes.auth.setup import SetupIn
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.web.forms import convert, fields
from notes.web.render import page

table = Table("doors")


class LoginQuery(msgspec.Struct, frozen=True):
    """The path to return to after the login."""

    return_to: str = "/"


class LogoutQuery(msgspec.Struct, frozen=True):
    """The choice about edits that are not sent: the browser keeps or deletes them."""

    unsent: Literal["keep", "delete"] | None = None


def see(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303, {"cache-control": "no-store"})


@table("GET", "/setup", scope=None, main_site_only=True)
async def setup_page(call: Call) -> Response:
    """Show the setup wizard; redirect to the login if setup is done."""
    if await setup.is_set_up(call):
        return see("/login")
    return page(call, "setup.html", error=None, given={})


@table("POST", "/setup", scope=None, main_site_only=True)
async def setup_form(call: Call) -> Response:
    """Do the setup."""
    given = await fields(call)
    filled = {name: value for name, value in given.items() if value or name != "demo"}
    try:
        token, me = await setup.set_up(call, convert(filled, SetupIn))
    except Problem as problem:
        if problem.status not in {409, 422}:
            raise
        del given["password"]
        return page(call, "setup.html", problem.status, error=problem.document, given=given)
    response = see("/")
    set_cookie(response, call.seen, token, me.id)
    devices.remember(call, response, me.email)
    return response


@table("GET", "/login", scope=None)
async def login_page(call: Call, query: LoginQuery) -> Response:
    """Show the login; before the setup redirect to the setup wizard."""
    if call.seen.site.space_id is None and not await setup.is_set_up(call):
        return see("/setup")
    return await _login(call, query.return_to)


async def _login(
    call: Call, return_to: str, problem: Problem | None = None, email: str = ""
) -> Response:
    return page(
        call,
        "login.html",
        problem.status if problem else 200,
        error=problem.document if problem else None,
        email=email,
        return_to=same_site_path(return_to),
        has_sign_on=await call.app.sign_on.configured() is not None,
    )


@table("POST", "/login", scope=None)
async def login_form(call: Call) -> Response:
    """Sign in."""
    given = await fields(call)
    return_to = given.pop("return_to", "/")
    try:
        token, me = await accounts.log_in(call, convert(given, LoginIn))
    except Problem as problem:
        if problem.status not in {401, 422}:
            raise
        return await _login(call, return_to, problem, given.get("email", ""))
    response = see(same_site_path(return_to))
    set_cookie(response, call.seen, token, me.id)
    devices.remember(call, response, me.email)
    return response


@table("POST", "/logout", scope=None)
async def logout_form(call: Call, query: LogoutQuery) -> Response:
    """Sign out; first ask what becomes of edits that the browser has not sent."""
    count = unsent.found(call).own
    if count and query.unsent is None:
        return page(call, "sign_out.html", unsent=count)
    response = see("/login")
    await accounts.log_out(call, response)
    # What is kept is hidden, with the user's pages; only the same user gets the edits.
    if query.unsent != "keep":
        unsent.delete(call, response)
    return response
