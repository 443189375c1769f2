"""The member image's entry point: what it does with Raft's files before Patroni starts.

As ``queenright_member.raft_repair`` does it on real files. Invariant: a log is set aside only where
the other nodes are a quorum that has applied everything.
"""

from __future__ import annotations

from queenright.core.swarm.objects import RAFT_RESET_VARIABLE
from tests.fakes.instances import Instance
from tests.fakes.members import Members
from tests.fakes.rewinds import take_note

RAFT_UNREADABLE = 82
"""The exit status of an entry point that found a journal which it could neither read nor spare."""
SPARES_S = 45.0
"""The time for which a member that waits has to see them as such a quorum."""
SETTLE_S = 25.0
"""The time for which it waits until the partners can spare this member's log."""


def enter(model: Members, instance: Instance) -> None:
    """Set Raft's files aside where they are torn, or the operator asks for it, if the partners can
    spare them; with a torn journal, exit otherwise."""
    volume, task, image = instance.volume, instance.task, model.image_of(instance)
    asked = task.template.environment.get(RAFT_RESET_VARIABLE, "")
    if image.mends_raft and is_missing(instance):
        volume.raft = "torn"
    if image.waits_for_logs and ":" in asked:
        begin_anew(model, instance, asked)
        asked = ""
    is_asked = image.mends_raft and asked not in {"", volume.raft_obeyed}
    if image.sets_former_logs_aside and is_former(model, instance):
        volume.set_raft_aside()
    if volume.raft == "torn" or is_asked:
        waited_s = model.now_s - task.up_since_s
        if image.mends_raft and can_be_spared(model, instance):
            if instance.waits and model.now_s - instance.spared_s < SPARES_S:
                return
            join_others(model, instance)
            volume.raft_obeyed = asked if is_asked else volume.raft_obeyed
        elif image.mends_raft and waited_s < SETTLE_S and not instance.waits:
            return
        elif volume.raft == "torn":
            if not image.mends_raft:
                model.orchestrator.fail(task, 1)
            elif image.waits_for_logs:
                wait(model, instance)
            else:
                model.orchestrator.fail(task, RAFT_UNREADABLE)
            return
    take_note(instance)
    instance.has_entered, instance.entered_s = True, model.now_s
    if image.tells_findings and volume.damage != "files":
        is_begun = volume.is_empty and volume.is_partial
        instance.finding = "interrupted-copy" if is_begun else volume.damage


def join_others(model: Members, instance: Instance) -> None:
    """Have the other nodes' log; where one of theirs began anew, this member may not lead yet."""
    volume = instance.volume
    if model.image_of(instance).fences_joiners:
        others = [other for other in model.of_cluster(instance.cluster) if other is not instance]
        volume.is_fenced |= any(other.volume.raft_began for other in others)
    volume.set_raft_aside()
    instance.waits, volume.raft_loss = False, ""
    instance.applied = 1


def is_missing(instance: Instance) -> bool:
    """Return True for a member with data and partners whose volume has no log of its Raft node: the
    files have the node's address in their names."""
    partners = instance.partner_addresses - {instance.raft_address}
    is_there = instance.raft_address in instance.volume.votes
    return not instance.volume.is_empty and bool(partners) and not is_there


def is_former(model: Members, instance: Instance) -> bool:
    """Return True for a log of a member that was removed: that one of its partners which leads does
    not list it."""
    own, raft = instance.raft_address, model.consensus(instance.cluster).raft
    files = instance.volume.votes.get(own)
    if files is None or not (files.log or files.dump) or not can_be_spared(model, instance):
        return False
    leader = raft.running.get(raft.leader)
    return leader is not None and own not in leader.listed


def wait(model: Members, instance: Instance) -> None:
    """Answer in Patroni's place, with the number of this loss, and the end of the data."""
    volume, instance.spared_s = instance.volume, model.now_s
    if not instance.waits:
        model.losses += 1
        if not volume.raft_loss:
            volume.raft_loss, volume.raft_lost_s = f"{model.losses:012x}", model.now_s
        instance.waits, instance.entered_s = True, model.now_s


def begin_anew(model: Members, instance: Instance, asked: str) -> None:
    """Obey a request to begin a Raft log anew, if it answers this very loss."""
    word, leader, number = asked.split(":")
    volume = instance.volume
    if word == "fence":
        if (
            model.image_of(instance).fences_joiners
            and asked != volume.raft_obeyed
            and leader != instance.name
        ):
            volume.is_fenced, volume.raft_obeyed = True, asked
        return
    if volume.raft != "torn" or number != volume.raft_loss:
        return
    model.judge_new_log(instance, joins=word == "join")
    volume.set_raft_aside()
    volume.begins_raft, volume.raft_loss, volume.raft_began_s = True, "", model.now_s
    volume.raft_began = number
    volume.is_fenced = leader != instance.name
    instance.applied = 1


def can_be_spared(model: Members, instance: Instance) -> bool:
    """Return True if the other nodes are a quorum by their leader's list, have applied everything,
    and answer."""
    raft, reach = model.consensus(instance.cluster).raft, model.orchestrator.reach
    others = [
        other
        for other in model.of_cluster(instance.cluster)
        if other is not instance
        and other.raft_address in instance.partner_addresses
        and other.name in raft.able
        and reach.linked(other.node_id, instance.node_id)
    ]
    if raft.leader not in {other.name for other in others}:
        return False
    listed = raft.running[raft.leader].listed
    return 2 * sum(other.raft_address in listed for other in others) > len(listed)
