"""Members and proxies as plain containers on the builder's engine, for tests of the images.

No swarm: three members on a bridge of their own, with the mounts that their services would have.
Everything carries a label, so that what a crashed run left behind is removed by the next one.
"""

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.lab.builder import Builder
from tests.support import web

LABEL = "queenright.test=images"
NETWORK = "queenright-images-test"
PREFIX = "10.89.0"
#: A second network, outside every range that may see the statistics page.
OUTSIDE_NETWORK, OUTSIDE_PREFIX = "queenright-images-outside", "198.18.7"
SUBNETS = (f"{PREFIX}.0/24", f"{OUTSIDE_PREFIX}.0/24")
SECRETS = {
    "pg_replication_pw": "Repl1cation+/=",
    "pg_superuser_pw": "Sup3ruser+/=",
    "pg_rest_pw": "R3st+/=",
}
MEMBERS = (1, 2, 3)
SAMPLES = Path(__file__).parents[1] / "unit/images"
SSL_REQUEST = b"\0\0\0\x08\x04\xd2\x16\x2f"


@dataclass(frozen=True, slots=True)
class Containers:
    """The engine that runs them, the images, and the directory that is mounted into them."""

    builder: Builder
    member_image: str
    proxy_image: str
    files: Path
    operator_image: str = ""

    def clean(self) -> None:
        """Remove everything that carries our label."""
        ids = self.builder.docker("ps", "-aq", "--filter", f"label={LABEL}").split()
        if ids:
            self.builder.docker("rm", "-fv", *ids)
        for kind in ("volume", "network"):
            names = self.builder.docker(kind, "ls", "-q", "--filter", f"label={LABEL}").split()
            if names:
                self.builder.docker(kind, "rm", *names)

    def networks(self) -> None:
        """The members' network, and one outside."""
        for name, subnet in zip((NETWORK, OUTSIDE_NETWORK), SUBNETS, strict=True):
            self.builder.docker("network", "create", f"--label={LABEL}", f"--subnet={subnet}", name)

    def run(self, *options: str) -> str:
        """`docker run -d` with our label; the container's id."""
        return self.builder.docker("run", "--detach", f"--label={LABEL}", *options)

    def fails(self, *options: str) -> tuple[int, str]:
        """Run a container to its end; its exit code and what it said on standard error."""
        result = self.builder.attempt(
            "run", f"--label={LABEL}", "--network=none", *options, timeout_s=60
        )
        return result.returncode, result.stderr

    def member_options(self, number: int) -> list[str]:
        """Return the options of a member's task in swarm (spec: database-cluster §2.2, §2.3,
        §2.7)."""
        partners = [f"{address(other)}:5010" for other in MEMBERS if other != number]
        environment = {
            "NODE_NAME": f"member-{number}",
            "RAFT_SELF": f"{address(number)}:5010",
            "RAFT_PARTNERS": json.dumps(partners),
            "FAILOVER_PRIORITY": "3" if number == 1 else "1",
            "NODE_CONNECT": address(number),
        }
        volumes = (("pgdata", f"data-{number}"), ("raft", f"raft-{number}"))
        return [
            *(f"--env={name}={value}" for name, value in environment.items()),
            *(f"--volume={self.files}/secrets/{s}:/run/secrets/{s}:ro" for s in SECRETS),
            f"--volume={self.files}/patroni.yml.tpl:/etc/patroni/patroni.yml.tpl:ro",
            *(
                f"--mount=type=volume,src=queenright-images-{name},dst=/home/postgres/{target},"
                f"volume-label={LABEL}"
                for target, name in volumes
            ),
            "--mount=type=tmpfs,dst=/tmp,tmpfs-size=64m",
            "--mount=type=tmpfs,dst=/run,tmpfs-size=16m",
            "--mount=type=tmpfs,dst=/var/run/postgresql,tmpfs-size=8m",
        ]

    def start_member(self, number: int) -> None:
        """One member, as swarm would start it."""
        self.run(
            "--init",
            f"--name=queenright-images-member-{number}",
            f"--hostname=member-{number}",
            f"--network={NETWORK}",
            f"--ip={address(number)}",
            *self.member_options(number),
            self.member_image,
        )

    def start_proxy(self, name: str, config: Path, *options: str) -> str:
        """One proxy, read-only, as swarm would start it."""
        return self.run(
            f"--name={name}",
            "--read-only",
            "--mount=type=tmpfs,dst=/tmp,tmpfs-size=16m",
            "--mount=type=tmpfs,dst=/run,tmpfs-size=8m",
            f"--volume={config}:/usr/local/etc/haproxy/haproxy.cfg:ro",
            f"--network={NETWORK}",
            *options,
            self.proxy_image,
        )

    def execute(self, number: int, *command: str) -> str:
        """Run a command in a member's container."""
        return self.builder.docker("exec", f"queenright-images-member-{number}", *command)

    def logs(self, container: str) -> str:
        """Both streams of a container's log."""
        result = self.builder.attempt("logs", container)
        return result.stdout + result.stderr

    def member_logs(self, number: int) -> str:
        return self.logs(f"queenright-images-member-{number}")

    def exit_code(self, container: str) -> int:
        """Wait for a container's end."""
        return int(self.builder.docker("wait", container, timeout_s=60))

    def leader(self) -> int | None:
        """The number of the member that is the primary."""
        return next((n for n in MEMBERS if status(n, "/primary") == 200), None)

    def replicas_stream(self) -> bool:
        """Return True if there is one leader and two replicas that stream from it."""
        states = [patroni(number) for number in MEMBERS]
        roles = sorted(str(state.get("role")) for state in states)
        return roles == ["primary", "replica", "replica"] and all(
            state.get("state") == "running"
            and (state["role"] == "primary" or state.get("replication_state") == "streaming")
            for state in states
        )


def address(number: int) -> str:
    return f"{PREFIX}.{10 + number}"


def status(number: int, path: str) -> int | None:
    """HTTP status of a GET at a member's REST API, None without an answer."""
    try:
        with urllib.request.urlopen(f"http://{address(number)}:8008{path}", timeout=3) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def patroni(number: int) -> dict[str, object]:
    """The body of GET /patroni, empty without an answer."""
    try:
        with urllib.request.urlopen(f"http://{address(number)}:8008/patroni", timeout=3) as answer:
            body = json.load(answer)
    except urllib.error.HTTPError as error:
        body = json.load(error)
    except (OSError, ValueError):
        return {}
    return dict(body)


def eventually(condition: Callable[[], object], what: str, timeout_s: float = 60) -> None:
    """Return when the condition holds; AssertionError with `what` when it does not in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"not in {timeout_s} s: {what}"
        time.sleep(0.1)


def proxy_config(files: Path) -> Path:
    """The reference configuration with the test's members."""
    text = (SAMPLES / "haproxy.cfg").read_text()
    for number in MEMBERS:
        text = text.replace(f"10.77.0.{11 + number}:", f"{address(number)}:")
    path = files / "haproxy.cfg"
    path.write_text(text)
    path.chmod(0o444)
    return path


def routed(host: str, port: int) -> bool:
    """Return True if a PostgreSQL server answers through the proxy."""
    try:
        with socket.create_connection((host, port), 1) as connection:
            connection.sendall(SSL_REQUEST)
            return connection.recv(1) in {b"N", b"S"}
    except OSError:
        return False


def page(host: str) -> int:
    """Status of the statistics page."""
    return web.get(f"http://{host}:7000/", timeout=5).status_code
