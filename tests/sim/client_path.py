"""The way of a client's writes: through some proxy to the leader, as the proxies are configured.

From the containers alone: each proxy by the configuration that it was started with, each member by
the ports that it was started with. Judged are only moments at which there is a leader, and a proxy
that could reach its node.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.fakes.instances import Instance
from tests.fakes.listening import Server, servers_of
from tests.fakes.tasks import FakeTask
from tests.fakes.world import World
from tests.sim.subject import Subject

LOOKS_EVERY_S = 1.0
LONGEST_S = 120.0
"""The time for which the proxies may miss an existing leader."""


@dataclass
class ClientPath:
    """Looks every second; reports when no client has reached the leader for long."""

    subject: Subject
    tell: Callable[[str], None]
    blind_since_s: float | None = None
    longest_s: float = 0.0
    servers: dict[str, list[Server]] = field(default_factory=dict)
    """The servers by task: a container keeps the configuration that it was started with, even if
    swarm, which can't reach it, has none like that any more."""

    @property
    def world(self) -> World:
        return self.subject.world

    def start(self) -> None:
        asyncio.get_running_loop().call_later(LOOKS_EVERY_S, self._look_and_again)

    def _look_and_again(self) -> None:
        self.look()
        self.start()

    def look(self) -> None:
        now_s = self.world.now_s
        if self.is_open() is not False:
            self.blind_since_s = None
            return
        self.blind_since_s = now_s if self.blind_since_s is None else self.blind_since_s
        lasts_s = now_s - self.blind_since_s
        if self.longest_s < LONGEST_S <= lasts_s:
            self.tell(f"no client reaches the leader, for {lasts_s:.0f} s: {self.story()}")
        self.longest_s = max(self.longest_s, lasts_s)

    def is_open(self) -> bool | None:
        """Return True if a client's write reaches the leader through any proxy; None while there is
        no leader, or no proxy that could reach its node."""
        leader = self.subject.leader()
        if leader is None or not leader.answers_primary:
            return None
        found = [self.leads_to(proxy, leader) for proxy in self.proxies(leader)]
        return any(found) if found else None

    def proxies(self, leader: Instance) -> Iterator[FakeTask]:
        reach = self.world.reach
        for task in self.world.containers(f"{self.subject.cluster}_proxy"):
            if reach.linked(task.node_id, leader.node_id) and not self.world.why_not_start(
                task.template
            ):
                yield task

    def leads_to(self, proxy: FakeTask, leader: Instance) -> bool:
        """Return True if every server that the proxy takes for up is the leader's PostgreSQL: it
        tries one of them, and no other."""
        up = [server for server in self.servers_of(proxy) if self.passes_check(server, leader)]
        return bool(up) and all(server.port == leader.listening.postgresql for server in up)

    def servers_of(self, proxy: FakeTask) -> list[Server]:
        if proxy.id not in self.servers:
            self.servers[proxy.id] = servers_of(self.world.store, proxy.template)
        return self.servers[proxy.id]

    def passes_check(self, server: Server, leader: Instance) -> bool:
        """``/primary`` says 200 at the leader alone."""
        listening = leader.listening
        answers = (server.address, server.check_port) == (leader.address, listening.rest_api)
        return answers and server.connects in {0, listening.postgresql}

    def story(self) -> str:
        leader = self.subject.leader()
        assert leader is not None
        servers = {task.node_id: self.servers_of(task) for task in self.proxies(leader)}
        return f"{leader.name} at {leader.address} {leader.listening}, proxies {servers}"
