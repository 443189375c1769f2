"""Operators with a rule, a guard or a port made worse: what the simulation is there to catch.

Each mutation is a doctrine of its own, or a port in the place of another, made without touching a
module. Where a rule and a guard protect the same, both are taken away.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from queenright.core.actions import Action, PatchSettings
from queenright.core.desired import DesiredMember
from queenright.core.doctrine import DOCTRINE, Doctrine
from queenright.core.notes import Notes
from queenright.core.observed import Known, MemberStatus, Unknown
from queenright.core.plan import Hold
from queenright.core.planner import Rule
from queenright.core.published import PAUSE_KEY
from queenright.core.resources import Service
from queenright.core.situation import Situation
from tests.fakes.fake_swarm import FakeSwarm
from tests.fakes.world import World
from tests.sim.history import run
from tests.sim.script import Script, make_script

Step = Action | Hold
Tamper = Callable[[World], None]


@dataclass(frozen=True)
class Mutation:
    """``words`` are in the violation by which it is caught; ``seed`` is of a history that does.
    Where ``deeds`` are named, the history is of them alone: what it takes is rare otherwise."""

    name: str
    words: str
    seed: int
    doctrine: Doctrine = DOCTRINE
    tamper: Tamper | None = None
    deeds: tuple[str, ...] = ()

    def script(self, seed: int) -> Script:
        made = make_script(seed)
        if not self.deeds:
            return made
        steps = (
            dataclasses.replace(step, deed=self.deeds[step.number % len(self.deeds)])
            for step in made.steps
        )
        return dataclasses.replace(made, steps=tuple(steps))


# Eyes: situations that answer wrongly


class Careless(Situation):
    """Never sees a reason not to restart a member."""

    def why_not_disturb(self, member: DesiredMember) -> str | None:
        return None


class Presuming(Situation):
    """Takes a member that does not answer for one that is down, and so no reason to wait."""

    def why_not_disturb(self, member: DesiredMember) -> str | None:
        present = [m for m in self.desired.members if self.status(m) is not None]
        known = dataclasses.replace(self.desired, members=tuple(present))
        return plain(self, desired=known).why_not_disturb(member)


class Hasty(Situation):
    """Takes a member that answers well for one that will, whatever swarm was told about it."""

    def why_unsettled(self, member: DesiredMember) -> str | None:
        return None

    def why_changing(self, member: DesiredMember) -> str | None:
        return None


class Optimistic(Situation):
    """Takes every replica that answers for one that streams."""

    def status(self, member: DesiredMember) -> MemberStatus | None:
        found = super().status(member)
        if found is None or found.holds_lock:
            return found
        return dataclasses.replace(found, state="running", replication_state="streaming")


class Usurping(Situation):
    """Does not know the leader from a replica when it restarts them."""

    def is_leader(self, member: DesiredMember) -> bool:
        return False


class LagBlind(Situation):
    """Asks nobody how far it is behind."""

    def why_too_far(self, member: DesiredMember) -> str | None:
        return None


class PauseBlind(Situation):
    """Does not see that Patroni is paused."""

    def status(self, member: DesiredMember) -> MemberStatus | None:
        found = super().status(member)
        return found and dataclasses.replace(found, paused=False)


class QuorumBlind(Situation):
    """Takes the quorum for granted."""

    def why_no_quorum(self, without: DesiredMember | None = None) -> str | None:
        return None


class Impatient(Situation):
    """Forgets that a move was asked for: asks again when the answer was ambiguous."""

    @property
    def notes(self) -> Notes:
        return dataclasses.replace(super().notes, move=None)


class Stubborn(Situation):
    """Never counts the wish for the lead as honoured: fights every failover."""

    @property
    def notes(self) -> Notes:
        return dataclasses.replace(super().notes, primary="")


class Unmindful(Situation):
    """Forgets which nodes are in maintenance when it chooses a leader."""

    @property
    def maintained(self) -> tuple[str, ...]:
        return ()


class Possessive(Situation):
    """Takes every pause for the operator's own."""

    @property
    def known_settings(self) -> Mapping[str, Any]:
        found = super().known_settings
        return {**found, PAUSE_KEY: "promotion"} if found.get("pause") else found


class Forgetful(Situation):
    """Does not know that the cluster was started with the secrets that are gone."""

    @property
    def has_started(self) -> bool:
        return False


def plain(situation: Situation, **fields: Any) -> Situation:
    return seen_as(Situation, situation, **fields)


def seen_as(kind: type[Situation], situation: Situation, **fields: Any) -> Situation:
    found = {f.name: getattr(situation, f.name) for f in dataclasses.fields(situation)}
    return kind(**{**found, **fields})


def with_eyes(kind: type[Situation], rule: Rule) -> Rule:
    def mutated(situation: Situation) -> Iterator[Step]:
        yield from rule(seen_as(kind, situation))

    return mutated


def after(rule: Rule, change: Callable[[Situation, Step], Step]) -> Rule:
    def mutated(situation: Situation) -> Iterator[Step]:
        for step in rule(situation):
            yield change(situation, step)

    return mutated


