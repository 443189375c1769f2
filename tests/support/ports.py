"""Free ports for the servers of a test, which other processes don't take before these listen."""

from __future__ import annotations

import random
import socket

FIRST, LAST = 20_000, 32_000
"""Linux gives clients' connections 32768 to 60999: one of those may be taken at any time."""


def free_ports(count: int) -> list[int]:
    """Ports on which nothing listens, on any address."""
    found: dict[int, socket.socket] = {}
    while len(found) < count:
        try:
            port = random.randrange(FIRST, LAST)
            found[port] = socket.create_server(("", port))
        except OSError:
            continue
    for one in found.values():
        one.close()
    return list(found)


def free_port() -> int:
    (port,) = free_ports(1)
    return port
