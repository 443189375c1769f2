"""The container's health check: Caddy answers. It says nothing of the application, whose outage
is no reason to start the edge again."""

from __future__ import annotations

import http.client
import os
import sys


def main() -> None:
    """Exit status 0 when Caddy answers on its own port, 1 when not."""
    connection = http.client.HTTPConnection(
        "127.0.0.1", int(os.environ.get("EDGE_LOCAL_PORT", "8081")), timeout=4
    )
    try:
        connection.request("GET", "/healthz")
        sys.exit(0 if connection.getresponse().status == 200 else 1)
    except OSError as error:
        print(f"Caddy does not answer: {error}", file=sys.stderr)
        sys.exit(1)
