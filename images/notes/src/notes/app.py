"""Puts the replica together: services, routes, error answers, boundary."""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable

import psycopg
from psycopg import errors
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from notes import health
from notes.auth.authenticate import Authenticator
from notes.config import Settings
from notes.db.failures import OutcomeUnknownError, UnavailableError, may_repeat
from notes.http import routing
from notes.http.compression import NO_SECRET, shortened
from notes.http.problems import Problem, unavailable
from notes.jobs.registry import JOB_KINDS
from notes.middleware.boundary import EXCEPTIONS, Boundary
from notes.quotas.limits import problem_of
from notes.routes import OPERATIONS, document_routes
from notes.services import Services
from notes.web import assets, first_view, render
from notes.web.errors import as_page
from notes.words.spoken import of_messages

logger = logging.getLogger(__name__)


def build(settings: Settings, stop: Callable[[Exception], None]) -> tuple[Boundary, Services]:
    """The ASGI application of one replica; it calls `stop` if it can never become ready."""
    services = Services(settings, stop, JOB_KINDS)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await render.compile_templates()
        await services.start()
        try:
            yield
        finally:
            await services.close()

    inner = Starlette(
        routes=[
            *routing.routes(OPERATIONS, Authenticator(services)),
            *document_routes(),
            *first_view.routes(services),
            *assets.routes(),
            *health.routes(services),
        ],
        exception_handlers={
            Problem: _problem,
            HTTPException: _http_exception,
            psycopg.Error: _database_error,
            UnavailableError: _unavailable,
            ClientDisconnect: _disconnected,
            Exception: _broken,
        },
        lifespan=lifespan,
    )
    inner.router.redirect_slashes = False
    return Boundary(WhenReady(inner, services), settings, services.hosts, _answer), services


class WhenReady:
    """Answers 503 until the replica has started."""

    def __init__(self, inner: ASGIApp, services: Services) -> None:
        self._inner = inner
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        waits = scope["type"] == "http" and not self._services.ready
        if waits and scope["path"] not in EXCEPTIONS:
            problem = unavailable("The database cannot be reached yet; try again in a moment.")
            await _answer(Request(scope), problem)(scope, receive, send)
            return
        await self._inner(scope, receive, send)


def _answer(request: Request, problem: Problem) -> Response:
    return as_page(request, problem) or problem.response(of_messages(request.headers))


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)  # noqa: S101 - registered for it
    answer = _answer(request, error)
    # It may have the present state of a page: as long as the page itself.
    return await shortened(request, answer) if request.scope.get(NO_SECRET) else answer


def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    detail = "There is nothing at this address." if error.status_code == 404 else error.detail
    return _answer(request, Problem(error.status_code, detail, headers=error.headers))


def _database_error(request: Request, error: Exception) -> Response:
    """Answers 422 or 409 for a value that the database refuses, 503 if it is unreachable."""
    over_quota = problem_of(error) if isinstance(error, psycopg.Error) else None
    if over_quota is not None:
        return _answer(request, over_quota)
    if isinstance(error, errors.QueryCanceled):
        return _answer(request, unavailable("This took too long."))
    if isinstance(error, psycopg.Error) and may_repeat(error):
        return _answer(request, unavailable("The database cannot be reached."))
    if isinstance(error, psycopg.DataError):
        return _answer(request, Problem(422, "A value cannot be stored (does it contain a NUL?)."))
    if isinstance(error, psycopg.IntegrityError):
        logger.warning("refused by the database: %s", error.diag.constraint_name)
        return _answer(request, Problem(409, "It has changed in the meantime; reload it."))
    raise error


def _unavailable(request: Request, error: Exception) -> Response:
    if isinstance(error, OutcomeUnknownError):
        return _answer(
            request,
            unavailable("The connection broke while saving: check if it was saved, or retry."),
        )
    return _answer(request, unavailable("The database cannot be reached; try again in a moment."))


def _broken(request: Request, _: Exception) -> Response:
    problem = Problem(500, "The request failed; the log of this replica has the reason.")
    return _answer(request, problem)


def _disconnected(_: Request, __: Exception) -> Response:
    return Response(status_code=400)  # the client has gone: it does not receive this
