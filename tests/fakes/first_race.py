"""The race for the first lead after a loss of all members.

As ``queenright_member.first_race`` has it: a Patroni that has not led or streamed since it started
hears its partners before it takes the lock.
"""

from __future__ import annotations

from tests.fakes.consensus import Consensus
from tests.fakes.instances import FAILED, RUNNING, Instance
from tests.fakes.members import Members

SILENT_S, ALIVE_S = 60.0, 120.0


def waits_for_others(model: Members, winner: Instance) -> bool:
    """Return True if the one that Patroni's own rule has chosen does not take the lock yet."""
    if winner.has_followed or not model.image_of(winner).hears_partners:
        return False
    winner.races_since_s = winner.races_since_s or model.now_s
    waited_s = model.now_s - winner.races_since_s
    known = {i.raft_address: i for i in model.of_cluster(winner.cluster)}
    for address in winner.partner_addresses - {winner.raft_address}:
        other = known.get(address)
        if other is None or not answers(model, winner, other):
            if waited_s < SILENT_S:
                return True
        elif waited_s < ALIVE_S and may_be_ahead(other, winner):
            return True
    return False


def answers(model: Members, winner: Instance, other: Instance) -> bool:
    """Return True if its REST port listens: Patroni's once Raft has let it in, or the one of an
    entry point that waits."""
    if not model.orchestrator.reach.linked(winner.node_id, other.node_id):
        return False
    return other.waits or other.has_joined


def may_be_ahead(other: Instance, winner: Instance) -> bool:
    volume = other.volume
    if not other.waits:
        if volume.is_fenced or volume.is_empty or other.finding:
            return False
        if other.state != RUNNING:
            return other.state != FAILED or not volume.is_broken
        if other.is_primary:
            return True
    mine = (winner.volume.timeline, winner.volume.location)
    return (volume.timeline, volume.location) > mine


def note(agreed: Consensus, members: list[Instance]) -> None:
    """Note who leads, or streams from a leader."""
    for member in members:
        leads = member.is_primary and agreed.leader == member.name
        member.has_followed |= leads or member.is_streaming
