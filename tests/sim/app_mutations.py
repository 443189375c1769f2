"""Operators that are worse at an application's versions and passwords: what its histories catch.

As in ``mutations``; rules take what they know from functions here, so a mutated operator is given
a situation, or a catalog, that is not as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from queenright.core.actions import AnyAction
from queenright.core.kinds.kind import Rule as AppRule
from queenright.core.kinds.notes_app.desired.dump_job import DUMP_ROLE
from queenright.core.kinds.notes_app.rules.annotations import plan_annotations
from queenright.core.kinds.notes_app.rules.dumps import plan_dumps
from queenright.core.kinds.notes_app.rules.login_roles import plan_logins
from queenright.core.kinds.notes_app.rules.web import plan_web
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.kinds.notes_app.upgrade.rollback import NOTES
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.observed import Known, LiveService, SwarmState, Task
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import ROLE_LABEL
from tests.sim.app_world import AppWorld, app_script, with_app
from tests.sim.until_caught import Watch, is_caught

Step = AnyAction | Hold
Eyes = Callable[[AppState], AppState]


@dataclass(frozen=True)
class AppMutation:
    """``words`` are in the violation by which it is caught; ``seed`` is of a history that does."""

    name: str
    words: str
    seed: int
    eyes: Eyes
    rules: tuple[AppRule, ...]
    """The rules of the operator with these eyes."""

    @property
    def ruleset(self) -> Ruleset:
        mutated = tuple(
            with_eyes(self.eyes, rule) if rule in self.rules else rule
            for rule in RULESET.rules["NotesApp"]
        )
        return dataclasses.replace(RULESET.with_rules("NotesApp", mutated), guards=())


def with_eyes(eyes: Eyes, rule: AppRule) -> AppRule:
    def mutated(state: AppState) -> Iterator[Step]:
        yield from rule(eyes(state))

    return mutated


def seeing_tasks(state: AppState, change: Callable[[LiveService, Task], Task]) -> AppState:
    services = {live.id: live for live in state.swarm.services}
    tasks = (
        change(services[task.service_id], task) if task.service_id in services else task
        for task in state.swarm.tasks
    )
    return with_swarm(state, tasks=tuple(tasks))


def with_swarm(state: AppState, **fields: object) -> AppState:
    swarm: SwarmState = dataclasses.replace(state.swarm, **fields)  # type: ignore[arg-type]
    return dataclasses.replace(state, swarm=swarm)


def is_dump(live: LiveService) -> bool:
    return live.value.labels.get(ROLE_LABEL) == DUMP_ROLE


def unverified(state: AppState) -> AppState:
    """Take a dump that was begun for one that was finished and read back."""
    return seeing_tasks(
        state,
        lambda live, task: dataclasses.replace(task, state="complete") if is_dump(live) else task,
    )


def careless(state: AppState) -> AppState:
    """Wants no dump."""
    return dataclasses.replace(state, desired=dataclasses.replace(state.desired, dump=None))


def forgetful(state: AppState) -> AppState:
    """Remembers nothing that swarm took back."""
    configs = tuple(
        dataclasses.replace(
            live, value=dataclasses.replace(live.value, labels=rest(live.value.labels))
        )
        for live in state.swarm.configs
    )
    return with_swarm(without_updates(state), configs=configs)


def rest(labels: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in labels.items() if name not in NOTES}


def without_updates(state: AppState) -> AppState:
    """Hears nothing of swarm's updates."""
    services = tuple(
        dataclasses.replace(live, update_state="completed") for live in state.swarm.services
    )
    return with_swarm(state, services=services)


def alone(state: AppState) -> AppState:
    """Does not see the dump of another step."""
    services = tuple(live for live in state.swarm.services if not is_dump(live))
    return with_swarm(state, services=services)


def hurried(state: AppState) -> AppState:
    """Retires a login as soon as its service has another, whoever is logged in."""
    cluster = state.cluster
    if cluster is None or not isinstance(cluster.catalog, Known):
        return without_updates(state)
    idle = tuple(dataclasses.replace(role, sessions=0) for role in cluster.catalog.value.roles)
    catalog = Known(dataclasses.replace(cluster.catalog.value, roles=idle))
    observed = dataclasses.replace(cluster.observed, catalogs={cluster.desired.name: catalog})
    blind = dataclasses.replace(state, cluster=dataclasses.replace(cluster, observed=observed))
    return without_updates(as_replaced(blind))


def as_replaced(state: AppState) -> AppState:
    """Take every desired replica for one that runs."""
    web = state.web
    if web is None:
        return state
    running = list(state.swarm.running_tasks(web.id))[: web.value.replicas]
    made = [
        dataclasses.replace(running[0], id=f"more-{number}")
        for number in range(web.value.replicas - len(running))
        if running
    ]
    others = [task for task in state.swarm.tasks if task.service_id != web.id]
    return with_swarm(state, tasks=(*others, *running, *made))


def app_watch(seed: int) -> Watch:
    """Return a watch that puts an application into its world, and judges it."""
    worlds: list[AppWorld] = []

    def judge_end() -> None:
        worlds[0].judge_end()

    return Watch(
        with_app(seed, worlds),
        lambda: [text for app in worlds for text in app.violations],
        judge_end,
    )


FAULTS = 20
MOST_SEEDS = 60


def catches(mutation: AppMutation, seed: int) -> bool:
    """Return True if the history fails for the mutated operator, and not for the true one."""
    script, watches = app_script(seed, FAULTS), (app_watch(seed), app_watch(seed))
    return is_caught(mutation.words, script, mutation.ruleset, *watches)


def seed_that_catches(mutation: AppMutation) -> int | None:
    """The first history that catches it."""
    return next((seed for seed in range(MOST_SEEDS) if catches(mutation, seed)), None)


MUTATIONS = (
    AppMutation(
        "takes a dump that is begun for a good one",
        "without a dump",
        1,
        unverified,
        (plan_dumps, plan_web, plan_annotations),
    ),
    AppMutation(
        "takes no dump", "without a dump", 1, careless, (plan_dumps, plan_web, plan_annotations)
    ),
    AppMutation(
        "tries again what was taken back",
        "is tried again",
        3,
        forgetful,
        (plan_web, plan_annotations, plan_dumps),
    ),
    AppMutation("dumps twice at once", "a second dump", 2, alone, (plan_dumps,)),
    AppMutation("retires a login that is used", "is retired, and", 0, hurried, (plan_logins,)),
    AppMutation("writes over an update", "while swarm updates it", 5, without_updates, (plan_web,)),
)


if __name__ == "__main__":
    for each in MUTATIONS:
        print(f"{seed_that_catches(each)!s:>5}  {each.name}", flush=True)
