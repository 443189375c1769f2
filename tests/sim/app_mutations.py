"""Operators that are worse at an application's versions and passwords: what its histories catch.

As in ``mutations``; rules take what they know from functions here, so a mutated operator is given
a situation, or a catalog, that is not as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from queenright.core.actions import Action
from queenright.core.app.dump_job import DUMP_ROLE
from queenright.core.app.planner import AppRule
from queenright.core.app.rollbacks import NOTES
from queenright.core.app.rules.anchor import plan_anchor
from queenright.core.app.rules.dumps import plan_dumps
from queenright.core.app.rules.logins import plan_logins
from queenright.core.app.rules.web import plan_web
from queenright.core.app.situation import AppSituation
from queenright.core.doctrine import DOCTRINE, Doctrine
from queenright.core.observed import Known, LiveService, SwarmState, Task
from queenright.core.plan import Hold
from queenright.core.resources import ROLE_LABEL
from tests.sim.app_world import AppWorld, app_script, with_app
from tests.sim.history import run

Step = Action | Hold
Eyes = Callable[[AppSituation], AppSituation]


@dataclass(frozen=True)
class AppMutation:
    """``words`` are in the violation by which it is caught; ``seed`` is of a history that does."""

    name: str
    words: str
    seed: int
    eyes: Eyes
    rules: tuple[AppRule, ...]
    """Those that see with these eyes."""

    @property
    def doctrine(self) -> Doctrine:
        mutated = tuple(
            with_eyes(self.eyes, rule) if rule in self.rules else rule
            for rule in DOCTRINE.app_rules
        )
        return dataclasses.replace(DOCTRINE, app_rules=mutated, guards=())


def with_eyes(eyes: Eyes, rule: AppRule) -> AppRule:
    def mutated(situation: AppSituation) -> Iterator[Step]:
        yield from rule(eyes(situation))

    return mutated


def seeing_tasks(
    situation: AppSituation, change: Callable[[LiveService, Task], Task]
) -> AppSituation:
    services = {live.id: live for live in situation.swarm.services}
    tasks = (
        change(services[task.service_id], task) if task.service_id in services else task
        for task in situation.swarm.tasks
    )
    return with_swarm(situation, tasks=tuple(tasks))


def with_swarm(situation: AppSituation, **fields: object) -> AppSituation:
    swarm: SwarmState = dataclasses.replace(situation.swarm, **fields)  # type: ignore[arg-type]
    return dataclasses.replace(situation, swarm=swarm)


def is_dump(live: LiveService) -> bool:
    return live.value.labels.get(ROLE_LABEL) == DUMP_ROLE


def unverified(situation: AppSituation) -> AppSituation:
    """Takes a dump that was begun for one that was taken and read back."""
    return seeing_tasks(
        situation,
        lambda live, task: dataclasses.replace(task, state="complete") if is_dump(live) else task,
    )


def careless(situation: AppSituation) -> AppSituation:
    """Wants no dump."""
    return dataclasses.replace(situation, desired=dataclasses.replace(situation.desired, dump=None))


def forgetful(situation: AppSituation) -> AppSituation:
    """Remembers nothing that swarm took back."""
    configs = tuple(
        dataclasses.replace(
            live, value=dataclasses.replace(live.value, labels=rest(live.value.labels))
        )
        for live in situation.swarm.configs
    )
    return with_swarm(without_updates(situation), configs=configs)


def rest(labels: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in labels.items() if name not in NOTES}


def without_updates(situation: AppSituation) -> AppSituation:
    """Hears nothing of swarm's updates."""
    services = tuple(
        dataclasses.replace(live, update_state="completed") for live in situation.swarm.services
    )
    return with_swarm(situation, services=services)


def alone(situation: AppSituation) -> AppSituation:
    """Does not see the dump of another step."""
    services = tuple(live for live in situation.swarm.services if not is_dump(live))
    return with_swarm(situation, services=services)


def hurried(situation: AppSituation) -> AppSituation:
    """Retires a login as soon as its service has another, whoever is logged in."""
    cluster = situation.cluster
    if cluster is None or not isinstance(cluster.catalog, Known):
        return without_updates(situation)
    idle = tuple(dataclasses.replace(role, sessions=0) for role in cluster.catalog.value.roles)
    catalog = Known(dataclasses.replace(cluster.catalog.value, roles=idle))
    blind = dataclasses.replace(situation, cluster=dataclasses.replace(cluster, catalog=catalog))
    return without_updates(as_replaced(blind))


def as_replaced(situation: AppSituation) -> AppSituation:
    """Takes every replica that is wanted for one that runs."""
    web = situation.web
    if web is None:
        return situation
    running = list(situation.swarm.running_tasks(web.id))[: web.value.replicas]
    made = [
        dataclasses.replace(running[0], id=f"more-{number}")
        for number in range(web.value.replicas - len(running))
        if running
    ]
    others = [task for task in situation.swarm.tasks if task.service_id != web.id]
    return with_swarm(situation, tasks=(*others, *running, *made))


def violations_of(seed: int, doctrine: Doctrine = DOCTRINE, faults: int = 20) -> list[str]:
    worlds: list[AppWorld] = []
    outcome = run(app_script(seed, faults), doctrine, with_app(seed, worlds))
    worlds[0].judge_end()
    return [*outcome.violations, *worlds[0].violations]


MOST_SEEDS = 60


def catches(mutation: AppMutation, seed: int) -> bool:
    """Whether the history finds the mutated operator out, and has nothing against the true one."""
    found = violations_of(seed, mutation.doctrine)
    return any(mutation.words in text for text in found) and not violations_of(seed)


def seed_that_catches(mutation: AppMutation) -> int | None:
    """The first history that catches it."""
    return next((seed for seed in range(MOST_SEEDS) if catches(mutation, seed)), None)


MUTATIONS = (
    AppMutation(
        "takes a dump that is begun for a good one",
        "without a dump",
        1,
        unverified,
        (plan_dumps, plan_web, plan_anchor),
    ),
    AppMutation(
        "takes no dump", "without a dump", 1, careless, (plan_dumps, plan_web, plan_anchor)
    ),
    AppMutation(
        "tries again what was taken back",
        "is tried again",
        3,
        forgetful,
        (plan_web, plan_anchor, plan_dumps),
    ),
    AppMutation("dumps twice at once", "a second dump", 2, alone, (plan_dumps,)),
    AppMutation("retires a login that is used", "is retired, and", 0, hurried, (plan_logins,)),
    AppMutation("writes over an update", "while swarm updates it", 3, without_updates, (plan_web,)),
)


if __name__ == "__main__":
    for each in MUTATIONS:
        print(f"{seed_that_catches(each)!s:>5}  {each.name}", flush=True)
