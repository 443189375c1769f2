"""The ``Patroni`` port on the modelled members: an unreachable one is Unknown, with a reason.

A request takes effect in the model even if its caller is killed before the answer.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from queenright.core.observed import Known, MemberStatus, RaftStatus, TimelineEnd, Unknown
from queenright.ports.errors import ConflictError, RejectedError, UnavailableError
from queenright.ports.secrets import Password
from tests.fakes import synchronous
from tests.fakes.consensus import MoveRequest, agrees
from tests.fakes.fake_swarm import nothing
from tests.fakes.instances import RUNNING, Instance
from tests.fakes.member_status import status_of
from tests.fakes.patroni_model import PatroniModel
from tests.fakes.verbs import Verb, VerbFaults

VIP_ADDRESS = "10.77.0.100"
ANSWER_S = 0.003
TIMEOUT_S = 2.0
PATCH_S = 5.0
MOVE_S = 20.0
"""The adapter's time limit for each changing request."""
RESTARTS_S = 1.5
LATEST_S = 30.0
"""The longest delay of a switchover whose answer was ambiguous."""


@dataclass
class FakePatroni:
    """Typed by ``ports.patroni.Patroni``; ``deaf`` is the chance that one question is lost."""

    model: PatroniModel
    rng: random.Random
    deaf: float = 0.0
    faults: VerbFaults = field(default_factory=VerbFaults)
    boundary: Callable[[str], Awaitable[None]] = nothing
    before_verb: list[Callable[[Verb], None]] = field(default_factory=list)
    answered_s: dict[str, float] = field(default_factory=dict)
    silent_s: dict[str, float] = field(default_factory=dict)
    """The time at which each address last answered, and at which it last was asked in vain."""
    shown_raft: dict[str, Known[RaftStatus] | Unknown] = field(default_factory=dict)
    shown_settings: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """The last answer, by address."""
    verbs: list[tuple[float, str]] = field(default_factory=list)
    changes: list[TimelineEnd] = field(default_factory=list)
    """The answer of ``/history`` beside the model's own changes."""
    virtual: dict[str, str] = field(default_factory=lambda: {VIP_ADDRESS: ""})
    """The address of the node that has each virtual address; empty where nobody has it."""

    # Reads

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        if address in self.virtual:
            holder = self.model.at_address(self.virtual[address])
            if holder is None:
                return Unknown(f"http://{address}:{port} does not answer: no route to host")
            return Known(status_of(self.model, holder))
        await self.boundary(f"status of {address}")
        found = await self.ask(address, port)
        noted = self.silent_s if isinstance(found, Unknown) else self.answered_s
        noted[address] = asyncio.get_running_loop().time()
        return found if isinstance(found, Unknown) else Known(status_of(self.model, found))

    async def ask(self, address: str, port: int, *, of_raft: bool = False) -> Instance | Unknown:
        """The member that hears a question on this port, after the time that takes."""
        store, reach = self.model.orchestrator.store, self.model.orchestrator.reach
        node = store.node_at(address)
        lost = self.deaf and self.rng.random() < self.deaf
        if lost or node is None or not reach.hears(node.id):
            await asyncio.sleep(TIMEOUT_S)
            return Unknown(f"http://{address}:{port} does not answer: timed out")
        slow = self.faults.slow and self.rng.random() < self.faults.slow
        await asyncio.sleep(self.faults.slow_s if slow else ANSWER_S)
        instance = self.model.at_address(address)
        listens = self.model.raft_listens if of_raft else self.model.answers
        if instance is None or not listens(instance):
            return Unknown(f"http://{address}:{port} does not answer: connection refused")
        if of_raft and instance.raft_has_ended:  # its socket listens, and nobody reads from it
            await asyncio.sleep(TIMEOUT_S)
            return Unknown(f"http://{address}:{port} does not answer: timed out")
        listening = instance.listening
        if port != (listening.raft if of_raft else listening.rest_api):
            return Unknown(f"http://{address}:{port} does not answer: connection refused")
        return instance

    async def leading(self, members: Sequence[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        found = await asyncio.gather(*(self.ask(*place) for place in members))
        return frozenset(
            place
            for place, one in zip(members, found, strict=True)
            if isinstance(one, Instance) and one.answers_primary
        )

    async def settings(self, address: str, port: int) -> Known[Mapping[str, Any]] | Unknown:
        await self.boundary(f"settings of {address}")
        found = await self.ask(address, port)
        if isinstance(found, Unknown):
            return found
        settings = self._local_settings(found)
        if not settings.get("ttl"):
            return Unknown("no settings yet")
        self.shown_settings[address] = settings
        return Known(settings)

    def _local_settings(self, instance: Instance) -> dict[str, Any]:
        """Raft's copy on that node: as fresh as its connection."""
        agreed = self.model.consensus(instance.cluster)
        return agreed.settings if instance.name in agreed.raft.able else instance.settings

    async def history(self, address: str, port: int) -> Known[Sequence[TimelineEnd]] | Unknown:
        found = await self.ask(address, port)
        if isinstance(found, Unknown):
            return found
        agreed = self.model.consensus(found.cluster)
        began = {n: at for n, at in agreed.timelines.began.items() if n <= agreed.recorded_timeline}
        ended = [TimelineEnd(n - 1, at, "no recovery target specified") for n, at in began.items()]
        return Known((*self.changes, *ended[1:]))

    async def leader_location(self, address: str, port: int) -> Known[int] | Unknown:
        found = await self.ask(address, port)
        if isinstance(found, Unknown):
            return found
        at = self.model.consensus(found.cluster).last_location
        replicas = [i for i in self.model.of_cluster(found.cluster) if self.model.is_up(i)]
        return Known(at if any(i.volume.location < at for i in replicas) else 0)

    async def raft(self, address: str, port: int) -> Known[RaftStatus] | Unknown:
        await self.boundary(f"raft of {address}")
        found = await self.ask(address, port, of_raft=True)
        reading = found if isinstance(found, Unknown) else Known(self._raft_status(found))
        self.shown_raft[address] = reading
        return reading

    def _raft_status(self, instance: Instance) -> RaftStatus:
        raft = self.model.consensus(instance.cluster).raft
        near = raft.peers.get(instance.name, frozenset())
        peers = list(self.model.of_cluster(instance.cluster))
        addresses = {peer.name: peer.raft_address for peer in peers}
        vote = instance.vote
        listed = vote.listed if vote is not None else instance.partner_addresses
        partners = frozenset(listed - {instance.raft_address})
        reachable = frozenset(addresses[n] for n in near if n in addresses and n != instance.name)
        if vote is not None:
            reachable |= vote.half_open
        leads, applied = raft.leader == instance.name, instance.applied
        if instance.volume.knows_raft and instance.volume.raft != "stuck":
            applied = max(applied, 2)  # of its own log, which it applies before it hears anybody
        knows = raft.leader in near and instance.name in raft.quorate
        return RaftStatus(
            has_quorum=instance.name in raft.quorate,
            leader=addresses.get(raft.leader, "") if raft.leader in near else "",
            term=raft.term,
            reachable=reachable & partners,
            unreachable=partners - reachable,
            address=instance.raft_address,
            state="leader" if leads else "follower",
            commit_index=raft.commit_index if knows else applied,
            last_applied=applied,
            log_length=raft.commit_index,
            uptime_s=int(self.model.now_s - instance.entered_s),
            match_index=dict.fromkeys(reachable & partners, raft.commit_index) if leads else {},
        )

    # Verbs

    async def _reach(
        self, what: str, address: str, port: int, password: Password | None
    ) -> Instance:
        """The member that hears a request to change something, and lets it in."""
        await self.boundary(what)
        found = await self.ask(address, port)
        if isinstance(found, Unknown):
            raise UnavailableError(f"{what}: {found.why}")
        wanted = found.listening.rest_password
        if wanted and (password is None or password.value != wanted):
            raise RejectedError(f"{what} was refused (401)")
        return found

    def judge(self, verb: Verb) -> None:
        self.verbs.append((asyncio.get_running_loop().time(), verb.kind))
        for listener in self.before_verb:
            listener(verb)

    async def end(self, what: str) -> None:
        """The way back of an answer."""
        await self.boundary(f"{what} was done")
        if self.rng.random() < self.faults.answer_lost:
            raise UnavailableError(f"{what}: the answer was lost")

    async def patch_settings(
        self,
        address: str,
        port: int,
        patch: Mapping[str, Any],
        expected: Mapping[str, Any],
        password: Password | None,
    ) -> None:
        what = f"patch of {', '.join(patch)}"
        instance = await self._reach(what, address, port, password)
        if not agrees(self._local_settings(instance), expected):
            raise ConflictError("the settings are not as observed")
        await asyncio.sleep(ANSWER_S)
        agreed = self.model.consensus(instance.cluster)
        self.judge(Verb("patch", instance, patch=patch, expected=expected))
        if instance.name not in agreed.raft.able:
            if self.rng.random() < 0.5:
                agreed.late_patches.append(dict(patch))
            await asyncio.sleep(PATCH_S)
            raise UnavailableError(f"{what}: timed out; it may still be applied")
        if self.rng.random() < self.faults.conflict:
            raise ConflictError(f"{what} was not taken (409)")
        agreed.change(patch, by_operator=True)
        await self.end(what)

    async def switch_over(
        self, address: str, port: int, leader: str, candidate: str, password: Password | None
    ) -> None:
        what = f"switchover to {candidate}"
        instance = await self._reach(what, address, port, password)
        agreed = self.model.consensus(instance.cluster)
        chosen = self._member(instance, candidate)
        if leader == candidate:
            raise RejectedError(f"{what} was refused (400): target and source are the same")
        if agreed.leader != leader or chosen is None or not self._may_take_over(chosen):
            raise RejectedError(f"{what} was refused (412): it is not possible")
        if synchronous.refuses(agreed, chosen) and synchronous.mode_of(agreed).mode != "quorum":
            why = "candidate name does not match with sync_standby"
            raise RejectedError(f"{what} was refused (412): {why}")
        self.judge(Verb("switchover", instance, leader=leader, candidate=candidate))
        await self._move(what, instance, leader, candidate)

    async def fail_over(
        self, address: str, port: int, candidate: str, password: Password | None
    ) -> None:
        what = f"failover to {candidate}"
        instance = await self._reach(what, address, port, password)
        chosen = self._member(instance, candidate)
        if chosen is None or chosen.state != RUNNING:
            raise RejectedError(f"{what} was refused (412): it is not possible")
        self.judge(Verb("failover", instance, candidate=candidate))
        await self._move(what, instance, "", candidate)

    def _member(self, asked: Instance, name: str) -> Instance | None:
        members = self.model.of_cluster(asked.cluster)
        return next((i for i in members if i.name == name and self.model.is_up(i)), None)

    def _may_take_over(self, chosen: Instance) -> bool:
        """Return Patroni's check of the candidate: not its lag to the byte."""
        return chosen.state == RUNNING and not chosen.volume.is_empty

    async def _move(self, what: str, instance: Instance, leader: str, candidate: str) -> None:
        agreed = self.model.consensus(instance.cluster)
        if instance.name not in agreed.raft.able:
            await asyncio.sleep(PATCH_S)
            raise UnavailableError(f"{what} is ambiguous (503): failed to write the request")
        now_s, chance = asyncio.get_running_loop().time(), self.rng.random()
        late, vain = chance < self.faults.late, chance > 1 - self.faults.vain
        due_s = now_s + (self.rng.uniform(3.0, LATEST_S) if late else 0.0)
        before = agreed.leader
        request = MoveRequest(leader, candidate, due_s, by_operator=True, is_vain=vain)
        agreed.request = request
        for _ in range(round(MOVE_S)):
            if late:
                await asyncio.sleep(self.rng.uniform(0.0, 2.0))
                raise UnavailableError(f"{what} is ambiguous (503): status unknown")
            await asyncio.sleep(1.0)
            if agreed.leader != before or agreed.changed_at_s > now_s:
                await self.end(what)
                return
            if agreed.request is not request:
                raise UnavailableError(f"{what} is ambiguous (503): it failed")
        raise UnavailableError(f"{what} is ambiguous (503): status unknown")

    async def restart(self, address: str, port: int, password: Password | None) -> None:
        what = f"restart of {address}"
        instance = await self._reach(what, address, port, password)
        if not instance.pending:
            raise ConflictError(f"{what}: no restart is pending")
        self.judge(Verb("restart", instance))
        self.model.restart(instance, RESTARTS_S)
        await asyncio.sleep(RESTARTS_S + 1.0)
        await self.end(what)

    async def reinitialize(self, address: str, port: int, password: Password | None) -> None:
        what = f"reinitialize of {address}"
        instance = await self._reach(what, address, port, password)
        agreed = self.model.consensus(instance.cluster)
        if self.model.leader(instance.cluster) is None:
            raise UnavailableError(f"{what} did nothing: the cluster has no leader")
        if agreed.leader == instance.name:
            raise ConflictError(f"{what} did nothing: the member leads")
        self.judge(Verb("reinitialize", instance))
        self.model.begin_anew(instance)
        await self.end(what)

    async def aclose(self) -> None:
        pass
