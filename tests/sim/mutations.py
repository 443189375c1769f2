"""Operators with a rule, a guard or a port made worse: what the simulation is there to catch.

Each mutation is a ruleset of its own, or a port in the place of another, made without touching a
module. Where a rule and a guard protect the same, both are taken away.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from queenright.core.actions import AnyAction, PatchSettings
from queenright.core.kinds.kind import Rule
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.observed import Known, Unknown
from queenright.core.planning.plan import Guard, Hold
from queenright.core.swarm.objects import Service
from tests.fakes.fake_swarm import FakeSwarm
from tests.fakes.world import World
from tests.sim.mutated_states import (
    Careless,
    Hasty,
    Impatient,
    LagBlind,
    Optimistic,
    PauseBlind,
    Possessive,
    Presuming,
    QuorumBlind,
    Stubborn,
    Unmindful,
    Usurping,
    Wishful,
    seen_as,
)
from tests.sim.script import Script, make_script
from tests.sim.until_caught import Watch, is_caught

Step = AnyAction | Hold
Tamper = Callable[[World], None]


@dataclass(frozen=True)
class Mutation:
    """``words`` are in the violation by which it is caught; ``seed`` is of a history that does.
    If steps are named, the history has only those, because what it needs is rare otherwise."""

    name: str
    words: str
    seed: int
    ruleset: Ruleset = RULESET
    tamper: Tamper | None = None
    actions_only: tuple[str, ...] = ()

    def script(self, seed: int) -> Script:
        made = make_script(seed, raft=False)
        if not self.actions_only:
            return made
        steps = (
            dataclasses.replace(step, event=self.actions_only[step.number % len(self.actions_only)])
            for step in made.steps
        )
        return dataclasses.replace(made, steps=tuple(steps))


def with_eyes(kind: type[ClusterState], rule: Rule) -> Rule:
    def mutated(state: ClusterState) -> Iterator[Step]:
        yield from rule(seen_as(kind, state))

    return mutated


def after(rule: Rule, change: Callable[[ClusterState, Step], Step]) -> Rule:
    def mutated(state: ClusterState) -> Iterator[Step]:
        for step in rule(state):
            yield change(state, step)

    return mutated


def ruleset_with(rules: tuple[Rule, ...], guards: tuple[Guard, ...] = RULESET.guards) -> Ruleset:
    """The operator's own, with other rules for clusters, and these guards."""
    return dataclasses.replace(RULESET.with_rules(POSTGRES_CLUSTER.name, rules), guards=guards)


def seeing(kind: type[ClusterState], *, guards: Iterable[str] | None = ()) -> Ruleset:
    """All rules with other eyes, and of the guards only those that are named; all for None."""
    kept = tuple(g for g in RULESET.guards if guards is None or g.__name__ in guards)
    return ruleset_with(tuple(with_eyes(kind, rule) for rule in POSTGRES_CLUSTER.rules), kept)


def changing(change: Callable[[ClusterState, Step], Step]) -> Ruleset:
    """All rules with their steps changed, and no guards."""
    return ruleset_with(tuple(after(rule, change) for rule in POSTGRES_CLUSTER.rules), ())


def without_expectation(_: ClusterState, step: Step) -> Step:
    return dataclasses.replace(step, expected={}) if isinstance(step, PatchSettings) else step


def as_it_really_is(state: ClusterState, step: Step) -> Step:
    """Expects what is there, whatever the rule believed."""
    if not isinstance(step, PatchSettings):
        return step
    match state.settings:
        case Known(found):
            return dataclasses.replace(step, expected={k: found.get(k) for k in step.patch})
        case Unknown():
            return step


def too_early(_: ClusterState, step: Step) -> Step:
    if isinstance(step, Hold) and step.reason.startswith("not yet safe to power off "):
        nodes = step.reason.removeprefix("not yet safe to power off ").partition(":")[0]
        return dataclasses.replace(step, reason=f"safe to power off: {nodes.partition(';')[0]}")
    return step


def possessive() -> Ruleset:
    rules = tuple(
        after(with_eyes(Possessive, rule), as_it_really_is) for rule in POSTGRES_CLUSTER.rules
    )
    return ruleset_with(rules, ())