def seeing(kind: type[Situation], *, guards: Iterable[str] | None = ()) -> Doctrine:
    """All rules with other eyes, and of the guards only those that are named; all for None."""
    kept = tuple(g for g in DOCTRINE.guards if guards is None or g.__name__ in guards)
    return Doctrine(tuple(with_eyes(kind, rule) for rule in DOCTRINE.rules), kept)


def changing(change: Callable[[Situation, Step], Step]) -> Doctrine:
    """All rules with their steps changed, and no guards."""
    return Doctrine(tuple(after(rule, change) for rule in DOCTRINE.rules), ())


def without_expectation(_: Situation, step: Step) -> Step:
    return dataclasses.replace(step, expected={}) if isinstance(step, PatchSettings) else step


def as_it_really_is(situation: Situation, step: Step) -> Step:
    """Expects what is there, whatever the rule believed."""
    if not isinstance(step, PatchSettings):
        return step
    match situation.settings:
        case Known(found):
            return dataclasses.replace(step, expected={k: found.get(k) for k in step.patch})
        case Unknown():
            return step


def too_early(_: Situation, step: Step) -> Step:
    if isinstance(step, Hold) and step.reason.startswith("not yet safe to power off "):
        nodes = step.reason.removeprefix("not yet safe to power off ").partition(":")[0]
        return dataclasses.replace(step, reason=f"safe to power off: {nodes.partition(';')[0]}")
    return step


def possessive() -> Doctrine:
    rules = tuple(after(with_eyes(Possessive, rule), as_it_really_is) for rule in DOCTRINE.rules)
    return Doctrine(rules, ())


def inattentive() -> Doctrine:
    """All rules but the one for pauses forget the maintenance."""
    rules = tuple(
        rule if rule.__name__ == "plan_pauses" else with_eyes(Unmindful, rule)
        for rule in DOCTRINE.rules
    )
    return Doctrine(rules, ())


class Overwriting(FakeSwarm):
    """Writes over whatever version is there."""

    async def update_service(
        self, service_id: str, version: int, service: Service, force_update: int
    ) -> None:
        live = self.store.services.get(service_id)
        version = live.version if live else version
        await super().update_service(service_id, version, service, force_update)

    async def adjust_service(self, service_id: str, version: int, service: Service) -> None:
        live = self.store.services.get(service_id)
        await super().adjust_service(service_id, live.version if live else version, service)


def overwriting(world: World) -> None:
    present = world.swarm
    fields = {f.name: getattr(present, f.name) for f in dataclasses.fields(present)}
    world.swarm = Overwriting(**fields)


MOST_SEEDS = 100


def catches(mutation: Mutation, seed: int) -> bool:
    """Whether the history finds the mutated operator out, and has nothing against the true one."""
    script = mutation.script(seed)
    found = run(script, mutation.doctrine, mutation.tamper).violations
    return any(mutation.words in text for text in found) and not run(script).violations


def seed_that_catches(mutation: Mutation) -> int | None:
    """The first history that catches it."""
    return next((seed for seed in range(MOST_SEEDS) if catches(mutation, seed)), None)


SLOWNESS = ("slow_replica", "repair", "another_primary", "repair", "repair")
ISOLATION = ("another_primary", "edit", "cut_off", "repair", "repair")
AMBIGUITY = ("bad_verbs", "another_primary", "another_primary", "repair")
FAILOVERS = ("another_primary", *6 * ("repair",), "switch_over", *9 * ("repair",))
MUTATIONS = (
    Mutation("restarts members without asking why not", "is disturbed", 1, seeing(Careless)),
    Mutation(
        "the same, but the guards stand",
        "a guard had to refuse",
        1,
        seeing(Careless, guards=None),
    ),
    Mutation("takes unknown for down", "is unknown", 2, seeing(Presuming)),
    Mutation("restarts the next member at once", "is being replaced", 2, seeing(Hasty)),
    Mutation("restarts one while another is unwell", "is not well", 1, seeing(Optimistic)),
    Mutation("restarts the leader in place", "the leader main_member", 5, seeing(Usurping)),
    Mutation("skips the lag check", "lags too far behind", 0, seeing(LagBlind), deeds=SLOWNESS),
    Mutation("acts while paused", "while Patroni is paused", 7, seeing(PauseBlind)),
    Mutation(
        "takes the quorum for granted", "without a quorum", 1, seeing(QuorumBlind), deeds=ISOLATION
    ),
    Mutation(
        "asks again after a 503", "a second switchover", 1, seeing(Impatient), deeds=AMBIGUITY
    ),
    Mutation("fights a failover", "which is fought for", 0, seeing(Stubborn), deeds=FAILOVERS),
    Mutation("lifts a foreign pause", "somebody else has set", 18, possessive()),
    Mutation("patches without expecting", "without the value", 0, changing(without_expectation)),
    Mutation("safe to power off too early", "told that it is safe", 2, changing(too_early)),
    Mutation("leads on a node in maintenance", "node is in maintenance", 51, inattentive()),
    Mutation("skips the version check", "not what was observed", 8, tamper=overwriting),
)


if __name__ == "__main__":
    for each in MUTATIONS:
        print(f"{seed_that_catches(each)!s:>5}  {each.name}", flush=True)
