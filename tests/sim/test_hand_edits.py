"""Damage by hand in the swarm: no document has a fault from it, and every other one goes on."""

from __future__ import annotations

import dataclasses
import os
import random

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.annotations import read_annotations
from queenright.core.kinds.registry import kind_of
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Observed
from queenright.core.planning.plan import Plan
from queenright.ports.errors import PortError
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.app_world import AppWorld
from tests.sim.hand_edits import damaged_settings, damaged_state, edit_by_hand
from tests.sim.seeds import histories, turns
from tests.support.app_builders import app_manifest, behind, behind_it, documents, served
from tests.support.builders import NOW, desired, document, plan_for, swarm_of, three_nodes
from tests.support.changed import live, with_config_labels
from tests.support.plans import make_plan, plan_app_deletion, plan_cluster_deletion

SEEDS = max(250, histories() // 4)
EXTREME = (51000258, 51000318, 51000338, 51000458)
"""Seeds of histories in which a member starts with variables that it can't read, and one in which
somebody asks for 10**15 replicas."""
FIRST = int(os.environ.get("QUEENRIGHT_SIM_SEED", "0"))
SHARDS = 10
NEWER = app_manifest().replace("1.0.100", "1.0.101")
WORLDS: tuple[tuple[tuple[Document, ...], Observed], ...] = (
    (documents(), served()),
    (documents(behind()), behind_it()),
    (documents(NEWER), served()),
    ((document(),), three_nodes()),
)


def damaged(observed: Observed, rng: random.Random) -> tuple[Observed, list[str]]:
    swarm, found = swarm_of(observed), []
    for _ in range(rng.choice((1, 1, 2, 4))):
        swarm, what = damaged_state(swarm, rng)
        found.append(what)
    settings = dict(observed.settings)
    for name, reading in settings.items():
        if isinstance(reading, Known) and rng.random() < 0.4:
            settings[name] = Known(damaged_settings(reading.value, rng))
            found.append("settings")
    return dataclasses.replace(observed, swarm=Known(swarm), settings=settings), found


def use(described: tuple[Document, ...], observed: Observed) -> None:
    """All that a pass and `status` make of an observation; raises what they would."""
    plans: list[Plan] = []
    for one in described:
        made, kind = make_plan(one, observed, NOW, described), kind_of(one)
        kind.status(one.name, made.desired, made.plan, observed, NOW)
        plans.append(made.plan)
        if made.desired is not None:
            list(kind.readiness(made.desired, swarm_of(observed)))
    plans.append(plan_cluster_deletion("main", observed, NOW))
    plans.append(plan_app_deletion("notes", observed, NOW))
    for plan in plans:
        assert plan.id
        refusal = first_refusal(plan, observed)
        assert refusal is None or refusal.fault is None, refusal
    for config in swarm_of(observed).configs:
        read_annotations(config.value.labels)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_nothing_that_people_leave_behind_is_an_exception(shard: int) -> None:
    for seed in range(FIRST + shard, FIRST + SEEDS, SHARDS):
        rng = random.Random(f"hand {seed}")
        described, observed = rng.choice(WORLDS)
        observed, what = damaged(observed, rng)
        try:
            use(described, observed)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {what}") from error


@pytest.mark.parametrize("constraint", ["node.role!=manager", "node.platform.os==linux", "==", "a"])
def test_a_constraint_of_another_form_on_the_edge(constraint: str) -> None:
    observed = behind_it()
    (edge,) = [one for one in swarm_of(observed).services if one.value.name == "notes_edge"]
    value = dataclasses.replace(edge.value, constraints=(constraint,))
    services = tuple(
        dataclasses.replace(one, value=value) if one is edge else one
        for one in swarm_of(observed).services
    )
    swarm = dataclasses.replace(swarm_of(observed), services=services)
    use(documents(behind()), dataclasses.replace(observed, swarm=Known(swarm)))


def test_a_note_that_cannot_be_read_is_told_with_its_label_and_never_its_value() -> None:
    labels = live_labels()
    labels["queenright.leader"] = '["member-1", 1, "2026-01-01T00:00:00"]'
    plan = plan_for(with_config_labels(three_nodes(), "main_cluster", labels))
    (hold,) = [hold for hold in plan.holds if hold.key.startswith("label/")]
    assert hold.key == "label/main_cluster/queenright.leader"
    assert "a JSON list of 38 characters" in hold.reason
    assert "2026-01-01T00:00:00" not in hold.reason


def test_members_that_neither_note_nor_services_tell_are_left_alone() -> None:
    labels = {**live_labels(), "queenright.members": "[" * 5000, "queenright.bootstrapped": "true"}
    observed = with_config_labels(three_nodes(), "main_cluster", labels)
    swarm = swarm_of(observed)
    services = tuple(
        dataclasses.replace(one, value=dataclasses.replace(one.value, constraints=()))
        if one.value.name == "main_member-2"
        else dataclasses.replace(one, value=dataclasses.replace(one.value, labels={}))
        if one.value.name == "main_member-1"
        else one
        for one in swarm.services
    )
    damaged_swarm = dataclasses.replace(swarm, services=services)
    plan = plan_for(dataclasses.replace(observed, swarm=Known(damaged_swarm)))
    assert not plan.actions
    assert "membership/main" in [hold.key for hold in plan.holds]


def live_labels() -> dict[str, str]:
    observed = three_nodes()
    (config,) = [
        one for one in swarm_of(observed).configs if one.value.name == desired().state_config.name
    ]
    assert live(observed, "main_member-1").value.name == "main_member-1"
    return dict(config.value.labels)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*turns(range(8), 3, "by hand"), *EXTREME])
def test_the_operator_goes_on_whatever_people_do_by_hand(seed: int) -> None:
    """Beside the damaged cluster an application; what is damaged is put back by the operator or
    held, and no pass breaks (``no_pass_breaks`` hears of each fault)."""

    async def main() -> None:
        world, rng = World(seed), random.Random(f"by hand {seed}")
        AppWorld(world, random.Random(seed))
        operator = world.start_operator()
        await world.until_whole()
        await anyio.sleep(60)
        for _ in range(25):
            await anyio.sleep(rng.choice((0.3, 3.0, 12.0)))
            try:
                edit_by_hand(world, rng)
            except PortError:
                continue
        await anyio.sleep(30)
        assert not operator.task.done()
        known = operator.loop.passes
        await anyio.sleep(40)
        assert operator.loop.passes > known

    run_virtual(main)
