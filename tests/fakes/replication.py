"""Ways in which replicas come to stream: a fresh copy, a rewind (``rewinds``), or catching up."""

from __future__ import annotations

from tests.fakes import rewinds, server_parameters, synchronous
from tests.fakes.consensus import Consensus
from tests.fakes.instances import CREATING, FAILED, RUNNING, Instance
from tests.fakes.members import Members

CATCH_UP_S = 2.0
SLOW_BYTES = 10


def follow(model: Members, agreed: Consensus, members: list[Instance]) -> None:
    """Write at the leader for one tick, and follow it everywhere else."""
    leader = next((i for i in members if i.name == agreed.leader and i.is_primary), None)
    reach = model.orchestrator.reach
    writes = leader is not None and reach.runs(leader.node_id)
    if leader is not None and writes and synchronous.may_write(leader, agreed):
        leader.volume.location += model.writes_bytes
    for member in members:
        if member.is_primary:
            continue
        heard = leader is not None and reach.linked(leader.node_id, member.node_id)
        if leader is None or not heard or not member.has_joined:
            member.follows_s, member.is_streaming = None, False
            rewinds.break_off(model, member)
        elif member.volume.is_empty:
            clone(model, agreed, leader, member)
        elif member.state == RUNNING:
            catch_up(model, agreed, leader, member)
    if leader is not None and writes:
        synchronous.acknowledge(agreed, leader, members)


def clone(model: Members, agreed: Consensus, leader: Instance, member: Instance) -> None:
    """A base backup; none is begun while Patroni is paused, nor, as on the lab, where the member
    was killed in an earlier one: its directory is neither empty nor whole."""
    volume, now_s = member.volume, model.now_s
    hangs = model.clones_hang and volume.is_partial and member.state != CREATING
    if member.is_paused or hangs:
        member.follows_s = None
        return
    member.follows_s = now_s if member.follows_s is None else member.follows_s
    member.state, volume.is_partial = CREATING, True
    if now_s - member.follows_s >= model.clone_s:
        volume.secrets, volume.is_broken = model.secrets_of(member), False
        volume.damage = ""
        volume.is_partial = volume.is_torn = volume.is_rewind_noted = False
        volume.timeline, volume.location = agreed.timeline, leader.volume.location
        volume.system, volume.settings = leader.volume.system, leader.volume.settings
        volume.control = server_parameters.control_of(leader.running)
        member.start("replica", now_s)
        member.started()
        member.is_streaming = True


def catch_up(model: Members, agreed: Consensus, leader: Instance, member: Instance) -> None:
    """Streaming, or the way there; who has diverged is rewound first, and loses what it had."""
    now_s, volume = model.now_s, member.volume
    if volume.is_broken or volume.system != leader.volume.system:
        member.stop()
        member.state = FAILED
        return
    if volume.damage == "no-room":  # it runs on what it has, and receives no WAL
        member.follows_s, member.is_streaming = None, False
        return
    member.follows_s = now_s if member.follows_s is None else member.follows_s
    if agreed.timelines.has_diverged(volume, agreed.timeline):
        rewinds.rewind(model, agreed, leader, member)
        return
    if now_s - member.follows_s < CATCH_UP_S:
        return
    member.is_streaming = True
    volume.timeline = agreed.timeline
    volume.control = server_parameters.control_of(leader.running)
    if member.service in model.slow:
        volume.location = min(leader.volume.location, volume.location + SLOW_BYTES)
    else:
        volume.location = leader.volume.location
