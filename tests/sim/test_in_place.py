"""Restores in place: all members stop, and begin anew on volumes of their own; whatever ends in
between, none of the former members runs beside a new one, and no volume goes."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping
from datetime import timedelta

import anyio
import pytest

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.in_place import decision
from queenright.core.kinds.postgres_cluster.in_place.note import (
    FORMER,
    RESTORE_REQUEST_LABEL,
    RESTORED_LABEL,
    RestoreRequest,
    WantedRestore,
    with_request,
)
from queenright.core.kinds.postgres_cluster.rules import in_place
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, Service
from tests.fakes.virtual_loop import run_virtual
from tests.sim.history import LEISURELY
from tests.sim.seeds import turns
from tests.sim.test_base_backups import REPOSITORY, Scene
from tests.support.builders import FILE, MEMBERS, NODE_OF, manifest

WITH_BACKUP = manifest(backup=f"{{{REPOSITORY}, retention: {{count: 3}}}}")
SERVICES = tuple(f"main_{name}" for name in MEMBERS)


def ask(scene: Scene, target: str = "") -> WantedRestore:
    """Write the request as the command does."""
    store = scene.world.store
    live, at = store.configs["main_cluster"], scene.world.clock.now().replace(microsecond=0)
    wish = WantedRestore(at, target, timeline=1)
    labels = with_request(live.value.labels, RestoreRequest(wish))
    store.label_config(live.id, live.version, dataclasses.replace(live.value, labels=labels))
    scene.invariants.restore_is_wanted = True
    return wish


def labels_of(scene: Scene) -> dict[str, str]:
    return dict(scene.world.store.configs["main_cluster"].value.labels)


def data_volume(service: Service) -> str:
    return next(mount.source for mount in service.mounts if "pgdata" in mount.target)


def judge_generations(scene: Scene) -> None:
    """Note each start of a member while a container on data of another generation is there."""

    def check(kind: str, what: object) -> None:
        if kind != "create-service" or not isinstance(what, Service) or what.name not in SERVICES:
            return
        own = data_volume(what).removeprefix(what.name)
        for name in SERVICES:
            for task in scene.world.containers(name):
                other = data_volume(task.template).removeprefix(name)
                if other != own:
                    scene.invariants.violated(f"{what.name} starts beside {name} on {other}")

    def before(kind: str, what: object) -> object:
        check(kind, what)
        return lambda: None

    scene.world.swarm.before_write.append(before)  # type: ignore[arg-type]


def is_restored(labels: Mapping[str, str]) -> bool:
    return RESTORE_REQUEST_LABEL not in labels and BOOTSTRAPPED_LABEL in labels


async def until_restored(scene: Scene, limit_s: float = 1800) -> None:
    with anyio.fail_after(limit_s):
        while not is_restored(labels_of(scene)):  # noqa: ASYNC110  # virtual time
            await anyio.sleep(1)
    await scene.world.until_whole()
    await anyio.sleep(60)


async def whole() -> Scene:
    scene = await Scene().begin(WITH_BACKUP)
    judge_generations(scene)
    await anyio.sleep(60)
    return scene


async def there_and_back() -> tuple[Scene, list[list[str]], list[dict[str, str]]]:
    scene = await whole()
    volumes, labels = [], list[dict[str, str]]()
    for target in ("lsn 0/3000060", FORMER):
        volumes.append([data_volume(scene.world.service(name).value) for name in SERVICES])
        ask(scene, target)
        await until_restored(scene)
        labels.append(labels_of(scene))
    volumes.append([data_volume(scene.world.service(name).value) for name in SERVICES])
    return scene, volumes, labels


def test_a_cluster_begins_anew_on_other_volumes_and_can_go_back() -> None:
    scene, (before, anew, back), labels = run_virtual(there_and_back)
    assert scene.invariants.violations == []
    assert back == before
    assert not {*anew} & {*before}
    kept = {source for _, source in scene.world.patroni_model.volumes}
    assert kept >= {*before, *anew}
    assert RESTORED_LABEL in labels[0]
    assert len(scene.made) == 1, "a base backup of the new timeline is made at once"


async def begun_anew() -> tuple[dict[str, str], list[str]]:
    """The first member's variables while the cluster begins anew, and the volumes by then."""
    scene = await whole()
    ask(scene, "time 2026-01-01T00:00:00+00:00")
    with anyio.fail_after(300):
        while RESTORED_LABEL not in labels_of(scene):  # noqa: ASYNC110  # virtual time
            await anyio.sleep(0.2)
    await until_restored(scene)
    service = scene.world.service("main_member-1").value
    return dict(service.environment), scene.invariants.violations


def test_the_first_member_restores_from_the_clusters_own_repository() -> None:
    environment, violations = run_virtual(begun_anew)
    assert violations == []
    found = {k: v for k, v in environment.items() if k.startswith("RESTORE_")}
    assert found == {
        "RESTORE_URL": "s3://backups/main",
        "RESTORE_ENDPOINT": "https://s3.example",
        "RESTORE_REGION": "us-east-1",
        "RESTORE_TARGET": "time 2026-01-01 00:00:00+00:00",
        "RESTORE_TIMELINE": "1",
        "RESTORE_IN_PLACE": "yes",
    }


