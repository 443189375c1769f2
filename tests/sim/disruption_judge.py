"""Reasons against the disruption of a member, from the true state of the world.

A member is disrupted when its PostgreSQL is stopped, or demoted because the lead moves.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY
from queenright.core.observed import LiveService
from queenright.core.planning.service_context import UPDATE_LIMIT
from tests.fakes.raft_lists import RaftNode
from tests.fakes.rollouts import is_clean
from tests.fakes.world import World
from tests.sim.service_writes import seconds
from tests.sim.subject import Subject
from tests.sim.sync_judge import judge_restart


def judge_forgetting(subject: Subject, name: str) -> Iterator[str]:
    """A member sets its Raft log aside: only one that can't apply it, or lists former voters and
    none of the others, and only where those have everything. A quorum that was lost while the pass
    looked is not held against it."""
    own = [i for i in subject.world.patroni_model.instances.values() if i.service == name]
    able = subject.consensus().raft.able_since(subject.world.swarm.observed_at_s)
    others = able - {i.name for i in own}
    votes = [i.vote for i in own if i.vote is not None]
    if not any(not v.can_apply or is_estranged(subject, v) for v in votes):
        yield f"{name} is to set aside a Raft log that is well"
    if 2 * len(others) <= len(subject.services):
        yield f"{name} is to set its Raft log aside without a quorum of the others"


def is_estranged(subject: Subject, vote: RaftNode) -> bool:
    """Return True for a node that hears no leader, and lists none of the others that list it."""
    raft = subject.consensus().raft
    others = [node for node in raft.running.values() if node.address != vote.address]
    return any(vote.address in node.listed for node in others) and not any(
        node.address in vote.listed for node in others if vote.address in node.listed
    )


def judge_disruption(
    subject: Subject, name: str, looked_at_s: float, *, moves: bool, is_out: bool
) -> Iterator[str]:
    """A member's PostgreSQL is stopped or, where the lead ``moves`` away from it, demoted. One
    that ``is_out`` serves nobody, and may have the only whole data."""
    world, model = subject.world, subject.world.patroni_model
    leader, agreed = subject.leader(), subject.consensus()
    leads = leader is not None and leader.service == name
    if leads and not moves and agreed.changed_at_s < looked_at_s:
        yield f"the leader {name} is disrupted"
    is_own_pause = bool(agreed.settings.get(PAUSE_KEY))
    if agreed.paused and agreed.paused_at_s < looked_at_s and not (is_out and is_own_pause):
        yield f"{name} is disrupted while Patroni is paused"
    if is_out:
        return
    if not moves:
        yield from judge_restart(subject, name, looked_at_s)
    for other in subject.services:
        if other != name and not model.was_well_since(other, looked_at_s):
            yield f"{name} is disrupted while {other} is not well"
        if other != name and is_being_replaced(world, other):
            yield f"{name} is disrupted while {other} is being replaced"
    for address in subject.addresses:
        silent_s = world.patroni.silent_s.get(address, -1.0)
        answered_s = world.patroni.answered_s.get(address, -1.0)
        if silent_s >= world.swarm.observed_at_s > answered_s:
            yield f"{name} is disrupted while {address} is unknown"


def is_being_replaced(world: World, name: str) -> bool:
    """Return True if a member's container is to end by a change that the pass must have seen,
    however well the member answers until then."""
    live = world.store.service_named(name)
    if live is None or seconds(live.updated_at) > world.swarm.observed_at_s:
        return False
    if waits_in_vain(world, live):
        return False
    return any(not is_clean(live, task) for task in world.containers(name))


def waits_in_vain(world: World, live: LiveService) -> bool:
    """Return True if swarm's update, which replaces one container after the other, is stuck: it
    has waited long for a task of another slot that has no node."""
    since_s = world.swarm.observed_at_s - seconds(live.updated_at)
    if since_s < UPDATE_LIMIT.total_seconds():
        return False
    busy = {task.slot for task in world.containers(live.value.name)}
    return any(
        task.wants_to_run and not task.node_id and task.slot not in busy
        for task in world.orchestrator.tasks_of(live)
    )
