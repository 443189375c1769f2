"""Decides a container's health: whether GET /health of this member's Patroni answers 2xx.

While a cluster is restored, which may take hours, PostgreSQL is not running yet, and GET /liveness
is asked instead. With ``--or-starting`` a member is healthy too while Patroni says that it copies
its data or that PostgreSQL starts, which takes as long as there is data and WAL, and while it is
rewound: a rewind that Swarm ends in the middle costs a whole copy. One that waits with a lost Raft
log is left alone, too.

It runs every ten seconds, and most of what it costs is the start of Python: `json`, `pathlib` and
`typing` alone take as long as that, so they are not loaded by a member that is well.
(spec: database-cluster §4.1, §8)
"""

import os.path
import socket
import sys

PORT = 8008
NOTE = "/home/postgres/raft/restore"  # that of backup.cluster_restore, without its imports
REWIND = "/home/postgres/raft/rewind"
"""That of ``rewind``, with the number of its process."""
OR_STARTING = "--or-starting"
STARTING = frozenset(
    {
        "creating replica",
        "initializing new cluster",
        "restarting",
        "running custom bootstrap script",
        "starting",
        "starting after custom bootstrap",
    }
)
"""Patroni's states in which PostgreSQL is on its way; each of them ends in another one."""
LOG_LOST = "raft log lost"
"""The state of a member that waits for the operator (``raft_wait``): no restart would help it."""
ANSWER_BYTES = 65_536
TIMEOUT_S = 4.5  # just under the container health check's own 5 s


def main() -> None:
    """`healthcheck [PORT] [--or-starting]`: exit status 0 healthy, 1 not."""
    numbers = [argument for argument in sys.argv[1:] if argument.isdigit()]
    port = int(numbers[0]) if numbers else PORT
    is_busy = os.path.exists(NOTE) or (OR_STARTING in sys.argv and is_rewinding(REWIND))
    status, state = probe(port, "/liveness" if is_busy else "/health")
    print(f"{status} {state}".strip())
    is_well = status.isdigit() and 200 <= int(status) < 300
    waits = state == LOG_LOST or (OR_STARTING in sys.argv and state in STARTING)
    sys.exit(0 if is_well or waits else 1)


def is_rewinding(note: str) -> bool:
    """Return True if the process that the note names runs; one that was ended leaves its note."""
    try:
        with open(note) as text:
            number = text.read()
    except OSError:
        return False
    return number.isdigit() and os.path.exists(f"/proc/{number}")


def probe(port: int, path: str = "/health", host: str = "127.0.0.1") -> tuple[str, str]:
    """The HTTP status of a GET as text, or the words of the failure; and, unless it is 2xx, the
    member's state as Patroni names it, empty where it names none."""
    try:
        with socket.socket() as connection:
            connection.settimeout(TIMEOUT_S)
            connection.connect((host, port))
            connection.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
            answer = connection.makefile("rb")
            line = answer.readline(256).decode("latin-1").split()
            rest = b"" if line[1:2] and line[1].startswith("2") else answer.read(ANSWER_BYTES)
    except OSError as error:
        return f"no answer on port {port}: {error}", ""
    if len(line) < 2 or not line[0].startswith("HTTP/"):
        return f"no HTTP answer on port {port}", ""
    return line[1], state_in(rest.partition(b"\r\n\r\n")[2])


def state_in(body: bytes) -> str:
    """The state in Patroni's answer; empty where it has none."""
    if not body:
        return ""
    import json  # a member that is well does without

    try:
        found = json.loads(body)
    except ValueError:
        return ""
    state = found.get("state") if isinstance(found, dict) else None
    return state if isinstance(state, str) else ""
