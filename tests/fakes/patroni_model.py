"""The members as Patroni moves them: bootstrap, leader lock, failover, demotion, streaming.

Derived from the containers that really run and the connections between them. Times are as measured
on the lab, roughly; a round of every member's loop is one tick.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tests.fakes import first_race, rewinds, synchronous
from tests.fakes.consensus import Consensus
from tests.fakes.entry_point import enter
from tests.fakes.instances import (
    CREATING,
    FAILED,
    STARTING,
    STOPPED,
    Instance,
)
from tests.fakes.leader_lock import change_over, elect
from tests.fakes.members import Members
from tests.fakes.raft_lists import Files, RaftNode
from tests.fakes.replication import follow
from tests.fakes.tasks import FakeTask

TICK_S = 1.0
PAUSED_PRIMARY_GRACE_S = (23.0, 43.0)
"""The time after which a paused leader without quorum answers 503 on ``/primary``."""


@dataclass
class PatroniModel(Members):
    """Patroni at work: a tick is one round of every member's loop."""

    def start(self) -> None:
        asyncio.get_running_loop().call_later(TICK_S, self._tick_and_again)

    def _tick_and_again(self) -> None:
        self.tick()
        self.start()

    def container_ended(self, task: FakeTask, orderly: bool) -> None:
        """A rewind ends with its container."""
        if (instance := self.instances.get(task.id)) is not None:
            rewinds.break_off(self, instance)
        super().container_ended(task, orderly)

    # Rounds

    def tick(self) -> None:
        self._take_up_containers()
        for instance in [i for i in self.instances.values() if not i.has_entered]:
            if self.orchestrator.reach.runs(instance.node_id):
                enter(self, instance)
        by_cluster: dict[str, list[Instance]] = {}
        for instance in self.instances.values():
            by_cluster.setdefault(instance.cluster, []).append(instance)
        for cluster, members in by_cluster.items():
            agreed = self.consensus(cluster)
            self._look(cluster, agreed, members)
            for member in members:
                if member.has_joined and self.orchestrator.reach.runs(member.node_id):
                    self._round(agreed, member)
            elect(self, agreed, [m for m in members if m.name in agreed.raft.able and m.has_joined])
            follow(self, agreed, members)
            first_race.note(agreed, members)
            rewinds.judge(self, members)
            rewinds.look_at_health(self, members)
            for member in members:
                member.volume.is_fenced &= not member.is_streaming
            for member in members:
                member.answers_primary = self._answers_primary(agreed, member)
            self._note(cluster, agreed, members)
        for cluster in self.agreed.keys() - by_cluster.keys():
            self._look(cluster, self.consensus(cluster), [])  # all its nodes are off
        now_s = self.now_s
        for instance in self.instances.values():
            noted = self.last_well_s if self.is_well(instance) else self.last_unwell_s
            noted[instance.service] = now_s

    def _note(self, cluster: str, agreed: Consensus, members: list[Instance]) -> None:
        leader, now_s = self.leader(cluster), self.now_s
        if leader is None:
            return
        before_s = self.last_led_s.get(cluster, -1.0)
        if now_s - before_s > 1.5 * TICK_S:
            self.led_again_s[cluster] = before_s, now_s
        self.last_led_s[cluster] = now_s
        least = leader.volume.location - agreed.setting("maximum_lag_on_failover")
        for member in members:
            if member.is_streaming:
                self.last_streamed_s[member.service] = now_s
                if member.volume.location >= least:
                    self.last_near_s[member.service] = now_s
                if synchronous.is_close(agreed, leader, member):
                    self.last_fit_s[member.service] = now_s

    def _look(self, cluster: str, agreed: Consensus, members: list[Instance]) -> None:
        now_s, reach = self.now_s, self.orchestrator.reach
        up = [m for m in members if self._is_started(m)]
        agreed.raft.look([self.vote_of(m) for m in up if not m.raft_has_ended], reach, now_s)
        if agreed.raft.able:
            self.last_quorate_s[cluster] = now_s
            led = [m.volume for m in up if m.name in agreed.raft.able]
            if all(volume.begins_raft for volume in led):
                agreed.forget()
                agreed.was_forgotten = True
            for volume in led:
                volume.begins_raft, volume.knows_raft = False, True
        for member in up:
            if member.name in agreed.raft.able:
                member.lost_s = None
                member.has_joined = True
                member.applied = agreed.raft.commit_index
                if member.sync is not agreed.sync and synchronous.hears(self, agreed):
                    member.sync = agreed.sync
                is_other = (
                    member.settings is not agreed.settings
                    and self.rng.random() < self.hears_settings
                )
                if is_other and agreed.settings:  # without any it keeps those of its volume
                    member.settings = agreed.settings
                if not member.volume.is_empty:
                    member.volume.settings = member.settings or member.volume.settings
                continue
            # Patroni 4.1.5 goes on once its node has applied its own log (`applied_local_log`)
            member.has_joined |= self.vote_of(member).can_apply
            if member.lost_s is None and reach.runs(member.node_id):
                loop_s, retry_s = agreed.setting("loop_wait"), agreed.setting("retry_timeout")
                member.lost_s = now_s
                member.patience_s = retry_s + loop_s * self.rng.uniform(0.4, 1.0)
                member.grace_s = self.rng.uniform(*PAUSED_PRIMARY_GRACE_S)

    def _round(self, agreed: Consensus, member: Instance) -> None:
        """Run one round of a member's own loop, without the race for the lock."""
        now_s = self.now_s
        able = member.name in agreed.raft.able
        if member.state == STARTING and now_s >= member.ready_at_s:
            member.started()
        if member.is_primary and not member.is_paused:
            held = agreed.leader and now_s < agreed.lock_until_s
            usurped = able and held and agreed.leader != member.name
            cut_off = member.lost_s is not None and now_s - member.lost_s >= member.patience_s
            if usurped or cut_off:
                member.start("replica", now_s + self.rng.uniform(1.0, 4.0))
        elif member.state in {STOPPED, FAILED} and not member.is_paused:
            if member.volume.is_broken or self.is_of_another(agreed, member):
                member.state = FAILED
            elif not able and member.volume.was_primary and member.volume.knows_raft:
                return  # its log says that it has the lock, which it can't renew: it stays stopped
            elif not member.volume.is_empty:
                leads = able and agreed.leader == member.name and now_s < agreed.lock_until_s
                takes_s = (0.0 if leads else 1.0) + self.recovery_s.get(member.name, 0.0)
                member.start("replica", now_s + takes_s)

    def is_of_another(self, agreed: Consensus, member: Instance) -> bool:
        """Return True if its data are of another database: ``system ID mismatch``, and it exits."""
        return bool(agreed.system and member.volume.system not in {0, agreed.system})

    def _answers_primary(self, agreed: Consensus, member: Instance) -> bool:
        if not member.is_primary or not self.orchestrator.reach.runs(member.node_id):
            return member.answers_primary and member.is_primary
        if member.lost_s is None:
            return agreed.leader == member.name
        held = member.answers_primary
        return held and (not member.is_paused or self.now_s - member.lost_s < member.grace_s)

    def switch_over(self, cluster: str, to: str) -> None:
        """A planned change of leader by hand, as ``patronictl switchover`` makes it, at once."""
        chosen = next(i for i in self.of_cluster(cluster) if i.name == to)
        agreed = self.consensus(cluster)
        if synchronous.refuses(agreed, chosen) and self.leader(cluster) is not None:
            return
        agreed.request = None
        agreed.is_forced = self.leader(cluster) is None
        change_over(self, agreed, self.leader(cluster), chosen)
        agreed.is_forced = False

    def restart(self, instance: Instance, lasts_s: float) -> None:
        """PostgreSQL alone, as ``POST /restart`` does it; a leader keeps its lock."""
        goal = "primary" if instance.is_primary else "replica"
        instance.start(goal, self.now_s + lasts_s)  # type: ignore[arg-type]

    def begin_anew(self, instance: Instance) -> None:
        """Empty the data directory and copy it again, as ``POST /reinitialize`` does it."""
        instance.volume.empty()
        instance.stop()
        instance.state = CREATING

    def vote_of(self, member: Instance) -> RaftNode:
        """Return a member's Raft node as it is now; it starts, and reads its files, the first
        time."""
        if member.vote is None:
            files = member.volume.votes.setdefault(member.raft_address, Files())
            member.vote = RaftNode(
                member.name, member.node_id, member.raft_address, member.partner_addresses, files
            )
            member.vote.can_apply = member.volume.raft == "whole"
            member.vote.syncs_s = self.image_of(member).syncs_raft_s
        return member.vote
