"""Decides a container's health: whether GET /health of this member's Patroni answers 2xx.

While a cluster is restored, which may take hours, PostgreSQL is not running yet, and GET /liveness
is asked instead.

Nothing but a socket, because it runs every ten seconds. (spec: database-cluster §4.1, §8)
"""

import socket
import sys
from pathlib import Path
from typing import NoReturn

PORT = 8008
NOTE = Path("/home/postgres/raft/restore")  # that of backup.cluster_restore, without its imports
TIMEOUT_S = 4.5  # just under the container health check's own 5 s


def main() -> NoReturn:
    """`healthcheck [PORT]`: exit status 0 healthy, 1 not."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else PORT
    status = probe(port, "/liveness" if NOTE.exists() else "/health")
    print(status)
    sys.exit(0 if status.isdigit() and 200 <= int(status) < 300 else 1)


def probe(port: int, path: str = "/health", host: str = "127.0.0.1") -> str:
    """The HTTP status of a GET as text, or the words of the failure."""
    try:
        with socket.create_connection((host, port), TIMEOUT_S) as connection:
            connection.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
            line = connection.makefile("rb").readline(256).decode("latin-1").split()
    except OSError as error:
        return f"no answer on port {port}: {error}"
    if len(line) < 2 or not line[0].startswith("HTTP/"):
        return f"no HTTP answer on port {port}"
    return line[1]
