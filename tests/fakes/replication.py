"""How replicas come to stream: a fresh copy, a rewind, or simply catching up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fakes import server_parameters
from tests.fakes.consensus import Consensus
from tests.fakes.instances import CREATING, FAILED, RUNNING, Instance

if TYPE_CHECKING:
    from tests.fakes.patroni_model import PatroniModel

CLONE_S = 6.0
CATCH_UP_S = 2.0
REWIND_S = 3.0
SLOW_BYTES = 10


def follow(model: PatroniModel, agreed: Consensus, members: list[Instance]) -> None:
    """One tick of writing at the leader and of following it everywhere else."""
    leader = next((i for i in members if i.name == agreed.leader and i.is_primary), None)
    reach = model.orchestrator.reach
    if leader is not None and reach.runs(leader.node_id):
        leader.volume.location += model.writes_bytes
    for member in members:
        if member.is_primary:
            continue
        heard = leader is not None and reach.linked(leader.node_id, member.node_id)
        if leader is None or not heard or not member.has_joined:
            member.follows_s, member.is_streaming = None, False
        elif member.volume.is_empty:
            clone(model, agreed, leader, member)
        elif member.state == RUNNING:
            catch_up(model, agreed, leader, member)


def clone(model: PatroniModel, agreed: Consensus, leader: Instance, member: Instance) -> None:
    """A base backup; none is begun while Patroni is paused."""
    if member.is_paused:
        member.follows_s = None
        return
    now_s = model.now_s
    member.follows_s = now_s if member.follows_s is None else member.follows_s
    member.state = CREATING
    if now_s - member.follows_s >= CLONE_S:
        volume = member.volume
        volume.secrets, volume.is_broken = model.secrets_of(member), False
        volume.timeline, volume.location = agreed.timeline, leader.volume.location
        volume.control = server_parameters.control_of(leader.running)
        member.start("replica", now_s)
        member.started()
        member.is_streaming = True


def catch_up(model: PatroniModel, agreed: Consensus, leader: Instance, member: Instance) -> None:
    """Streaming, or the way there; who has diverged is rewound first, and loses what it had."""
    now_s, volume = model.now_s, member.volume
    if volume.is_broken:
        member.stop()
        member.state = FAILED
        return
    member.follows_s = now_s if member.follows_s is None else member.follows_s
    if agreed.timelines.has_diverged(volume, agreed.timeline):
        if not member.is_paused and now_s - member.follows_s >= REWIND_S:
            rewind(agreed, member)
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


def rewind(agreed: Consensus, member: Instance) -> int:
    """Rewinds a former leader; returns how many bytes that lost."""
    left_at = agreed.timelines.left_at(member.volume, agreed.timeline)
    if left_at is None or left_at >= member.volume.location:
        return 0
    lost = member.volume.location - left_at
    member.volume.location = left_at
    member.follows_s = None
    return lost
