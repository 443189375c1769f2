"""Shows problems as pages to browsers."""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from notes.http.problems import Problem
from notes.http.viewer import ANYBODY, Seen
from notes.middleware.boundary import SEEN
from notes.web.render import template
from notes.words.spoken import of_reader


def as_page(request: Request, problem: Problem) -> Response | None:
    """The problem as a page; None for a client that is not a browser.

    A browser without a session is redirected to the login, and back afterwards.
    """
    path = request.url.path
    accepted = request.headers.get("accept", "*/*")
    if path.startswith("/api/") or not ("text/html" in accepted or "*/*" in accepted):
        return None
    if problem.status == 401 and request.method == "GET" and not path.startswith("/s/"):
        wanted = path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?return_to={quote(wanted, safe='')}", 303)
    seen: Seen = request.scope[SEEN]
    response = template(
        "error.html",
        ANYBODY,
        seen,
        problem.status,
        language=of_reader(request.headers),
        problem=problem.document,
    )
    for name, value in problem.headers.items():
        response.headers[name] = value
    return response
