"""Authenticates a request and authorises its operation before the handler runs.

Invariant: no handler runs before the cross-site check and the check of its operation's scope.
"""

from starlette.requests import Request

from notes.auth import sessions
from notes.http.context import App, Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Operation
from notes.http.viewer import ANYBODY, Seen, Viewer
from notes.middleware.boundary import SEEN
from notes.middleware.csrf import refusal


async def viewer(app: App, request: Request, seen: Seen) -> Viewer:
    """The viewer, from the bearer token or the cookie. Raises a 401 for an invalid token."""
    token = sessions.bearer(request)
    if token is not None:
        found = await sessions.viewer_of_token(app.db, token)
        if found is None:
            raise Problem(
                401,
                "The token is unknown, expired or revoked.",
                headers={"www-authenticate": 'Bearer error="invalid_token"'},
            )
        return found
    cookie = sessions.cookie(request, seen)
    return await sessions.viewer_of_session(app.db, cookie) if cookie else ANYBODY


def check_cross_site(request: Request, seen: Seen) -> None:
    """Raises a 403 for a request that another site may have caused."""
    has_cookie = sessions.cookie(request, seen) is not None
    refused = refusal(request.method, request.headers, seen, has_cookie)
    if refused is not None:
        raise Problem(403, refused)


class Authenticator:
    """Checks every request before its operation is called."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, request: Request, operation: Operation) -> Call:
        seen: Seen = request.scope[SEEN]
        check_cross_site(request, seen)
        if operation.main_site_only and seen.site.space_id is not None:
            raise not_found("address on this site")
        who = await viewer(self._app, request, seen)
        if operation.scope is not None:
            if who.user_id is None:
                expired = await sessions.has_expired(self._app.db, request, seen)
                raise Problem(
                    401,
                    "Sign in, or send a token.",
                    headers={"www-authenticate": "Bearer", **(sessions.EXPIRED if expired else {})},
                )
            if operation.scope not in who.scopes:
                raise Problem(403, f"This needs the scope {operation.scope!r}.")
        return Call(request, seen, who, self._app)
