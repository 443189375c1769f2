"""Judges changes of who the members are, by the true state of the model.

What a step rests on must have been true at some moment since its pass began to look, as everywhere
in the simulation. Invariants: no two Raft configurations can each elect; a change begins only where
all voters are alive and know the last one; what is still needed is not taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from queenright.core.kinds.postgres_cluster.places import DeployedMember, decode_places
from queenright.core.swarm.objects import (
    CLUSTER_LABEL,
    MEMBERS_LABEL,
    ROLE_LABEL,
    Config,
    Service,
)
from tests.fakes.instances import Instance
from tests.fakes.raft_model import RaftModel
from tests.fakes.verbs import Verb
from tests.fakes.world import World
from tests.sim.invariants import SLACK_S
from tests.sim.topology_world import (
    lines_at,
    lines_in,
    noted_places,
    noted_voters,
    places_of,
)

LOOKS_EVERY_S = 1.0
SETTLES_S = 15.0
"""The time after a change of the voters in which no other may begin: some syncs of the disks."""


@dataclass
class TopologyJudge:
    """Attach to a world before the operator starts; ``violations`` says what went wrong."""

    world: World
    violations: list[str] = field(default_factory=list)
    settled_s: float = -1.0
    """The last look at which all voters were alive, with one list that is on every disk."""
    quorate_without_s: dict[str, float] = field(default_factory=dict)
    """The last look at which the voters were a living majority without each of them."""
    voteless_s: dict[str, float] = field(default_factory=dict)
    """The last look at which each node had no vote: one that starts asks for one."""
    addresses: set[str] = field(default_factory=set)
    """Those of all nodes that have run."""
    forked: bool = False
    volumes: dict[tuple[str, str], int] = field(default_factory=dict)
    """The timeline of each volume that had data."""
    cut: dict[str, DeployedMember] = field(default_factory=dict)
    """The last place of each member that is without one, and in whose line its node still is."""

    def __post_init__(self) -> None:
        self.world.swarm.before_write.append(self.check)
        self.world.patroni.before_verb.append(self.check_verb)
        self._look_and_again()

    @property
    def raft(self) -> RaftModel:
        return self.world.patroni_model.consensus("main").raft

    @property
    def looked_at_s(self) -> float:
        return self.world.swarm.observed_at_s - SLACK_S

    def violated(self, text: str) -> None:
        self.violations.append(f"at {self.world.now_s:.1f} s: {text}")

    # What is true, every second

    def _look_and_again(self) -> None:
        self.look()
        self.world.orchestrator.after(LOOKS_EVERY_S, self._look_and_again)

    def look(self) -> None:
        raft, now_s = self.raft, self.world.now_s
        if not self.forked and (found := raft.two_quorums()):
            self.forked = True
            self.violated(f"two Raft configurations can each elect: {' and '.join(found)}")
        self.addresses.update([node.address for node in raft.running.values()])
        for address in self.addresses:
            if not self.is_voter(address):
                self.voteless_s[address] = now_s
        lines = lines_in(self.world.last_good_text)
        self.cut = {n: p for n, p in self.cut.items() if n in lines and lines[n][0] == p.node}
        leader = raft.running.get(raft.leader)
        for key, volume in self.world.patroni_model.volumes.items():
            if not volume.is_empty:
                self.volumes[key] = volume.timeline
        if leader is None:
            return
        alive = {raft.running[name].address for name in raft.peers.get(leader.name, ())}
        listed = leader.listed
        for voter in listed:
            if len(alive - {voter}) * 2 > len(listed - {voter}):
                self.quorate_without_s[voter] = now_s
        logs = [raft.running[name].files for name in raft.peers.get(leader.name, ())]
        knows_all = all(raft.running[name].listed == listed for name in raft.peers[leader.name])
        on_disk = all(files.committed == len(files.log) == len(files.synced) for files in logs)
        if alive == listed and knows_all and on_disk:
            self.settled_s = now_s

    def was_settled(self) -> bool:
        return self.settled_s >= self.looked_at_s

    # Steps

    def check(self, kind: str, what: object) -> Callable[[], None]:
        """Judges a write by the world before it; it counts only if swarm takes it."""
        found = list(self.judge(kind, what))

        noted = {place.name: place for place in places_of(self.world)}

        def count() -> None:
            for text in found:
                self.violated(text)
            left = {*noted_places(self.world)}
            self.cut |= {name: place for name, place in noted.items() if name not in left}
            self.cut = {name: place for name, place in self.cut.items() if name not in left}

        return count

    def check_verb(self, verb: Verb) -> None:
        if verb.kind == "raft-remove":
            for text in self.judge_vote(verb.voter):
                self.violated(text)
        volume = verb.member.volume
        # What a rewind has left half done is of no use to anybody.
        if verb.kind == "reinitialize" and not (volume.is_empty or volume.is_torn):
            self.violated(f"the data directory of {verb.member.name} is emptied")

    def judge(self, kind: str, what: object) -> Iterator[str]:
        match kind, what:
            case "create-service", Service() as service if is_member(service):
                yield from self.judge_arrival(service)
            case "update-service", (_, Service() as service, _) if self.is_elsewhere(service):
                yield from self.judge_arrival(service)
            case "remove-service", str(service_id):
                live = self.world.store.services.get(service_id)
                if live is not None and is_member(live.value):
                    yield from self.judge_departure(live.value)
            case "label-config", Config() as config:
                yield from self.judge_places(config)
            case _:
                pass

    def judge_arrival(self, service: Service) -> Iterator[str]:
        """A member that is created where others have data adds itself to Raft."""
        name = service.name.removeprefix("main_")
        if name not in noted_places(self.world):
            yield f"{name} is created, and is in no noted place"
        voter = service.environment["RAFT_SELF"]
        known = {a for node in self.raft.running.values() for a in node.listed}
        is_first = all(volume.is_empty for volume in self.world.patroni_model.volumes.values())
        if is_first or voter in known or not known:
            return  # not a change of the voters
        if not self.was_settled():
            yield f"{name} is added while the voters are not settled"
        yield from self.judge_age(f"{name} is added")
        for other in self.others(name):
            if self.is_to_go(other, name):
                continue
            if not self.world.patroni_model.was_well_since(other, self.looked_at_s):
                yield f"{name} is added while {other} is not well"

    def judge_vote(self, voter: str) -> Iterator[str]:
        """A voter is removed: one that leads nothing, and that the others can spare."""
        model, raft = self.world.patroni_model, self.raft
        owner = next((i for i in model.of_cluster("main") if i.raft_address == voter), None)
        agreed = model.consensus("main")
        leads = owner is not None and model.leader("main") is owner
        if leads and agreed.changed_at_s < self.looked_at_s:
            yield f"the vote of {voter} is removed, which leads the database"
        votes = any(voter in node.listed for node in raft.running.values())
        if votes and self.quorate_without_s.get(voter, -1.0) < self.looked_at_s:
            yield f"the vote {voter} is removed, and the others are no quorum without it"
        if voter in self.needed().values():
            yield f"the vote {voter} of a member of the file is removed"
        for name in self.hurt_stand_ins(voter):
            yield f"the vote {voter} is removed before {name}, which stands for it, is well"
        yield from self.judge_age(f"the vote {voter} is removed")

    def hurt_stand_ins(self, voter: str) -> Iterator[str]:
        """Yield the stand-ins of a living member with this vote that do not stream yet."""
        model = self.world.patroni_model
        named = [name for name, found in noted_voters(self.world).items() if found == voter]
        owner = next((i for i in model.of_cluster("main") if i.raft_address == voter), None)
        if not named or owner is None or not (owner.is_streaming or owner.is_primary):
            return
        for live in self.world.store.services.values():
            stands = live.value.name.startswith(f"main_{named[0]}-moved")
            if stands and not model.was_well_since(live.value.name, self.looked_at_s):
                yield live.value.name

    def is_elsewhere(self, service: Service) -> bool:
        """Return True for a member's service that gets another Raft address."""
        live = self.world.store.service_named(service.name)
        address = service.environment.get("RAFT_SELF")
        return (
            is_member(service)
            and live is not None
            and (live.value.environment.get("RAFT_SELF") != address)
        )

    def needed(self) -> dict[str, str]:
        """Return the places that are as the file says: their Raft addresses by their names."""
        lines = lines_at(self.world, self.world.last_good_text)
        return {
            name: voter
            for name, voter in noted_voters(self.world).items()
            if name in lines and lines[name][1] == voter
        }

    def is_voter(self, voter: str) -> bool:
        """Return True if a node of the quorum lists this voter; without a quorum, if any does. A
        node that is cut off with a former list elects nobody by it (``two_quorums`` judges that),
        and nothing waits for one that is to go itself and does not answer."""
        raft = self.raft
        able = [raft.running[name] for name in raft.able if raft.running[name].address != voter]
        return any(voter in node.listed for node in able) if able else raft.is_listed(voter)

    def votes_since_look(self, voter: str) -> bool:
        """Return True for a voter that had a vote in every moment since the operator looked."""
        return self.is_voter(voter) and self.voteless_s.get(voter, -1.0) < self.looked_at_s

    def judge_departure(self, service: Service) -> Iterator[str]:
        name, model = service.name.removeprefix("main_"), self.world.patroni_model
        voter = service.environment["RAFT_SELF"]
        if self.votes_since_look(voter):
            yield f"the service of {name} is removed before its vote"
        leader = model.leader("main")
        if leader is not None and leader.name == name:
            yield f"the service of {name} is removed, which leads the database"
        if name in self.needed():
            yield f"the service of {name}, a member of the file, is removed"

    def judge_places(self, config: Config) -> Iterator[str]:
        before = {*noted_places(self.world)}
        places = decode_places(config.labels.get(MEMBERS_LABEL, ""))
        after = {place.name for place in places}
        live = self.world.store.configs.get(config.name)
        if config.name != "main_cluster" or live is None or not places:
            return
        voters = noted_voters(self.world)
        yield from self.judge_volumes(places)
        for name in sorted(before - after):
            voter = voters[name]
            if self.world.store.service_named(f"main_{name}") is not None:
                yield f"the place of {name} is cut while its service is there"
            if self.votes_since_look(voter):
                yield f"the place of {name} is cut while it votes"

    def judge_volumes(self, after: Sequence[DeployedMember]) -> Iterator[str]:
        """A place that gets another name or address, or comes back, keeps its data, which are on
        its node."""
        before, kept = places_of(self.world), {place.name for place in after}
        had = {**self.cut, **{place.name: place for place in before}}
        for place in after:
            own = had.get(place.name, place)
            if own.node == place.node and volumes_of(own) != volumes_of(place):
                yield f"{place.name} is on {place.node} again, and loses its volumes"
        former = {(place.node, place.address): place for place in before if place.name not in kept}
        known = {place.name for place in before}
        for place in after:
            old = former.get((place.node, place.address))
            if place.name in known or old is None:
                continue
            if volumes_of(place) != volumes_of(old):
                yield f"{old.name} is named {place.name}, and loses its volumes"

    def judge_age(self, step: str) -> Iterator[str]:
        """The last change of the voters is on every disk for certain before the next begins. A
        member that starts again adds itself, maybe since the operator looked."""
        looked_s = self.world.swarm.observed_at_s
        known = [at_s for at_s in self.raft.changed_s if at_s <= looked_s]
        age_s = self.world.now_s - max(known, default=-SETTLES_S)
        if age_s < SETTLES_S:
            yield f"{step} {age_s:.1f} s after the last change of the voters"

    def is_to_go(self, service: str, arrival: str) -> bool:
        """Return True for a member that the arrival stands for, or that the file, which has the
        arrival, has no more, or elsewhere (one that was replaced, and whose node is back): nothing
        rests on it but its vote, which is settled."""
        name = service.removeprefix("main_")
        lines = lines_at(self.world, self.world.last_good_text)
        goes = name not in lines or lines[name][1] != noted_voters(self.world).get(name)
        return arrival.startswith(f"{name}-moved") or (arrival in lines and goes)

    def others(self, name: str) -> Iterator[str]:
        """Yield the services of the other members."""
        for live in self.world.store.services.values():
            if is_member(live.value) and live.value.name != f"main_{name}":
                yield live.value.name

    # The end

    def at_rest(self) -> None:
        """Check a world in its desired state: no ghost votes, and nothing of a former member is
        left but its volumes, which are as they were."""
        lines = lines_at(self.world, self.world.last_good_text)
        names, wanted = {*lines}, {voter for _, voter in lines.values()}
        for node in self.raft.running.values():
            if ghosts := node.listed - wanted:
                self.violated(f"{node.name} lists {sorted(ghosts)}, which are no members")
        if {*noted_places(self.world)} != {*names}:
            self.violated(f"the noted places are {noted_places(self.world)}, the file's {names}")
        for key, timeline in self.volumes.items():
            volume = self.world.patroni_model.volumes.get(key)
            if volume is None or (volume.is_empty and timeline):
                self.violated(f"the data in volume {key} is gone")
        self.violations += [f"at rest: {text}" for text in self.world.patroni_model.lost]


def volumes_of(place: DeployedMember) -> str:
    return place.volumes or f"main_{place.name}"


def is_member(service: Service) -> bool:
    labels = service.labels
    return labels.get(CLUSTER_LABEL) == "main" and labels.get(ROLE_LABEL) == "member"


def member_of(world: World, name: str) -> Instance:
    return next(i for i in world.patroni_model.of_cluster("main") if i.name == name)
