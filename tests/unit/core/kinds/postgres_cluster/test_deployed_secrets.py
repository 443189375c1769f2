"""A password's secret with a new name in the file of a running cluster: nothing breaks."""

from __future__ import annotations

import dataclasses

import anyio
import pytest

from queenright.core.observed import Observed
from queenright.core.swarm.objects import CLUSTER_LABEL, FileReference, Secret
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.golden.messages import assert_words
from tests.sim.invariants import Invariants
from tests.support.builders import (
    FILE,
    MEMBERS,
    found_images,
    manifest,
    plan_for,
    summary,
    three_nodes,
)
from tests.support.changed import live, with_service, with_swarm, without

TARGETS = {"superuser": "pg_superuser_pw", "replication": "pg_replication_pw"}
FIELDS = sorted(TARGETS)


def renamed(field: str) -> str:
    return manifest(secrets=f"{{{field}: other_pw}}")


def with_secret(observed: Observed, name: str) -> Observed:
    swarm = observed.swarm.value  # type: ignore[union-attr]
    made = dataclasses.replace(swarm.secrets[0], id=f"id-{name}", value=Secret(name))
    return with_swarm(observed, secrets=(*swarm.secrets, made))


def by_hand(observed: Observed, member: str, field: str) -> Observed:
    """Return a member after ``docker service update --secret-rm … --secret-add …``."""
    service = live(observed, f"main_{member}").value
    changed = [
        dataclasses.replace(file, name="other_pw") if file.target == TARGETS[field] else file
        for file in service.secrets
    ]
    return with_service(observed, service.name, secrets=tuple(sorted(changed)))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("is_there", [False, True])
def test_another_name_changes_nothing_and_says_what_to_do(field: str, is_there: bool) -> None:
    observed = with_secret(three_nodes(), "other_pw") if is_there else three_nodes()
    plan = plan_for(observed, renamed(field))
    assert summary(plan) == ([], [f"rename-secret/main/{field}"])
    (hold,) = plan.holds
    assert hold.wants_attention
    assert_words(hold)
    swap = f"--secret-add source=other_pw,target={TARGETS[field]},uid=999,gid=999,mode=0400"
    assert f"--secret-rm {TARGETS[field]} {swap}" in hold.reason, "a command that people copy"
    assert "volume" not in hold.reason


@pytest.mark.parametrize("field", FIELDS)
def test_another_edit_is_carried_out_with_the_deployed_secret(field: str) -> None:
    text = renamed(field) + "  stopGracePeriod: 90s\n"
    plan = plan_for(three_nodes(), text)
    (action,) = plan.actions
    (file,) = (f for f in action.service.secrets if f.target == TARGETS[field])  # type: ignore[attr-defined]
    assert file.name == TARGETS[field]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("changed", range(1, 4))
def test_while_the_members_are_changed_by_hand_none_is_changed_back(
    field: str, changed: int
) -> None:
    observed = with_secret(three_nodes(), "other_pw")
    for member in MEMBERS[:changed]:
        observed = by_hand(observed, member, field)
    plan = plan_for(observed, renamed(field))
    assert plan.actions == ()
    assert len(plan.holds) == (0 if changed == 3 else 1), "converged once all have it"
    paused = plan_for(observed, renamed(field) + "  reconcile: paused\n")
    assert paused.actions == ()
    assert not any(hold.key.startswith("update-service") for hold in paused.holds)


@pytest.mark.parametrize("field", FIELDS)
def test_a_member_without_a_service_starts_with_the_others_secret(field: str) -> None:
    observed = without(with_secret(three_nodes(), "other_pw"), "main_member-3")
    observed = dataclasses.replace(observed, images=found_images())
    plan = plan_for(observed, renamed(field))
    made = [a for a in plan.actions if a.key == "create-service/main_member-3"]
    for action in made:
        secrets: tuple[FileReference, ...] = action.service.secrets  # type: ignore[attr-defined]
        assert TARGETS[field] in {file.name for file in secrets}
    assert made, "it is made again"


def test_nobody_is_told_to_remove_volumes_where_a_secret_is_missing() -> None:
    observed = without(three_nodes(), *(f"main_{m}" for m in MEMBERS), "pg_superuser_pw")
    swarm = observed.swarm.value  # type: ignore[union-attr]
    former = dataclasses.replace(
        swarm.secrets[0], id="former", value=Secret("former_pw", {CLUSTER_LABEL: "main"})
    )
    plan = plan_for(with_swarm(observed, secrets=(*swarm.secrets, former)))
    (hold,) = (h for h in plan.holds if h.key == "create-secret/pg_superuser_pw")
    assert_words(hold)
    assert "remove" not in hold.reason


@pytest.mark.parametrize("field", FIELDS)
def test_a_running_operator_leaves_every_member_as_it_is(field: str) -> None:
    async def main() -> None:
        world = World()
        invariants = Invariants(world)
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        world.store.create_secret(Secret("other_pw", {}), "another password")
        before = {name: world.service(f"main_{name}").value for name in MEMBERS}
        world.manifests.write(FILE, renamed(field))
        await anyio.sleep(300)
        assert {name: world.service(f"main_{name}").value for name in MEMBERS} == before
        assert invariants.violations == []

    run_virtual(main)
