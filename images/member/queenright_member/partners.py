"""Decides how long a new member waits for its Raft partners to listen.

The Raft library connects from the greater address to the smaller one, and tries again only every
five seconds. When three new members start at the same moment, a first try that comes a moment too
early costs those five seconds, and a replica that is late on top of it misses its replication
slot for another ten. So a member with no Raft state yet waits until the smaller addresses listen,
for a bounded time; one that has been a member before never waits.
"""

import socket
import time
from collections.abc import Iterable
from pathlib import Path

LIMIT_S = 10.0
_STEP_S = 0.05
_CONNECT_S = 1.0


def await_partners(own: str, partners: Iterable[str], raft: Path, limit_s: float = LIMIT_S) -> None:
    """Return when every partner with a smaller address listens, or after `limit_s` seconds."""
    if any(raft.glob("*.journal")):
        return
    deadline = time.monotonic() + limit_s
    for partner in sorted(address for address in partners if address < own):
        while not _listens(partner) and time.monotonic() < deadline:
            time.sleep(_STEP_S)


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _CONNECT_S).close()
    except OSError:
        return False
    return True
