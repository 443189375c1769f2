"""`bootstrap` in the file of a new cluster, and of one that has been healthy: it counts once."""

from __future__ import annotations

import anyio
import pytest

from queenright.core.kinds.postgres_cluster import expansion
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

    monkeypatch.setattr(expansion, "with_deployed_restore", as_the_file_says)


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


TARGETS = tuple(f"{{lsn: 0/{number}000060}}" for number in (3, 4, 5))
EDIT_WITHIN_S = 10.0
"""Shorter than a try that fails: no edit waits until the container ends."""


def restored_to(target: str) -> str:
    return manifest(bootstrap=PARENT.replace("cluster: old", f"cluster: old, target: {target}"))


async def corrected_twice() -> tuple[list[float], str, list[str]]:
    """Targets that are not covered, each corrected while the restore fails; return how long each
    edit took to reach the member, and which target was restored."""
    world = World()
    world.store.create_secret(Secret(SECRET))
    world.patroni_model.uncovered |= {"lsn 0/3000060", "lsn 0/4000060"}
    world.manifests.files[FILE] = restored_to(TARGETS[0])
    invariants = Invariants(world)
    world.start_operator(RULESET)
    took = []
    for target in TARGETS[1:]:
        await anyio.sleep(70)
        with anyio.fail_after(120):
            while "is not covered" not in await held(world):  # noqa: ASYNC110  # virtual time
                await anyio.sleep(1)
        world.manifests.write(FILE, restored_to(target))
        began = world.now_s
        with anyio.fail_after(600):
            while target[6:-1] not in wanted_target(world):  # noqa: ASYNC110  # virtual time
                await anyio.sleep(0.5)
        took.append(world.now_s - began)
    await world.until_whole()
    await anyio.sleep(60)
    return took, wanted_target(world), invariants.violations


async def held(world: World) -> str:
    holds = (await holds_now(world))[0]
    return next((hold.reason for hold in holds if hold.key == "restore/main"), "")


def wanted_target(world: World) -> str:
    return world.service("main_member-1").value.environment.get("RESTORE_TARGET", "")


def test_the_target_of_a_restore_that_fails_is_corrected_as_often_as_it_takes() -> None:
    took, target, violations = run_virtual(corrected_twice)
    assert violations == []
    assert target == "lsn 0/5000060"
    assert max(took) < EDIT_WITHIN_S