async def disrupted(seed: int) -> Scene:
    """Deaths of the operator, power cuts and edits between the steps of a restore."""
    rng, scene = random.Random(seed), await whole()
    world = scene.world
    ask(scene, rng.choice(("", "lsn 0/3000060")))
    for _ in range(rng.randint(1, 4)):
        await anyio.sleep(rng.uniform(0.1, 25))
        match rng.choice(("kill", "kill", "power", "no backup")):
            case "kill":
                await scene.operator.kill()
                await anyio.sleep(rng.uniform(0, 60))
                scene.operator = world.start_operator(RULESET, LEISURELY)
            case "power":
                node = rng.choice(sorted(NODE_OF.values()))
                world.power_cut(node)
                await anyio.sleep(rng.uniform(1, 90))
                world.power_on(node)
            case _:
                world.manifests.write(FILE, manifest())
                await anyio.sleep(rng.uniform(1, 90))
                world.manifests.write(FILE, WITH_BACKUP)
    await anyio.sleep(60)
    if RESTORED_LABEL not in labels_of(scene) and RESTORE_REQUEST_LABEL not in labels_of(scene):
        ask(scene)
    await until_restored(scene)
    return scene


@pytest.mark.parametrize(
    "seed",
    [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in turns(range(2, 20), 3, "in place"))],
)
def test_it_ends_well_whatever_ends_in_between(seed: int) -> None:
    scene = run_virtual(lambda: disrupted(seed))
    assert scene.invariants.violations == []
    volumes = {data_volume(scene.world.service(name).value) for name in SERVICES}
    assert all("t" in volume.removeprefix("main_member-") for volume in volumes)


async def removed_and_added() -> tuple[Scene, str]:
    """A member goes after a restore, and comes again; return its volume."""
    scene = await whole()
    ask(scene)
    await until_restored(scene)
    assert scene.invariants.violations == []  # which knows the file's first members only
    line = next(line for line in WITH_BACKUP.splitlines(keepends=True) if "member-3" in line)
    alone = WITH_BACKUP.replace(line, "") + "  acknowledge: [noFailover, evenMembers]\n"
    scene.world.manifests.write(FILE, alone)
    with anyio.fail_after(1800):
        while scene.world.store.service_named("main_member-3"):  # noqa: ASYNC110  # virtual time
            await anyio.sleep(5)
    scene.world.manifests.write(FILE, WITH_BACKUP)
    with anyio.fail_after(1800):
        while not scene.world.store.service_named("main_member-3"):  # noqa: ASYNC110
            await anyio.sleep(5)
    await scene.world.until_whole()
    return scene, data_volume(scene.world.service("main_member-3").value)


def test_a_member_that_comes_again_gets_no_volume_from_before_the_restore() -> None:
    scene, volume = run_virtual(removed_and_added)
    own = data_volume(scene.world.service("main_member-1").value)
    assert volume.removeprefix("main_member-3") == own.removeprefix("main_member-1")
    assert volume != "main_member-3-data"


async def not_while(node: str) -> tuple[Scene, list[str]]:
    """A restore that is asked for while a node is down: nothing is stopped."""
    scene = await whole()
    scene.world.power_cut(node)
    await anyio.sleep(120)
    ask(scene)
    await anyio.sleep(300)
    running = [name for name in SERVICES if scene.world.containers(name)]
    await anyio.sleep(timedelta(minutes=20).total_seconds())
    return scene, running


def test_nothing_is_stopped_while_a_node_is_down_and_the_request_ends() -> None:
    scene, running = run_virtual(lambda: not_while("node3"))
    assert len(running) >= 2
    assert RESTORED_LABEL not in labels_of(scene)
    assert RESTORE_REQUEST_LABEL not in labels_of(scene)


def hasty(state: ClusterState, request: RestoreRequest, key: str) -> Iterator[AnyAction | Hold]:
    """Steps that do not wait until the members have stopped."""
    services = decision.member_services(state)
    if services:
        yield in_place.removal(services[0])
        return
    yield from STEPS(state, request, key)


STEPS = in_place.steps_anew


async def hastened(monkeypatch: pytest.MonkeyPatch, ruleset: Ruleset) -> Scene:
    scene = await Scene().begin(WITH_BACKUP, ruleset)
    judge_generations(scene)
    await anyio.sleep(60)
    monkeypatch.setattr(in_place, "steps_anew", hasty)
    ask(scene)
    await anyio.sleep(300)
    return scene


def test_an_operator_that_removes_members_that_run_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = run_virtual(lambda: hastened(monkeypatch, RULESET))
    assert all(scene.world.containers(name) for name in SERVICES)
    assert scene.invariants.violations == []


@pytest.mark.slow
def test_without_its_guards_it_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    unguarded = dataclasses.replace(RULESET, guards=())
    scene = run_virtual(lambda: hastened(monkeypatch, unguarded))
    assert any("remove-service" in text for text in scene.invariants.violations)
