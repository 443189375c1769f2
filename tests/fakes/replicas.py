"""An application's containers on the modelled swarm: replicas that log in, and jobs that dump.

A replica is healthy once it could log in to a server that takes writes; from then on its pool has
sessions now and then. A dump needs the same login, for as long as it takes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from queenright.core.kinds.notes_app.desired.dump_job import URL_FILE
from queenright.core.postgres.scram import is_password_of
from queenright.core.swarm.objects import Service
from tests.fakes.task_lives import JOB_S
from tests.fakes.tasks import FakeTask
from tests.fakes.world import World

STARTS_S = 4.0
HANGS_S = 1e6
POOL = 2
"""Sessions of a replica whose pool is not idle."""
POOL_TURNS_S = 15.0


@dataclass
class Replicas:
    """``broken`` are references of images whose containers are never healthy, ``crashing`` of such
    that end by themselves. ``rng`` says how long each dump works, and how it ends."""

    world: World
    rng: random.Random
    broken: frozenset[str] = frozenset()
    crashing: frozenset[str] = frozenset()
    jobs_fail: bool = True

    def __post_init__(self) -> None:
        orchestrator = self.world.orchestrator
        self._others_start_s, self._are_others_healthy = (
            orchestrator.starts_s,
            orchestrator.is_healthy,
        )
        orchestrator.starts_s = self.starts_s
        orchestrator.is_healthy = self.is_healthy
        self._others_work_s, self._others_end = orchestrator.works_s, orchestrator.exit_code
        orchestrator.works_s = self.works_s
        orchestrator.exit_code = self.exit_code
        present = orchestrator.why_not_start
        orchestrator.why_not_start = lambda service: (
            "out of order" if self.is_of(service, self.crashing) else present(service)
        )
        self.world.servers.of("main").sessions = self.sessions

    _ends: dict[str, int] = field(default_factory=dict)
    """The exit code that each job is to end with, by its task's id."""

    def is_of(self, service: Service, images: frozenset[str]) -> bool:
        return service.image.partition("@")[0] in images

    def starts_s(self, task: FakeTask) -> float:
        return STARTS_S if is_replica(task.template) else self._others_start_s(task)

    def is_healthy(self, task: FakeTask) -> bool:
        if not is_replica(task.template):
            return self._are_others_healthy(task)
        return not self.is_of(task.template, self.broken) and self.can_work(task)

    def can_work(self, task: FakeTask) -> bool:
        """Return True if it finds a primary and may log in there."""
        role, password = self.login_of(task.template)
        server, leader = self.world.servers.of("main"), self.world.leader()
        found = server.roles.get(role)
        if leader is None or not leader.is_primary or found is None or not found.login:
            return False
        if not self.world.reach.hears(leader.node_id) or not self.world.reach.hears(task.node_id):
            return False
        if not self.has_way_in(task):
            return False
        verifier = server.verifiers.get(role, "")
        return bool(verifier) and is_password_of(verifier, password)

    def has_way_in(self, task: FakeTask) -> bool:
        """Return True if a proxy runs on a node that its connection string names, and that it
        reaches. An address of no node is the virtual one, which any proxy's node has."""
        addresses = {node.address: node.id for node in self.world.store.nodes.values()}
        running = {one.node_id for one in self.world.containers("main_proxy")}
        near = {node for node in running if self.world.reach.linked(task.node_id, node)}
        hosts = self.url_of(task.template).netloc.rpartition("@")[2].split(",")
        named = {addresses.get(host.rpartition(":")[0]) for host in hosts}
        return bool(named & near) or (None in named and bool(near))

    def login_of(self, service: Service) -> tuple[str, str]:
        """Role and password that its connection string has."""
        url = self.url_of(service)
        return unquote(url.username or ""), unquote(url.password or "")

    def url_of(self, service: Service) -> SplitResult:
        """The connection string that a replica has; an empty one where its secret is gone."""
        texts = self.world.store.secret_texts
        names = [file.name for file in service.secrets if file.target == URL_FILE]
        return urlsplit(texts.get(names[0], "") if names else "")

    def works_s(self, task: FakeTask) -> float:
        """A dump of a small database, of a large one, or one that waits for a lock for ever."""
        if "DUMP_TIMEOUT" not in task.template.environment:
            return self._others_work_s(task)
        limit_s = float(task.template.environment["DUMP_TIMEOUT"])
        if not self.jobs_fail:
            return min(JOB_S, limit_s)
        works_s, self._ends[task.id] = self.rng.choice(
            ((2.0, 0), (15.0, 0), (40.0, 0), (5.0, 1), (20.0, 1), (HANGS_S, 1))
        )
        return min(works_s, limit_s)

    def exit_code(self, task: FakeTask) -> int:
        if "DUMP_TIMEOUT" not in task.template.environment:
            return self._others_end(task)
        return self._ends.get(task.id, 0) or int(not self.can_work(task))

    def using(self, role: str) -> Iterator[FakeTask]:
        """The replicas' containers that log in as the role, whatever the managers believe."""
        for task in self.world.store.tasks.values():
            is_up = task.has_container and is_replica(task.template)
            if is_up and self.login_of(task.template)[0] == role:
                yield task

    def sessions(self, role: str) -> int:
        """Return the server's count of sessions: pools are idle for a while, and then are not."""
        turn = int(self.world.now_s / POOL_TURNS_S)
        return sum(
            POOL
            for task in self.using(role)
            if task.healthy_s is not None
            and self.world.reach.hears(task.node_id)
            and (turn + int(task.id.removeprefix("task"))) % 3
        )


def is_replica(service: Service) -> bool:
    """Templates have no labels of their service; a replica is what has the application's key."""
    return any(file.target == "app_encryption_key" for file in service.secrets)
