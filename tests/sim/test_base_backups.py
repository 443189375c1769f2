"""Base backups by a schedule: made when due, one at a time, whatever ends in between."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import datetime

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.backup.note import BackupNote
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.swarm.objects import Secret
from tests.fakes.running_operator import Operator
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import LEISURELY
from tests.sim.invariants import Invariants
from tests.sim.mutations import seeing
from tests.sim.one_edit import holds_now
from tests.support.builders import FILE, NODE_OF, manifest

REPOSITORY = "repository: {bucket: backups, credentials: main_backup, endpoint: https://s3.example}"
JOB = "main_base_backup"


def scheduled(schedule: str = "*/5 * * * *", **more: str) -> str:
    backup = f"{{{REPOSITORY}, schedule: '{schedule}', retention: {{count: 3}}}}"
    return manifest(backup=backup, **more)


@dataclass
class Scene:
    """A whole cluster with a schedule, and what its backups did."""

    world: World = field(default_factory=World)
    invariants: Invariants = field(init=False)
    operator: Operator = field(init=False)

    async def begin(self, text: str | None = None, ruleset: Ruleset = RULESET) -> Scene:
        self.world.store.create_secret(Secret("main_backup"))
        self.invariants = Invariants(self.world)
        self.world.manifests.write(FILE, text or scheduled())
        self.operator = self.world.start_operator(ruleset, LEISURELY)
        await self.world.until_whole()
        return self

    @property
    def made(self) -> list[datetime]:
        return self.world.base_backups.made

    async def made_more(self, limit_s: float = 1200) -> datetime:
        """Wait for the next backup."""
        before = len(self.made)
        with anyio.fail_after(limit_s):
            while len(self.made) == before:  # noqa: ASYNC110  # virtual time
                await anyio.sleep(1)
        return self.made[-1]

    async def working(self) -> str:
        """Wait until a job works; return the name of its node."""
        with anyio.fail_after(1500):
            while not self.world.containers(JOB):  # noqa: ASYNC110  # virtual time
                await anyio.sleep(0.5)
        return self.world.store.nodes[self.world.containers(JOB)[0].node_id].name

    async def holds(self) -> dict[str, str]:
        found = (await holds_now(self.world))[0]
        return {hold.key: hold.reason for hold in found if hold.key.startswith("backup/")}

    def judged(self) -> None:
        assert self.invariants.violations == []
        assert self.world.base_backups.at_once == 1


async def by_the_clock() -> Scene:
    scene = await Scene().begin()
    await scene.made_more()
    made = await scene.made_more()
    assert made.minute % 5 == 0
    await anyio.sleep(60)
    assert scene.world.store.service_named(JOB) is None
    return scene


def test_the_first_is_made_at_once_and_each_further_one_when_it_is_due() -> None:
    scene = run_virtual(by_the_clock)
    scene.judged()
    assert len(scene.made) == 2


async def beside_whom(text: str) -> tuple[str, str]:
    scene = await Scene().begin(text)
    node, leader = await scene.working(), scene.world.leader()
    assert leader is not None
    return node, NODE_OF[leader.name]


def test_a_replica_is_copied_unless_the_file_wants_the_leader() -> None:
    node, leader = run_virtual(lambda: beside_whom(scheduled()))
    assert node != leader
    wanted = scheduled().replace("schedule:", "from: leader, schedule:")
    node, leader = run_virtual(lambda: beside_whom(wanted))
    assert node == leader


async def operator_dies() -> Scene:
    scene = await Scene().begin()
    await scene.made_more()
    await scene.working()
    await scene.operator.kill()
    await anyio.sleep(120)
    assert len(scene.made) == 2
    scene.world.start_operator(RULESET, LEISURELY)
    await anyio.sleep(30)
    assert scene.world.store.service_named(JOB) is None
    return scene


def test_a_backup_in_progress_survives_the_operators_death_and_is_not_made_again() -> None:
    scene = run_virtual(operator_dies)
    scene.judged()
    assert len(scene.made) == 2


async def note_is_lost() -> Scene:
    scene = await Scene().begin(scheduled("0 0 * * *"))
    await scene.made_more()
    await anyio.sleep(60)
    live = scene.world.store.configs["main_cluster"]
    kept = {k: v for k, v in live.value.labels.items() if k != "queenright.last-backup"}
    scene.world.store.label_config(
        live.id, live.version, dataclasses.replace(live.value, labels=kept)
    )
    await anyio.sleep(120)
    assert "queenright.last-backup" in scene.world.store.configs["main_cluster"].value.labels
    return scene


def test_the_repository_says_what_is_there_where_the_note_is_lost() -> None:
    scene = run_virtual(note_is_lost)
    scene.judged()
    assert len(scene.made) == 1


async def promoted() -> tuple[Scene, list[dict[str, str]]]:
    """The replica that is copied becomes the leader meanwhile."""
    scene = await Scene().begin()
    await scene.made_more()
    world = scene.world
    node = await scene.working()
    name = next(member for member, place in NODE_OF.items() if place == node)
    world.patroni_model.switch_over("main", name)
    await anyio.sleep(60)
    told = [await scene.holds()]
    await scene.made_more()
    await anyio.sleep(60)
    return scene, [*told, await scene.holds()]


@pytest.mark.slow
def test_a_backup_that_a_switchover_ends_is_told_and_begun_again() -> None:
    scene, told = run_virtual(promoted)
    assert "became the leader meanwhile" in told[0]["backup/main/base"]
    assert "backup/main/base" not in told[1]
    assert scene.world.base_backups.at_once == 1


@pytest.mark.parametrize(
    "field",
    [
        pytest.param({"reconcile": "paused"}, id="paused"),
        pytest.param({"promotion": "paused"}, id="promotion", marks=pytest.mark.slow),
    ],
)
def test_none_is_begun_in_a_paused_cluster(field: dict[str, str]) -> None:
    async def quiet() -> int:
        scene = await Scene().begin()
        await scene.made_more()
        scene.world.manifests.write(FILE, scheduled(**field))
        await anyio.sleep(700)
        return len(scene.made)

    assert run_virtual(quiet) == 1


@pytest.mark.slow
def test_a_node_that_loses_its_power_ends_its_backup_and_another_one_is_made() -> None:
    async def power_cut() -> Scene:
        scene = await Scene().begin()
        await scene.made_more()
        node = await scene.working()
        scene.world.power_cut(node)
        await anyio.sleep(120)
        scene.world.power_on(node)
        await scene.made_more()
        return scene

    run_virtual(power_cut).judged()


class Forgetful(ClusterState):
    """Forgets each backup that was made."""

    @property
    def backup_note(self) -> BackupNote:
        return dataclasses.replace(super().backup_note, done=None, begun=None)


async def jobs_created(ruleset: Ruleset) -> int:
    scene = await Scene().begin(scheduled("0 0 * * *"), ruleset=ruleset)
    await anyio.sleep(240)
    return sum(
        write.kind == "create-service" and write.name == JOB for write in scene.world.swarm.writes
    )


@pytest.mark.slow
def test_an_operator_that_forgets_its_backups_is_caught() -> None:
    assert run_virtual(lambda: jobs_created(RULESET)) == 1
    assert run_virtual(lambda: jobs_created(seeing(Forgetful))) > 2


class MaintenanceBlind(ClusterState):
    """Does not see which nodes are in maintenance."""

    @property
    def maintained(self) -> tuple[str, ...]:
        return ()


async def made_in_maintenance(ruleset: Ruleset) -> int:
    scene = await Scene().begin(ruleset=ruleset)
    await scene.made_more()
    scene.world.manifests.write(FILE, scheduled(maintenance="{nodes: [node3]}"))
    await anyio.sleep(700)
    return len(scene.made)


@pytest.mark.slow
def test_an_operator_that_sees_no_maintenance_is_caught() -> None:
    assert run_virtual(lambda: made_in_maintenance(RULESET)) == 1
    assert run_virtual(lambda: made_in_maintenance(seeing(MaintenanceBlind))) > 1
