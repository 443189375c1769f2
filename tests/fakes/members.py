"""All members of all clusters: how their images behave, what is true of them, what rows they lost.

Nothing moves here (``patroni_model`` does); the parts of Patroni that move members are given this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.fakes import synchronous
from tests.fakes.consensus import Consensus
from tests.fakes.images import ImageTraits
from tests.fakes.instances import Instance
from tests.fakes.member_containers import MemberContainers

CLONE_S = 6.0
WRITES_BYTES = 100


@dataclass
class Members(ImageTraits, MemberContainers):
    """The members, and what was noted of them; a test may change how they behave."""

    older_images: dict[str, ImageTraits] = field(default_factory=dict)
    """The traits of images that are not today's, by digest."""

    last_streamed_s: dict[str, float] = field(default_factory=dict)
    last_near_s: dict[str, float] = field(default_factory=dict)
    """The tick at which each was last seen streaming, and within the lag bound."""
    last_fit_s: dict[str, float] = field(default_factory=dict)
    """The tick at which each was last seen streaming closely enough to confirm commits."""
    last_quorate_s: dict[str, float] = field(default_factory=dict)
    last_led_s: dict[str, float] = field(default_factory=dict)
    """The tick at which each cluster was last seen with a quorum, and with a leader."""
    led_again_s: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The last time without a leader: from the tick at which one was seen to the next one's."""
    slow: set[str] = field(default_factory=set)
    """Services of members whose replication is slow."""
    writes_bytes: int = WRITES_BYTES
    """The bytes that clients write in a tick."""
    story: list[tuple[float, str]] = field(default_factory=list)
    """The promoted members, with times."""
    clone_s: float = CLONE_S
    """The time that a base backup takes."""
    clones_hang: bool = False
    """True if a member that was killed in a base backup waits for ever, as a real one does."""
    uncovered: set[str] = field(default_factory=set)
    """Targets of a restore that the repository does not cover."""
    hears_settings: float = 0.8
    """The chance that a member takes changed settings over in a tick."""
    recovery_s: dict[str, float] = field(default_factory=dict)
    """The time that PostgreSQL takes to start, by the member's name, beyond the usual."""
    losses: int = 0
    """The losses of Raft logs so far."""
    lost: list[str] = field(default_factory=list)
    """Acknowledged rows that were lost though a member had them: by a second timeline beside the
    one in Patroni's history, or by an empty database in the place of one with data."""
    other_wins: float = 0.0
    """The chance that a switchover is won by another member than its candidate."""

    def image_of(self, instance: Instance) -> ImageTraits:
        """Return the traits of the image that a member's container was made from."""
        digest = instance.task.template.image.partition("@")[2]
        return self.older_images.get(digest, self)

    # Losses

    def promoted(self, agreed: Consensus, chosen: Instance) -> None:
        """Note a promotion that leaves acknowledged rows behind: a whole timeline of them, or what
        replicas had confirmed."""
        if synchronous.loses(agreed, chosen.volume) and not agreed.is_forced:
            known = agreed.acknowledged
            self.lost.append(f"{chosen.name} leads on without rows that were confirmed: {known}")
            agreed.acknowledged = None
        if agreed.was_forgotten:
            self.judge_first_leader(agreed, chosen)
        present, newest = chosen.volume.timeline, agreed.recorded_timeline
        if 0 < present < newest and not agreed.is_forced:
            self.lost.append(
                f"{chosen.name} leads on from timeline {present}, though timeline {newest} had "
                "acknowledged rows"
            )

    def judge_new_log(self, instance: Instance, *, joins: bool) -> None:
        """Note a Raft log that begins anew beside one that somebody has, unless it joins that. The
        volumes that a removed member has left are nobody's: no service starts with them."""
        services = self.orchestrator.store.services.values()
        mounted = {mount.source for live in services for mount in live.value.mounts}
        whole = [
            other
            for (_, source), other in self.volumes.items()
            if f"{instance.cluster}_" in source
            and source in mounted
            and other is not instance.volume
            and other.raft != "torn"
            and not other.is_empty
            and other.raft_began_s < instance.volume.raft_lost_s
        ]
        if whole and not joins:
            self.lost.append(f"{instance.name} begins a Raft log anew, and another member has one")

    def judge_first_leader(self, agreed: Consensus, chosen: Instance) -> None:
        """Note one that leads first after the logs began anew, and has not the newest data of all
        volumes, wherever they are: nothing but the operator's choice keeps it from that."""
        mine = (chosen.volume.timeline, chosen.volume.location)
        for (_, source), other in self.volumes.items():
            is_one = f"{chosen.cluster}_" in source and other.system == chosen.volume.system
            if is_one and (other.timeline, other.location) > mine:
                self.lost.append(
                    f"{chosen.name} leads on from {mine}, after the Raft logs began anew, and "
                    f"another member has {(other.timeline, other.location)}"
                )

    def initialised(self, agreed: Consensus, first: Instance) -> None:
        """Note an initdb beside data of the same cluster."""
        agreed.systems += 1
        agreed.system = first.volume.system = agreed.systems
        kept = [i.name for i in self.of_cluster(first.cluster) if not i.volume.is_empty]
        if kept:
            self.lost.append(
                f"{first.name} initialises an empty database, and {', '.join(kept)} had the data"
            )

    # What is true

    def leader(self, cluster: str) -> Instance | None:
        """The one that holds the lock and takes writes, in truth."""
        agreed = self.consensus(cluster)
        if self.now_s >= agreed.lock_until_s and not agreed.paused:
            return None
        for instance in self.instances.values():
            if instance.cluster == cluster and instance.name == agreed.leader:
                return instance if instance.is_primary and self.is_up(instance) else None
        return None

    def primaries(self, cluster: str) -> list[Instance]:
        """All whose PostgreSQL takes writes."""
        return [i for i in self.of_cluster(cluster) if i.is_primary and self.is_up(i)]

    def has_quorum(self, cluster: str) -> bool:
        return bool(self.consensus(cluster).raft.able)

    def at_address(self, address: str) -> Instance | None:
        return next((i for i in self.instances.values() if i.address == address), None)

    def was_well_since(self, service: str, since_s: float) -> bool:
        """Return True if the member was well at any time since then, this moment included."""
        if self.last_well_s.get(service, -1.0) >= since_s:
            return True
        return any(i.service == service and self.is_well(i) for i in self.instances.values())

    def of_cluster(self, cluster: str) -> Iterator[Instance]:
        return (i for i in self.instances.values() if i.cluster == cluster)

    def is_well(self, instance: Instance) -> bool:
        """Leader, or streaming from it, and within the operator's reach."""
        heard = self.orchestrator.hears(instance.node_id)
        return heard and (instance.is_streaming or self.leader(instance.cluster) is instance)