def inattentive() -> Ruleset:
    """All rules but the one for pauses forget the maintenance."""
    rules = tuple(
        rule if rule.__name__ == "plan_pauses" else with_eyes(Unmindful, rule)
        for rule in POSTGRES_CLUSTER.rules
    )
    return ruleset_with(rules, ())


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


def without_rule(name: str) -> Ruleset:
    """All rules but one, with every guard."""
    return ruleset_with(tuple(r for r in POSTGRES_CLUSTER.rules if r.__name__ != name))


def with_old_image(world: World) -> None:
    """The member image exits on a Raft journal that it can't read, and obeys no request."""
    world.patroni_model.mends_raft = False


MOST_SEEDS = 100


def catches(mutation: Mutation, seed: int) -> bool:
    """Return True if the history fails for the mutated operator, and not for the true one."""
    watch = Watch(mutation.tamper)
    return is_caught(mutation.words, mutation.script(seed), mutation.ruleset, watch, Watch())


def seed_that_catches(mutation: Mutation) -> int | None:
    """The first history that catches it."""
    return next((seed for seed in range(MOST_SEEDS) if catches(mutation, seed)), None)


SLOWNESS = ("slow_replica", "repair", "another_primary", "repair", "repair")
ISOLATION = ("another_primary", "edit", "cut_off", "repair", "repair")
AMBIGUITY = ("bad_verbs", "another_primary", "another_primary", "repair")
FAILOVERS = ("another_primary", *6 * ("repair",), "switch_over", *9 * ("repair",))
MAINTENANCE = tuple(3 * ("wish", "repair", "repair"))[:-1]
MUTATIONS = (
    Mutation("restarts members without asking why not", "is disrupted", 1, seeing(Careless)),
    Mutation(
        "the same, but the guards stand",
        "a guard had to refuse",
        1,
        seeing(Careless, guards=None),
    ),
    Mutation("takes unknown for down", "is unknown", 4, seeing(Presuming)),
    Mutation("restarts the next member at once", "is being replaced", 4, seeing(Hasty)),
    Mutation("restarts one while another is unwell", "is not well", 38, seeing(Optimistic)),
    Mutation("restarts the leader in place", "the leader main_member", 1, seeing(Usurping)),
    Mutation(
        "skips the lag check", "lags too far behind", 0, seeing(LagBlind), actions_only=SLOWNESS
    ),
    Mutation(
        "signs in with the desired password",
        "not settled",
        10,
        seeing(Wishful, guards=None),
        actions_only=("edit", *11 * ("repair",)),
    ),
    Mutation("acts while paused", "while Patroni is paused", 36, seeing(PauseBlind)),
    Mutation(
        "takes the quorum for granted",
        "without a quorum",
        2,
        seeing(QuorumBlind),
        actions_only=ISOLATION,
    ),
    Mutation(
        "asks again after a 503",
        "a second switchover",
        17,
        seeing(Impatient),
        actions_only=AMBIGUITY,
    ),
    Mutation(
        "fights a failover", "which is fought for", 0, seeing(Stubborn), actions_only=FAILOVERS
    ),
    Mutation("lifts a foreign pause", "somebody else has set", 8, possessive()),
    Mutation("patches without expecting", "without the value", 0, changing(without_expectation)),
    Mutation("safe to power off too early", "told that it is safe", 2, changing(too_early)),
    Mutation(
        "leads on a node in maintenance",
        "node is in maintenance",
        2,
        inattentive(),
        actions_only=MAINTENANCE,
    ),
    Mutation(
        "leaves a Raft node that can't apply its log",
        "not settled",
        0,
        without_rule("plan_raft"),
        actions_only=("stuck_raft", *11 * ("repair",)),
    ),
    Mutation(
        "has members that exit on a torn Raft journal",
        "not settled",
        0,
        tamper=with_old_image,
        actions_only=("torn_journal", *11 * ("repair",)),
    ),
    Mutation("skips the version check", "not what was observed", 16, tamper=overwriting),
)


if __name__ == "__main__":
    for each in MUTATIONS:
        print(f"{seed_that_catches(each)!s:>5}  {each.name}", flush=True)
