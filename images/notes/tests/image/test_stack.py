"""Tests the stack file on a real swarm: start-first updates, rollback (spec: notes-app §3).

Ports are published in host mode: the lab's kernel may have no IPVS, which the routing mesh needs.
With one node more than replicas, a new task still finds a free port before an old one ends.
"""

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.image.lab import NOTES, UID, Lab, eventually
from tests.postgres import Postgres
from tests.replica import KEY, Client, get

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

NAME = "notestest"
SERVICE = f"{NAME}_app"
SECRETS = ("app_database_url", "app_encryption_key")
PORT = 3300


@dataclass
class Watch:
    """Checks every node repeatedly for a live replica."""

    lab: Lab
    counts: list[int] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)

    def look(self) -> int:
        return sum(answers(self.lab, node, "/healthz") for node in self.lab.nodes)

    def __enter__(self) -> "Watch":
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self.done.wait(0.1):
            self.counts.append(self.look())


def answers(lab: Lab, node: str, path: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return get(f"http://{lab.address(node)}:{PORT}{path}", timeout=2).status_code == 200
    return False


def deploy(lab: Lab, **variables: str) -> None:
    """Deploys as in DEPLOYMENT.md, with the variables of the contract (spec: notes-app §2.2)."""
    given = {
        "APP_IMAGE": lab.repository,
        "APP_VERSION": lab.version,
        "APP_ORIGIN": "https://notes.example.org",
        "APP_PORT": str(PORT),
        "APP_PUBLISH": "host",
        "PROTOCOL_HEADER": "X-Forwarded-Proto",
        "SHUTDOWN_TIMEOUT": "5",
    }
    lab.docker("stack", "deploy", "--compose-file", str(NOTES / "stack.yaml"), NAME,
               **{**given, **variables})  # fmt: skip


def tasks(lab: Lab) -> list[dict[str, Any]]:
    """All tasks that the swarm lists, oldest first."""
    ids = lab.docker("service", "ps", "--quiet", "--no-trunc", SERVICE).split()
    # The command fails for a task that the swarm deletes at this moment; the others are listed.
    found: list[dict[str, Any]] = json.loads(lab.attempt("inspect", *ids).stdout) if ids else []
    return sorted(found, key=lambda task: str(task["CreatedAt"]))


def with_state(lab: Lab, state: str) -> list[dict[str, Any]]:
    return [task for task in tasks(lab) if task["Status"]["State"] == state]


def update_state(lab: Lab) -> str:
    return str(lab.inspect(SERVICE).get("UpdateStatus", {}).get("State", "none"))


def remove(lab: Lab) -> None:
    lab.attempt("stack", "rm", NAME)
    mine = f"--filter=label=com.docker.stack.namespace={NAME}"
    for node in lab.nodes:
        eventually(lambda n=node: not lab.docker("ps", "-aq", mine, node=n), "tasks to end")  # type: ignore[misc]
    for secret in SECRETS:
        lab.attempt("secret", "rm", secret)


@pytest.fixture(scope="module")
def stack(lab: Lab, database: Callable[[], str]) -> Iterator[str]:
    """Deploys two replicas on an empty database; yields its URL."""
    remove(lab)
    url = database()
    for name, value in zip(SECRETS, (url, KEY), strict=True):
        lab.docker("secret", "create", name, "-", text=value)
    deploy(lab)
    eventually(lambda: len(with_state(lab, "running")) == 2, "two healthy tasks", 90)
    eventually(
        lambda: sum(answers(lab, node, "/readyz") for node in lab.nodes) == 2, "two ready replicas"
    )
    yield url
    remove(lab)


def test_the_file_says_what_is_missing(lab: Lab) -> None:
    file = ("stack", "deploy", "--compose-file", str(NOTES / "stack.yaml"), NAME)
    for variable, more in (("APP_VERSION", {"APP_ORIGIN": "https://a.example"}),
                           ("APP_ORIGIN", {"APP_VERSION": "1.0.1"})):  # fmt: skip
        done = lab.attempt(*file, **more)
        assert done.returncode != 0
        assert f"set {variable}" in done.stderr


def test_two_replicas_start_at_once_and_migrate_once(
    lab: Lab, stack: str, server: Postgres
) -> None:
    lines = list[dict[str, Any]]()
    for task in with_state(lab, "running"):
        node = lab.inspect(task["NodeID"])["Description"]["Hostname"]
        container = task["Status"]["ContainerStatus"]["ContainerID"]
        said = lab.docker("logs", container, node=node)
        lines += [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    ran = [number for line in lines for number in line.get("migrations", ())]
    name = stack.rpartition("/")[2]
    applied = server.sql("SELECT count(*) FROM schema_migrations", name)[0][0]
    assert sorted(ran) == list(range(1, int(str(applied)) + 1))
    count = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'"
    assert int(str(server.sql(count)[0][0])) <= 2 * 12


@pytest.mark.usefixtures("stack")
def test_the_tasks_are_hardened_and_alone_read_their_secrets(lab: Lab) -> None:
    for task in with_state(lab, "running"):
        node = lab.inspect(task["NodeID"])["Description"]["Hostname"]
        container = task["Status"]["ContainerStatus"]["ContainerID"]
        inspected = lab.inspect(container, node=node)
        assert inspected["HostConfig"]["ReadonlyRootfs"] is True
        assert inspected["HostConfig"]["CapDrop"] == ["ALL"]
        assert inspected["HostConfig"]["Init"] is True
        mounted = lab.docker("exec", container, "cat", "/proc/mounts", node=node)
        assert "tmpfs /tmp tmpfs rw,nosuid,nodev,noexec" in mounted
        lab.docker("exec", container, "touch", "/tmp/may-be-written", node=node)
        assert task["Spec"]["ContainerSpec"]["StopGracePeriod"] == 30 * 10**9
        look = ("exec", container, "stat", "--dereference", "--format=%a %u %n")
        seen = lab.docker(*look, *(f"/run/secrets/{s}" for s in SECRETS), node=node)
        assert seen.splitlines() == [f"400 {UID} /run/secrets/{s}" for s in SECRETS]
        assert KEY not in json.dumps(inspected)
    assert KEY not in json.dumps(lab.inspect(SERVICE))


def test_an_update_starts_first_and_loses_nobody(lab: Lab, stack: str) -> None:
    before = {task["ID"] for task in with_state(lab, "running")}
    node = next(node for node in lab.nodes if answers(lab, node, "/readyz"))
    with Client(f"http://{lab.address(node)}:{PORT}") as client:
        client.set_up()
    lab.derive("next", "LABEL notes.test=next")
    with Watch(lab) as watch:
        deploy(lab, APP_VERSION="next")
        eventually(lambda: update_state(lab) == "completed", "the update", 180)
    assert min(watch.counts) >= 2, watch.counts
    now = tasks(lab)
    old = [task for task in now if task["ID"] in before]
    new = [task for task in now if task["Status"]["State"] == "running"]
    assert [t["Status"]["ContainerStatus"].get("ExitCode", 0) for t in old] == [0, 0]
    assert {t["DesiredState"] for t in old} == {"shutdown"}
    # The first new task was healthy before the first old one had ended, the last before the last.
    started = sorted(str(task["Status"]["Timestamp"]) for task in new)
    ended = sorted(str(task["Status"]["Timestamp"]) for task in old)
    assert started[0] < ended[0]
    assert started[1] < ended[1]
    # The data is still there: all state is in the database.
    node = next(node for node in lab.nodes if answers(lab, node, "/readyz"))
    with Client(f"http://{lab.address(node)}:{PORT}") as client:
        client.log_in()


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(
    "line",
    ['CMD ["sleep", "600"]', 'CMD ["notes", "--check-config", "--wrong"]'],
    ids=["never healthy", "ends at once"],
)
def test_a_broken_image_is_rolled_back(lab: Lab, line: str) -> None:
    image = lab.inspect(SERVICE)["Spec"]["TaskTemplate"]["ContainerSpec"]["Image"]
    lab.derive("broken", line, f"LABEL notes.test={os.getpid()}")
    with Watch(lab) as watch:
        deploy(lab, APP_VERSION="broken")
        eventually(lambda: update_state(lab) == "rollback_completed", "the rollback", 240)
    assert min(watch.counts) >= 2, watch.counts
    assert lab.inspect(SERVICE)["Spec"]["TaskTemplate"]["ContainerSpec"]["Image"] == image
    eventually(lambda: len(with_state(lab, "running")) == 2, "two tasks")
    assert watch.look() == 2
