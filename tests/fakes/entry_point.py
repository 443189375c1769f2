"""The member image's entry point: what it does with Raft's files before Patroni starts.

As ``queenright_member.raft_repair`` does it on real files. Invariant: a log is set aside only where
the other nodes are a quorum that has applied everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from queenright.core.swarm.objects import RAFT_RESET_VARIABLE
from tests.fakes.instances import Instance
from tests.fakes.rewinds import take_note

if TYPE_CHECKING:
    from tests.fakes.patroni_model import PatroniModel

RAFT_UNREADABLE = 82
"""The exit status of an entry point that found a journal which it could neither read nor spare."""
SETTLE_S = 25.0
"""The time for which it waits until the partners can spare this member's log."""


def enter(model: PatroniModel, instance: Instance) -> None:
    """Set Raft's files aside where they are torn, or the operator asks for it, if the partners can
    spare them; with a torn journal, exit otherwise."""
    volume, task = instance.volume, instance.task
    asked = task.template.environment.get(RAFT_RESET_VARIABLE, "")
    is_asked = model.mends_raft and asked not in {"", volume.raft_obeyed}
    if volume.raft == "torn" or is_asked:
        waited_s = model.now_s - task.up_since_s
        if model.mends_raft and can_be_spared(model, instance):
            volume.set_raft_aside()
            instance.applied = 1
            volume.raft_obeyed = asked if is_asked else volume.raft_obeyed
        elif model.mends_raft and waited_s < SETTLE_S:
            return
        elif volume.raft == "torn":
            model.orchestrator.fail(task, RAFT_UNREADABLE if model.mends_raft else 1)
            return
    take_note(instance)
    instance.has_entered, instance.entered_s = True, model.now_s
    if model.tells_findings and volume.damage != "files":
        is_begun = volume.is_empty and volume.is_partial
        instance.finding = "interrupted-copy" if is_begun else volume.damage


def can_be_spared(model: PatroniModel, instance: Instance) -> bool:
    """Return True if the other nodes are a quorum, have applied everything, and answer."""
    raft, reach = model.consensus(instance.cluster).raft, model.orchestrator.reach
    others = [
        other
        for other in model.of_cluster(instance.cluster)
        if other is not instance
        and other.name in raft.able
        and reach.linked(other.node_id, instance.node_id)
    ]
    leads = raft.leader in {other.name for other in others}
    return leads and 2 * len(others) > instance.partners + 1
