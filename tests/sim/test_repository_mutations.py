"""Operators that lose the repository on a volume: the guard refuses their plans, and without the
guards the simulation sees it.

An edit that is allowed has each of them do it: another node in the file, another limit of memory,
the field taken out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from queenright.core.actions import UpdateService
from queenright.core.kinds.postgres_cluster import deployed
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.rules import repository
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes.virtual_loop import run_virtual
from tests.sim.mutations import Step, after, ruleset_with
from tests.sim.test_backup import SECRET, Scene
from tests.sim.test_backup_volume import NAME, WITH, names
from tests.support.builders import BACKUP_ON_VOLUME, manifest

VOLUME = f"{NAME}-data"
ELSEWHERE = manifest(backup=BACKUP_ON_VOLUME.replace("node: node1", "node: node4"))
MEMORY = manifest(backup=BACKUP_ON_VOLUME.replace("node: node1", "node: node1, memory: 2G"))
UNGUARDED = dataclasses.replace(RULESET, guards=())
STAYS = "repository-stays"


async def edited(text: str, ruleset: Ruleset = RULESET) -> Scene:
    """A cluster with a repository on node1, and a further edit of its file."""
    scene = await Scene().begin(SECRET, ruleset=ruleset)
    await scene.edit(WITH)
    assert scene.world.archives.places == [("node1", VOLUME)]
    await scene.edit(text, wait_s=400)
    return scene


def refusals(scene: Scene) -> set[str]:
    return {record.refusal.guard for record in scene.world.audit.refusals}


def is_left(scene: Scene) -> bool:
    """Return True if WAL goes to a volume without the backups that are there."""
    return len(scene.world.archives.places) > 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ELSEWHERE, id="node"),
        pytest.param(MEMORY, id="memory", marks=pytest.mark.slow),
        pytest.param(manifest(), id="without"),
    ],
)
def test_the_true_operator_leaves_the_backups_nowhere(text: str) -> None:
    scene = run_virtual(lambda: edited(text))
    assert not is_left(scene)
    assert refusals(scene) == set()
    if text == MEMORY:
        assert scene.world.service(NAME).value.resources.memory_limit_bytes == 2 << 30
    assert scene.invariants.violations == []


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not look where the deployed repository is, and goes by the file."""
    monkeypatch.setattr(deployed, "deployed_repository", lambda *_: None)


@pytest.mark.slow
@pytest.mark.usefixtures("forgetful")
def test_one_that_moves_it_by_an_edit_is_refused() -> None:
    scene = run_virtual(lambda: edited(ELSEWHERE))
    assert STAYS in refusals(scene)
    assert not is_left(scene)


@pytest.mark.slow
@pytest.mark.usefixtures("forgetful")
def test_one_that_moves_it_by_an_edit_is_caught_without_the_guard() -> None:
    kept = tuple(guard for guard in RULESET.guards if guard.__name__ != "repository_stays")
    assert len(kept) == len(RULESET.guards) - 1
    scene = run_virtual(lambda: edited(ELSEWHERE, dataclasses.replace(RULESET, guards=kept)))
    assert scene.world.archives.places == [("node1", VOLUME), ("node4", VOLUME)]


def with_another_volume(_: ClusterState, step: Step) -> Step:
    """Each rollout of the repository has a new volume, as a restore in place gives the members."""
    if not isinstance(step, UpdateService) or step.service.name != NAME:
        return step
    mounts = tuple(
        dataclasses.replace(mount, source=f"{mount.source}-2") if mount.kind == "volume" else mount
        for mount in step.service.mounts
    )
    return dataclasses.replace(step, service=dataclasses.replace(step.service, mounts=mounts))


def renewing(*, guarded: bool) -> Ruleset:
    rules = tuple(
        after(rule, with_another_volume) if rule is repository.plan_repository else rule
        for rule in POSTGRES_CLUSTER.rules
    )
    assert rules != POSTGRES_CLUSTER.rules
    return ruleset_with(rules, RULESET.guards if guarded else ())


@pytest.mark.slow
def test_one_that_gives_it_another_volume_is_refused_and_caught_without_guards() -> None:
    guarded = run_virtual(lambda: edited(MEMORY, renewing(guarded=True)))
    assert STAYS in refusals(guarded)
    assert not is_left(guarded)
    unguarded = run_virtual(lambda: edited(MEMORY, renewing(guarded=False)))
    assert is_left(unguarded)


def nobody(*_: object) -> Iterator[str]:
    yield from ()


@pytest.mark.slow
def test_one_that_removes_it_while_members_archive_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repository, "members_at", nobody)
    scene = run_virtual(lambda: edited(manifest()))
    assert refusals(scene)
    assert NAME in names(scene.world)


@pytest.mark.slow
def test_one_that_removes_it_while_members_archive_is_caught_without_guards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repository, "members_at", nobody)
    scene = run_virtual(lambda: edited(manifest(), UNGUARDED))
    assert any("remove-service" in text for text in scene.invariants.violations)
