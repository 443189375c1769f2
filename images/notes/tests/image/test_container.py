"""Tests one container of the image: its user, writable paths, health check and stop."""

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.image.lab import UID, Lab, eventually
from tests.replica import KEY, Client, get
from tests.workspace import page, space

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

HARDENED = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")
SHUTDOWN_TIMEOUT_S = 5
LABEL = "notes.test=image"


@dataclass(frozen=True)
class Container:
    """A detached container on the lab's first node."""

    lab: Lab
    id: str

    def exec(self, *command: str) -> str:
        return self.lab.docker("exec", self.id, *command)

    @property
    def url(self) -> str:
        published = self.lab.docker("port", self.id)
        assert published, f"the container has ended: {self.log}"
        port = published.splitlines()[0].rpartition(":")[2]
        return f"http://{self.lab.address('node1')}:{port}"

    @property
    def health(self) -> str:
        return str(self.lab.inspect(self.id)["State"]["Health"]["Status"])

    @property
    def log(self) -> str:
        done = self.lab.attempt("logs", self.id)
        return done.stdout + done.stderr

    def stop(self) -> tuple[int, float]:
        """Sends SIGTERM, with compose's 30 s; returns the exit code and the elapsed seconds."""
        begun = time.monotonic()
        self.lab.docker("stop", "--time=30", self.id)
        return int(self.lab.inspect(self.id)["State"]["ExitCode"]), time.monotonic() - begun

    def wait_ready(self) -> "Container":
        def ready() -> bool:
            with contextlib.suppress(httpx.HTTPError):
                return get(f"{self.url}/readyz", timeout=5).status_code == 200
            return False

        eventually(ready, f"the container to be ready: {self.log}", 30)
        return self


Run = Callable[..., Container]


@pytest.fixture(scope="module")
def run(lab: Lab) -> Iterator[Run]:
    """Starts containers; removes them at the end, and those of a crashed run first."""

    def clean() -> None:
        if ids := lab.docker("ps", "--all", "--quiet", f"--filter=label={LABEL}").split():
            lab.docker("rm", "--force", "--volumes", *ids)

    def start(*words: str) -> Container:
        return Container(lab, lab.docker("run", "--detach", f"--label={LABEL}", *words))

    clean()
    lab.docker("pull", "--quiet", lab.image)
    yield start
    clean()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, database: Callable[[], str]) -> list[str]:
    """Options for a container with secrets as files, behind a proxy."""
    directory = tmp_path_factory.mktemp("secrets")
    directory.chmod(0o755)
    for name, value in (("app_database_url", database()), ("app_encryption_key", KEY)):
        path = directory / name
        path.write_text(f"{value}\n")
        os.chown(path, UID, UID)
        path.chmod(0o400)
    return [
        f"--volume={directory}:/run/secrets:ro",
        "--env=DATABASE_URL_FILE=/run/secrets/app_database_url",
        "--env=APP_ENCRYPTION_KEY_FILE=/run/secrets/app_encryption_key",
        "--env=ORIGIN=https://notes.example.org",
        "--env=PROTOCOL_HEADER=x-forwarded-proto",
        f"--env=SHUTDOWN_TIMEOUT={SHUTDOWN_TIMEOUT_S}",
        "--publish=3000",
    ]


@pytest.fixture(scope="module")
def running(run: Run, lab: Lab, settings: list[str]) -> Container:
    """A hardened container, set up and in use."""
    container = run(*HARDENED, *settings, lab.image).wait_ready()
    with Client(container.url) as client:
        client.set_up()
    return container


def use(url: str) -> None:
    """Signs in, writes a page, and attaches a file to it."""
    with Client(url) as client:
        client.log_in()
        written = page(client, space(client))
        files = {"file": ("a.bin", secrets.token_bytes(9 * 1024 * 1024))}
        assert client.post(f"/api/v1/nodes/{written}/uploads", files=files).status_code == 201


def test_the_process_is_nobody_and_may_nothing(running: Container) -> None:
    status = dict(
        line.split(":\t", 1) for line in running.exec("cat", "/proc/1/status").splitlines()
    )
    assert status["Uid"].split() == [str(UID)] * 4
    assert status["Gid"].split() == [str(UID)] * 4
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert status["NoNewPrivs"].strip() == "1"


def test_nothing_of_the_image_is_writable_but_tmp(lab: Lab) -> None:
    """Also with a writable root file system; and no program is set-uid."""
    look = (
        "find / -xdev ( -path /proc -o -path /sys -o -path /dev ) -prune"
        " -o -writable -not -type l -print"
    )
    words = ("run", "--rm", "--network=none", lab.image, *look.split())
    found = set(lab.attempt(*words).stdout.split())
    assert {p for p in found if p.startswith("/app")} == set()
    assert found <= {"/tmp", "/var/tmp", "/run/lock", "/var/lock"}
    words = ("run", "--rm", "--network=none", "--user=root", lab.image)
    owners = lab.docker(*words, "find", "/app", "-not", "-user", "0", "-o", "-perm", "/022",
                        "-not", "-type", "l")  # fmt: skip
    assert owners == ""
    assert lab.docker(*words, "find", "/", "-xdev", "-type", "f", "-perm", "/6000") == ""


