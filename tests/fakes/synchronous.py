"""Synchronous replication as Patroni 4.1.5 has it: the /sync key, who confirms, who may lead.

The order of their changes is Patroni's: for the quorum mode its own ``QuorumStateResolver``, for
the other ``_process_multisync_replication``. A commit is acknowledged once the named replicas have
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from patroni.quorum import QuorumStateResolver  # type: ignore[import-untyped]

from queenright.core.kinds.postgres_cluster.replication.settings import (
    Replication,
    read_replication,
)
from tests.fakes.consensus import Consensus
from tests.fakes.instances import RUNNING, Instance
from tests.fakes.member_containers import MemberContainers
from tests.fakes.sync_key import ANYBODY, Acknowledged, Names, SyncKey
from tests.fakes.volumes import Volume

HEARS = 0.5
AGAIN_S = 2.0
"""Patroni looks again so long after it named replicas, whether they have caught up."""
BACKLOG_BYTES = 500
"""Bytes by clients that wait for an acknowledgement: one commit each."""


def mode_of(agreed: Consensus) -> Replication:
    return read_replication(agreed.settings)


def is_active(agreed: Consensus) -> bool:
    """Return True if the mode is on, and its leader has written the key."""
    return mode_of(agreed).is_synchronous and bool(agreed.sync.leader)


def hears(model: MemberContainers, agreed: Consensus) -> bool:
    """Return True if a member's own copy of the key is renewed in this tick."""
    return not agreed.sync.leader or model.rng.random() < HEARS


def part_of(instance: Instance) -> Literal["", "sync", "quorum"]:
    """The member's part in a commit, as its own copies of settings and key have it."""
    mode = read_replication(instance.settings).mode
    if instance.is_primary or instance.name not in instance.sync.members:
        return ""
    parts: dict[str, Literal["sync", "quorum"]] = {"synchronous": "sync", "quorum": "quorum"}
    return parts.get(mode, "")


def refuses(agreed: Consensus, chosen: Instance) -> bool:
    """Return True if Patroni lets this member not follow a leader that steps down."""
    return is_active(agreed) and chosen.name not in agreed.sync.members


# The leader's round


def keep_in_sync(
    model: MemberContainers, agreed: Consensus, leader: Instance, able: list[Instance]
) -> None:
    """The leader's round of its loop, once in ``loop_wait``."""
    if model.now_s < agreed.sync_due_s:
        return
    agreed.sync_due_s = model.now_s + agreed.setting("loop_wait")
    wanted = mode_of(agreed)
    if not wanted.is_synchronous:
        write_key(model, agreed, SyncKey())
        leader.confirmed_by, agreed.acknowledged = Names(), None
        return
    if not agreed.sync.leader:
        write_key(model, agreed, SyncKey(leader.name))
    streaming = fit(leader, able, wanted)
    if wanted.mode == "quorum":
        by_quorum(model, agreed, leader, streaming, wanted)
    else:
        by_name(model, agreed, leader, streaming, wanted)


def fit(leader: Instance, able: list[Instance], wanted: Replication) -> list[Instance]:
    """The replicas that Patroni may name, those first that are named already."""
    found = [i for i in able if i is not leader and i.is_streaming]
    best = max((i.volume.location for i in found), default=0)
    best = best if len(found) > 1 else leader.volume.location
    most = wanted.maximum_lag_bytes
    near = [i for i in found if most is None or best - i.volume.location <= most]
    named = leader.confirmed_by.names
    return sorted(near, key=lambda i: (i.name not in named, -i.volume.location, i.name))


def is_close(agreed: Consensus, leader: Instance, member: Instance) -> bool:
    """Return True if a replica is close enough to confirm commits."""
    most = mode_of(agreed).maximum_lag_bytes
    return most is None or leader.volume.location - member.volume.location <= most


def caught_up(leader: Instance, found: list[Instance]) -> frozenset[str]:
    """The named replicas that have all that was written before they were named."""
    named = leader.confirmed_by
    return frozenset(
        i.name for i in found if i.name in named.names and i.volume.location >= named.since
    )


def name_replicas(
    model: MemberContainers, agreed: Consensus, leader: Instance, names: Names
) -> None:
    leader.confirmed_by = names
    agreed.sync_due_s = model.now_s + AGAIN_S


def write_key(model: MemberContainers, agreed: Consensus, key: SyncKey) -> None:
    if key != agreed.sync:
        agreed.sync, agreed.sync_changed_s = key, model.now_s


def by_name(
    model: MemberContainers,
    agreed: Consensus,
    leader: Instance,
    streaming: list[Instance],
    wanted: Replication,
) -> None:
    """Removed from the key first, then from the names; added to the names first, then to the key,
    once they have caught up."""
    if agreed.sync.leader != leader.name:
        write_key(model, agreed, SyncKey(leader.name))
    picked = frozenset(i.name for i in streaming[: wanted.nodes])
    confirmed = caught_up(leader, streaming[: wanted.nodes])
    key = agreed.sync
    if picked == key.members and key.members != confirmed:
        key = SyncKey(leader.name, confirmed)
        write_key(model, agreed, key)
    if picked == key.members == leader.confirmed_by.names:
        return
    common = key.members & confirmed
    write_key(model, agreed, SyncKey(leader.name, common))
    if picked != leader.confirmed_by.names:
        at = leader.volume.location
        waits = Names(len(picked), picked, at)
        if not picked and wanted.strict:
            waits = Names(1, ANYBODY, at)
        name_replicas(model, agreed, leader, waits)
        return
    if confirmed and confirmed != common:
        write_key(model, agreed, SyncKey(leader.name, confirmed))


