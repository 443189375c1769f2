"""Faults of a world's nodes and containers: without power, cut off, frozen or killed."""

from __future__ import annotations

import random

from tests.fakes.orchestrator import Orchestrator
from tests.fakes.patroni_model import PatroniModel
from tests.fakes.reachability import Reachability
from tests.fakes.swarm_store import SwarmStore
from tests.fakes.tasks import FakeTask

DOWN_AFTER_S = 15.0
"""Three heartbeats of 5 s."""
BOOT_S = 1.3
DOCKERD_RESTART_S = 5.0
LOSES_LOGS = 4


class NodeFaults:
    """The part of a world that takes its nodes away and brings them back."""

    store: SwarmStore
    orchestrator: Orchestrator
    patroni_model: PatroniModel
    log_rng: random.Random
    """Decides which outages cost the managers the node's log stream: one in LOSES_LOGS."""

    @property
    def reach(self) -> Reachability:
        return self.orchestrator.reach

    def power_cut(self, name: str) -> None:
        node = self.store.node_named(name)
        if node.id in self.reach.unpowered:
            return
        self.reach.unpowered.add(node.id)
        self.reach.frozen.discard(node.id)
        self.orchestrator.power_lost(node.id)
        for (node_id, _), volume in self.patroni_model.volumes.items():
            for files in volume.votes.values() if node_id == node.id else ():
                files.lose_unsynced()
        self._expect_down(node.id)

    def power_on(self, name: str, after_s: float = BOOT_S) -> None:
        node = self.store.node_named(name)
        if node.id in self.reach.unpowered:
            self.orchestrator.after(after_s, self._booted, node.id)

    def restart_dockerd(self, name: str) -> None:
        """Stop its containers, and the node for some seconds. It closes its streams first, so that
        the next ones stay."""
        self.power_cut(name)
        node = self.store.node_named(name)
        self.orchestrator.after(DOCKERD_RESTART_S, self._restarted, node.id)

    def _restarted(self, node_id: str) -> None:
        if node_id in self.reach.unpowered:
            self.reach.unpowered.discard(node_id)
            self._back(node_id)
            self.reach.unlogged.discard(node_id)

    def _booted(self, node_id: str) -> None:
        if node_id in self.reach.unpowered:
            self.reach.unpowered.discard(node_id)
            self._back(node_id)

    def rename_node(self, name: str, other: str) -> None:
        """The machine starts anew under another hostname: its id, labels and volumes are as
        before."""
        self.power_cut(name)
        self.store.set_node(self.store.node_named(name).id, name=other)
        self.power_on(other)

    def rejoin_node(self, name: str) -> None:
        """The machine leaves the swarm, which ends its containers, and joins again: it has another
        id, no labels, and the volumes of before. The swarm goes on listing the former id."""
        node = self.store.node_named(name)
        self.reach.unpowered.add(node.id)
        self.orchestrator.power_lost(node.id)
        self.store.set_node(node.id, state="down")
        former, joined = self.store.add_again(name)
        volumes = self.patroni_model.volumes
        for (node_id, source), volume in list(volumes.items()):
            if node_id == former.id:
                volumes[joined.id, source] = volume

    def partition(self, name: str) -> None:
        """The node hears nobody."""
        self._part(self.reach.unreachable, self.store.node_named(name).id)

    def freeze(self, name: str) -> None:
        """Stop everything on the node; nothing is lost."""
        node = self.store.node_named(name)
        if node.id not in self.reach.unpowered:
            self._part(self.reach.frozen, node.id)

    def _part(self, among: set[str], node_id: str) -> None:
        among.add(node_id)
        self._expect_down(node_id)

    def cut(self, one: str, other: str) -> None:
        """Two nodes don't hear each other, and everybody else hears both."""
        ids = [self.store.node_named(name).id for name in (one, other)]
        self.reach.cuts.add(frozenset(ids))
        for node_id in ids:
            self._expect_down(node_id)

    def heal(self, name: str) -> None:
        """Undo whatever parts the node from others."""
        node_id = self.store.node_named(name).id
        was_away = not self.reach.hears(node_id)
        self.reach.unreachable.discard(node_id)
        self.reach.frozen.discard(node_id)
        self.reach.cuts -= {cut for cut in self.reach.cuts if node_id in cut}
        if was_away:
            self._back(node_id)

    def _expect_down(self, node_id: str) -> None:
        self.orchestrator.after(DOWN_AFTER_S, self._missed_heartbeats, node_id)

    def _missed_heartbeats(self, node_id: str) -> None:
        if not self.orchestrator.hears(node_id) and self.store.nodes[node_id].state == "ready":
            self.store.set_node(node_id, state="down")

    def _back(self, node_id: str) -> None:
        if self.orchestrator.hears(node_id):
            if self.store.nodes[node_id].state != "ready":
                self.store.set_node(node_id, state="ready")
            self.reach.unlogged.discard(node_id)
            if self.log_rng.randrange(LOSES_LOGS) == 0:
                self.reach.unlogged.add(node_id)
            self.orchestrator.came_back(node_id)

    def kill_container(self, service: str, exit_code: int = 137) -> None:
        for task in self.containers(service):
            if self.orchestrator.hears(task.node_id):
                self.orchestrator.fail(task, exit_code)

    def containers(self, service: str) -> list[FakeTask]:
        live = self.store.service_named(service)
        return [
            task
            for task in self.store.tasks.values()
            if live and task.service_id == live.id and task.has_container
        ]
