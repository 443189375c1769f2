"""`bootstrap` in the file of a new cluster, and of one that has been healthy: it counts once."""

from __future__ import annotations

import anyio
import pytest

from queenright.core.kinds.postgres_cluster import planner
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.ruleset import RULESET
from queenright.core.observed import SwarmState
from queenright.core.swarm.objects import Secret, Service
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.invariants import Invariants
from tests.sim.one_edit import PARENT, holds_now
from tests.support.builders import FILE, MEMBERS, manifest

SECRET = "main_backup"
WITH = manifest(bootstrap=PARENT)
LATER = WITH.replace("cluster: old", "cluster: older, target: {lsn: 0/3000060}")


def services(world: World) -> list[Service]:
    return [world.service(f"main_{name}").value for name in MEMBERS]


async def restored() -> tuple[World, Invariants]:
    """A whole cluster that began from a backup, after it had waited for the secret."""
    world = World()
    world.manifests.files[FILE] = WITH
    invariants = Invariants(world)
    world.start_operator(RULESET)
    await anyio.sleep(60)
    assert f"secret/{SECRET}" in {hold.key for hold in (await holds_now(world))[0]}
    assert not [s for s in world.store.services.values() if "member" in s.value.name]
    world.store.create_secret(Secret(SECRET))
    await world.until_whole()
    await anyio.sleep(60)
    return world, invariants


async def edited_afterwards() -> tuple[list[Service], list[list[Service]], list[str]]:
    """The members' services once it is whole, and after each edit; and all that went wrong."""
    world, invariants = await restored()
    before, after = services(world), list[list[Service]]()
    for text in (LATER, manifest(), WITH):
        world.manifests.write(FILE, text)
        await anyio.sleep(240)
        after.append(services(world))
    held = [f"held: {hold.key}" for hold in (await holds_now(world))[0]]
    return before, after, [*invariants.violations, *held]


def test_a_cluster_begins_once_and_no_edit_of_that_restarts_a_member() -> None:
    before, after, violations = run_virtual(edited_afterwards)
    assert [service.environment.get("RESTORE_URL") for service in before] == [
        "s3://backups/old",
        None,
        None,
    ]
    assert after == [before] * 3
    assert violations == []


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator that takes what the first member was restored with for drift."""

    def as_the_file_says(desired: DesiredCluster, _: SwarmState) -> DesiredCluster:
        return desired

    monkeypatch.setattr(planner, "with_deployed_restore", as_the_file_says)


@pytest.mark.slow
@pytest.mark.usefixtures("forgetful")
def test_an_operator_that_would_restart_a_member_for_it_is_caught() -> None:
    *_, violations = run_virtual(edited_afterwards)
    assert "held: update-service/main_member-1" in violations


async def put_in_later() -> tuple[list[Service], list[Service], list[str]]:
    world = World()
    world.store.create_secret(Secret(SECRET))
    world.start_operator(RULESET)
    await world.until_whole()
    await anyio.sleep(60)
    before = services(world)
    world.manifests.write(FILE, WITH)
    await anyio.sleep(240)
    news = [hold.key for hold in (await holds_now(world))[0] if hold.is_informational]
    return before, services(world), news


def test_a_cluster_with_data_stays_as_it_is_and_says_so() -> None:
    before, after, news = run_virtual(put_in_later)
    assert after == before
    assert news == ["restore/main"]