def by_quorum(
    model: MemberContainers,
    agreed: Consensus,
    leader: Instance,
    streaming: list[Instance],
    wanted: Replication,
) -> None:
    named = leader.confirmed_by
    plain = frozenset[str]() if named.names == ANYBODY else named.names
    steps = QuorumStateResolver(
        leader=agreed.sync.leader,
        quorum=agreed.sync.quorum,
        voters=agreed.sync.members,
        numsync=named.count,
        sync=plain,
        numsync_confirmed=len(caught_up(leader, streaming)),
        active=[i.name for i in streaming],
        sync_wanted=wanted.nodes,
        leader_wanted=leader.name,
    )
    for kind, who, count, nodes in steps:
        if kind == "quorum":
            write_key(model, agreed, SyncKey(who, frozenset(nodes), count))
        elif kind == "sync":
            names, least = frozenset(nodes), max(count, 1 if wanted.strict else 0)
            if not names and least:
                names = ANYBODY
            name_replicas(model, agreed, leader, Names(least, names, leader.volume.location))
        elif kind == "restart":
            agreed.sync_due_s = model.now_s + AGAIN_S


def before_promotion(model: MemberContainers, agreed: Consensus, chosen: Instance) -> None:
    """``process_sync_replication_prepromote``: nobody else may lead until replicas are named."""
    wanted, key = mode_of(agreed), agreed.sync
    chosen.confirmed_by = Names()
    agreed.sync_due_s = 0.0
    if not wanted.is_synchronous:
        write_key(model, agreed, SyncKey())
        agreed.acknowledged = None
        return
    least = 1 if wanted.strict else 0
    if wanted.mode == "quorum" and key.leader:
        count = len(key.members) - key.quorum - (1 if chosen.name in key.members else 0)
        names = key.members - {chosen.name}
        if names or count:
            count = max(count, 0)
            chosen.confirmed_by = Names(
                count, (names or ANYBODY) if count else frozenset(), chosen.volume.location
            )
        return
    write_key(model, agreed, SyncKey(chosen.name))
    if least:
        chosen.confirmed_by = Names(least, ANYBODY, chosen.volume.location)


# Commits


def may_write(leader: Instance, agreed: Consensus) -> bool:
    """Return True unless every client waits for an acknowledgement already."""
    known = agreed.acknowledged
    if not leader.confirmed_by.count or known is None or known.timeline != leader.volume.timeline:
        return True
    return leader.volume.location - known.location < BACKLOG_BYTES


def acknowledge(agreed: Consensus, leader: Instance, members: list[Instance]) -> None:
    """Commits that the named replicas have are acknowledged. They are promised to last while the
    key is there, for as long as the mode stays the same. Not promised: what a new leader
    acknowledges alone, in quorum mode, before its first key (docs/safety.md, Accepted risks)."""
    if not is_active(agreed):
        return
    if not leader.confirmed_by.count and agreed.sync.leader != leader.name:
        return
    named, location = leader.confirmed_by, leader.volume.location
    if named.count:
        has = sorted(
            (
                i.volume.location
                for i in members
                if i.is_streaming and (named.names == ANYBODY or i.name in named.names)
            ),
            reverse=True,
        )
        if len(has) < named.count:
            return
        location = min(location, has[named.count - 1])
    known, mode = agreed.acknowledged, mode_of(agreed).mode
    place = (leader.volume.timeline, location)
    if known is None or known.mode != mode or (known.timeline, known.location) < place:
        agreed.acknowledged = Acknowledged(*place, leader.name, mode)


def loses(agreed: Consensus, volume: Volume) -> bool:
    """Return True if a database lacks what was acknowledged."""
    known = agreed.acknowledged
    if known is None or known.mode != mode_of(agreed).mode:
        return False
    left_at = agreed.timelines.left_at(volume, known.timeline)
    reach = volume.location if left_at is None else min(volume.location, left_at)
    return reach < known.location


# The race


def winner(model: MemberContainers, agreed: Consensus, up: list[Instance]) -> Instance | None:
    """The member that takes a free lock while the key is there; any that Patroni would let."""
    least = agreed.last_location - agreed.setting("maximum_lag_on_failover")
    newest = agreed.recorded_timeline if agreed.settings.get("check_timeline") else 0
    ready = [
        i
        for i in contenders(agreed, up)
        if i.volume.location >= least and i.volume.timeline >= newest
    ]
    return model.rng.choice(ready) if ready else None


def contenders(agreed: Consensus, up: list[Instance]) -> list[Instance]:
    """The members whose votes or place in the key let them lead."""
    if mode_of(agreed).mode == "quorum":
        return [i for i in up if has_votes(agreed, i, up)]
    return [i for i in up if agreed.sync.matches(i.name) and is_ahead(agreed, i, up)]


def rivals(agreed: Consensus, one: Instance, up: list[Instance]) -> Iterator[Instance]:
    return (i for i in up if i is not one and agreed.sync.matches(i.name) and i.state == RUNNING)


def is_ahead(agreed: Consensus, one: Instance, up: list[Instance]) -> bool:
    """Return True if no other member of the key has more WAL; the former leader does not count."""
    return not any(
        i.volume.location > one.volume.location and i.name != agreed.sync.leader
        for i in rivals(agreed, one, up)
    )


def has_votes(agreed: Consensus, one: Instance, up: list[Instance]) -> bool:
    key = agreed.sync
    if not is_ahead(agreed, one, up):
        return False
    others = [*rivals(agreed, one, up)]
    behind = [i for i in others if i.volume.location <= one.volume.location]
    votes = (0 if one.name in key.members else -1) + sum(i.name in key.members for i in behind)
    return votes >= key.quorum or (len(behind) == len(others) and key.leader == one.name)
