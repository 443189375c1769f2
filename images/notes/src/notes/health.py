"""Routes for liveness, readiness, and a proxy's request to issue a certificate.

Invariant: liveness never touches the database.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from notes.middleware.hostname import is_domain, normal_host, without_port
from notes.services import Services


def routes(app: Services) -> list[Route]:
    """The three routes that are served on every host name (spec: notes-app §4, §7)."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})

    async def readyz(_: Request) -> Response:
        ready = app.ready and await app.db.writable()
        return PlainTextResponse(
            "ready\n" if ready else "not ready: the database is unreachable\n",
            200 if ready else 503,
            {"cache-control": "no-store"},
        )

    async def tls_ask(request: Request) -> Response:
        host = normal_host(request.query_params.get("domain", ""))
        known = (
            host is not None
            and host == without_port(host)
            and is_domain(host)
            and app.hosts.may_have_certificate(host)
        )
        return PlainTextResponse("yes\n" if known else "no\n", 200 if known else 404)

    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/internal/tls-ask", tls_ask),
    ]