def test_it_writes_nothing_outside_tmp(run: Run, lab: Lab, database: Callable[[], str]) -> None:
    """Uses the engine's list of changed files, with a writable root file system."""
    container = run(
        "--publish=3000",
        f"--env=DATABASE_URL={database()}",
        f"--env=APP_ENCRYPTION_KEY={KEY}",
        "--env=PROTOCOL_HEADER=x-forwarded-proto",
        "--health-interval=1s",
        lab.image,
    ).wait_ready()
    with Client(container.url) as client:
        client.set_up()
    use(container.url)
    eventually(lambda: container.health == "healthy", "a health check")
    assert container.stop()[0] == 0
    changed = [line.split(" ", 1)[1] for line in lab.docker("diff", container.id).splitlines()]
    assert [path for path in changed if not path.startswith("/tmp")] == []


def test_it_turns_healthy_in_time_and_works_hardened(running: Container) -> None:
    eventually(lambda: running.health == "healthy", "the image's own health check", 30)
    use(running.url)
    assert "error" not in [line.split('"level":"')[1].split('"')[0]
                           for line in running.log.splitlines() if '"level":"' in line]  # fmt: skip


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "127.0.0.1"])
def test_the_health_check_follows_host_and_port(run: Run, lab: Lab, host: str) -> None:
    """Also without a database: the check is for liveness, not readiness."""
    container = run(
        "--network=none",
        "--sysctl=net.ipv6.conf.all.disable_ipv6=0",
        "--env=DATABASE_URL=postgresql://nobody@127.0.0.1:1/none",
        f"--env=APP_ENCRYPTION_KEY={KEY}",
        "--env=PORT=8080",
        f"--env=HOST={host}",
        "--health-interval=1s",
        lab.image,
    )
    eventually(lambda: container.health == "healthy", f"health on {host!r}: {container.log}", 20)


def test_a_process_that_does_not_answer_is_unhealthy(run: Run, lab: Lab) -> None:
    check = ("--health-interval=1s", "--health-retries=2", "--health-start-period=1ms")
    container = run("--network=none", *check, lab.image, "sleep", "60")
    eventually(lambda: container.health == "unhealthy", "nobody to answer", 20)


def test_secrets_come_from_files_and_go_nowhere(
    running: Container, lab: Lab, settings: list[str]
) -> None:
    directory = Path(settings[0].removeprefix("--volume=").partition(":")[0])
    password = (directory / "app_database_url").read_text().split(":")[2].split("@")[0]
    said = running.log + str(lab.inspect(running.id))
    said += running.exec("cat", "/proc/1/cmdline", "/proc/1/environ")
    assert KEY not in said
    assert password not in said


def test_what_is_missing_is_said_a_line_each(lab: Lab) -> None:
    done = lab.attempt("run", "--rm", "--network=none", *HARDENED, lab.image)
    assert done.returncode == 2
    assert done.stdout == ""
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [
        "DATABASE_URL",
        "APP_ENCRYPTION_KEY",
    ]
    done = lab.attempt(
        *("run", "--rm", "--network=none", "--env=APP_ENCRYPTION_KEY=short", "--env=PORT=http"),
        *("--env=DATABASE_URL_FILE=/run/secrets/none", lab.image, "notes", "--check-config"),
    )
    assert done.returncode == 2
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [
        "DATABASE_URL_FILE",
        "APP_ENCRYPTION_KEY",
        "PORT",
    ]


def test_the_version_is_the_same_everywhere(lab: Lab) -> None:
    config = lab.inspect(lab.image)["Config"]
    assert config["Labels"]["org.opencontainers.image.version"] == lab.version
    words = ("run", "--rm", "--network=none", lab.image)
    assert lab.docker(*words, "notes", "--version") == lab.version
    listed = lab.docker(*words, "sh", "-c", "ls /app/migrations/").split()
    assert listed
    assert all(name.endswith(".sql") for name in listed)
    assert config["ExposedPorts"] == {"3000/tcp": {}}
    assert "BODY_SIZE_LIMIT=256M" in config["Env"]
    assert not config["Volumes"]


@pytest.mark.quiet
def test_sigterm_is_exit_0_at_once_when_nothing_is_open(
    run: Run, lab: Lab, settings: list[str]
) -> None:
    for more in ((), ("--init",)):
        container = run(*HARDENED, *settings, *more, lab.image).wait_ready()
        code, took_s = container.stop()
        assert code == 0, container.log
        assert took_s < SHUTDOWN_TIMEOUT_S


@pytest.mark.quiet
def test_an_open_event_stream_lasts_until_the_timeout_and_the_exit_is_0(
    run: Run, lab: Lab, settings: list[str], running: Container
) -> None:
    """`running` has set the database up."""
    assert running.health
    container = run(*HARDENED, *settings, lab.image).wait_ready()
    opened, ended = threading.Event(), list[float]()

    def listen() -> None:
        with (
            Client(container.url) as client,
            contextlib.suppress(httpx.HTTPError),
            client.log_in().stream("GET", "/api/v1/events") as stream,
        ):
            assert stream.status_code == 200
            opened.set()
            for _ in stream.iter_bytes():
                pass
        ended.append(time.monotonic())

    listener = threading.Thread(target=listen)
    listener.start()
    assert opened.wait(10)
    begun = time.monotonic()
    code, took_s = container.stop()
    listener.join(10)
    assert code == 0, container.log
    assert ended[0] - begun > SHUTDOWN_TIMEOUT_S - 0.5
    assert took_s < SHUTDOWN_TIMEOUT_S + 4
