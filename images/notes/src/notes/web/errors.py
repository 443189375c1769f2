"""Problems as pages, for whoever asked for a page."""

from starlette.requests import Request
from starlette.responses import Response

from notes.http.problems import Problem


def as_page(request: Request, problem: Problem) -> Response | None:
    """A page that says what `problem` says; None where a program asked."""
    del request, problem
    return None
