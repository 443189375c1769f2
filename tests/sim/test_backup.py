"""`backup` on a running cluster: put in, taken out, and without the secret that it names."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.swarm.objects import Secret, Service
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import LEISURELY
from tests.sim.invariants import Invariants
from tests.sim.mutations import seeing
from tests.sim.one_edit import holds_now
from tests.support.builders import BACKUP, FILE, MEMBERS, NODE_OF, manifest

WITH = manifest(backup=BACKUP)
SECRET = "main_backup"


@dataclass
class Scene:
    """A whole cluster and the file's owner."""

    world: World = field(default_factory=World)
    invariants: Invariants = field(init=False)

    async def begin(self, *secrets: str, ruleset: Ruleset = RULESET) -> Scene:
        for name in secrets:
            self.world.store.create_secret(Secret(name))
        self.invariants = Invariants(self.world)
        self.world.start_operator(ruleset, LEISURELY)
        await self.world.until_whole()
        await anyio.sleep(60)
        return self

    async def edit(self, text: str, wait_s: float = 240) -> list[str]:
        """Write the file and wait; return what the operator asked of Patroni."""
        before = len(self.world.patroni.verbs)
        self.world.manifests.write(FILE, text)
        await anyio.sleep(wait_s)
        return [verb for _, verb in self.world.patroni.verbs[before:]]

    def modes(self) -> set[str]:
        """The archive_mode with which the members' servers were started."""
        found = self.world.patroni_model.of_cluster("main")
        return {instance.running["archive_mode"] for instance in found}

    def services(self) -> list[Service]:
        return [self.world.service(f"main_{name}").value for name in MEMBERS]


async def there_and_back() -> Scene:
    scene = await Scene().begin(SECRET)
    before = scene.services()
    asked = await scene.edit(WITH)
    assert asked.count("switchover") == 1
    assert scene.world.is_whole()
    assert scene.modes() == {"always"}
    for service in scene.services():
        assert service.environment["BACKUP_URL"] == "s3://backups/main"
        assert SECRET in {file.name for file in service.secrets}
    asked = await scene.edit(manifest())
    assert asked.count("switchover") == 1
    assert scene.world.is_whole()
    assert scene.modes() == {"off"}
    assert [s.environment for s in scene.services()] == [s.environment for s in before]
    assert [s.secrets for s in scene.services()] == [s.secrets for s in before]
    return scene


def test_the_field_is_put_in_and_taken_out_with_one_switchover_each() -> None:
    assert run_virtual(there_and_back).invariants.violations == []


class SecretBlind(ClusterState):
    """Takes every secret that the file names for made."""

    @property
    def missing_given_secrets(self) -> tuple[str, ...]:
        return ()


async def modes_wanted_without_the_secret(ruleset: Ruleset) -> object:
    """The archive_mode that Patroni keeps while the secret is missing, and that its next restart of
    PostgreSQL, in a container without the secret, would apply."""
    scene = await Scene().begin(ruleset=ruleset)
    await scene.edit(WITH, wait_s=40)
    settings = scene.world.patroni_model.consensus("main").settings
    return settings["postgresql"]["parameters"]["archive_mode"]


@pytest.mark.slow
def test_an_operator_that_writes_the_settings_without_the_secret_is_caught() -> None:
    blind = seeing(SecretBlind, guards=None)
    assert run_virtual(lambda: modes_wanted_without_the_secret(blind)) == "always"
    assert run_virtual(lambda: modes_wanted_without_the_secret(RULESET)) == "off"


async def without_the_secret() -> Scene:
    scene = await Scene().begin()
    before = scene.services()
    assert await scene.edit(WITH) == []
    assert scene.services() == before
    held = [hold.key for hold in (await holds_now(scene.world))[0]]
    assert f"secret/{SECRET}" in held
    scene.world.store.create_secret(Secret(SECRET))
    await anyio.sleep(240)
    assert scene.world.is_whole()
    assert scene.modes() == {"always"}
    return scene


def test_nothing_is_changed_until_the_secret_is_there() -> None:
    """A server that archived without its credentials would keep all of its WAL."""
    assert run_virtual(without_the_secret).invariants.violations == []


async def holds_of(world: World) -> list[tuple[str, bool]]:
    """The holds about backups that the operator has told in its last pass."""
    return [(h.key, h.wants_attention) for h in (await holds_now(world))[0] if "backup" in h.key]


async def repository_away() -> tuple[Scene, list[list[tuple[str, bool]]]]:
    """The repository answers nobody for ten minutes; meanwhile the leader loses its power."""
    scene = await Scene().begin(SECRET)
    await scene.edit(WITH)
    world, told = scene.world, [await holds_of(scene.world)]
    world.archives.away_s = world.now_s
    await anyio.sleep(240)
    told.append(await holds_of(world))
    await anyio.sleep(360)
    told.append(await holds_of(world))
    leader = world.leader()
    assert leader is not None
    world.power_cut(NODE_OF[leader.name])
    await anyio.sleep(90)
    world.power_on(NODE_OF[leader.name])
    world.archives.away_s = None
    await anyio.sleep(60)
    told.append(await holds_of(world))
    assert world.is_whole()
    return scene, told


def test_a_repository_that_is_away_is_told_after_five_minutes_and_until_it_is_back() -> None:
    scene, told = run_virtual(repository_away)
    assert told == [[], [], [("backup/main", True)], []]
    assert scene.invariants.violations == []


async def without_credentials_in_the_container() -> list[list[tuple[str, bool]]]:
    """An outsider takes the secret out of the leader's container."""
    scene = await Scene().begin(SECRET)
    await scene.edit(WITH)
    world, leader = scene.world, scene.world.leader()
    assert leader is not None
    scene.world.manifests.write(FILE, manifest(backup=BACKUP, reconcile="paused"))
    await anyio.sleep(20)
    kept = [f for f in world.service(leader.service).value.secrets if f.name != SECRET]
    world.change_service(leader.service, secrets=tuple(kept))
    await anyio.sleep(120)
    world.patroni_model.switch_over("main", leader.name)
    await anyio.sleep(420)
    told = [await holds_of(world)]
    world.manifests.write(FILE, WITH)
    await anyio.sleep(240)
    return [*told, await holds_of(world)]


@pytest.mark.slow
def test_a_leader_that_lacks_its_credentials_is_told_and_mended() -> None:
    assert run_virtual(without_credentials_in_the_container) == [[("backup/main", True)], []]
