"""``backup list``, ``show`` and ``now`` on a simulated cluster, with an operator or without."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import anyio
import pytest

from queenright.cli.commands.backup import back_up_now, show_all, show_one
from queenright.core.kinds.postgres_cluster.backup.note import read_backup_note
from queenright.core.kinds.postgres_cluster.backup.request import REQUEST_LABEL
from queenright.core.swarm.objects import Secret, Service
from tests.fakes.world import World
from tests.support.builders import FILE, MANIFEST, manifest
from tests.support.simulated_commands import Act, Stage, on_stage

REPOSITORY = "repository: {bucket: backups, credentials: main_backup, endpoint: https://s3.example}"
UNSCHEDULED = manifest(backup=f"{{{REPOSITORY}, retention: {{count: 1}}}}")
BACKUP_JOB, LIST_JOB = "main_base_backup", "main_backup_list"


def now(*, no_wait: bool = False) -> Act:
    return lambda live: back_up_now(live, no_wait=no_wait)


def everything(*, in_json: bool = False) -> Act:
    return lambda live: show_all(live, in_json=in_json)


def one(wanted: str, *, in_json: bool = False) -> Act:
    return lambda live: show_one(live, wanted, in_json=in_json)


def with_credentials(world: World) -> None:
    world.store.create_secret(Secret("main_backup"))


def staged(
    play: Callable[[Stage], Awaitable[None]], text: str = UNSCHEDULED, *, with_operator: bool = True
) -> None:
    on_stage(play, text, with_operator=with_operator, prepare=with_credentials)


def request_label(stage: Stage) -> str | None:
    return stage.world.store.configs["main_cluster"].value.labels.get(REQUEST_LABEL)


def noted(stage: Stage) -> str:
    labels = stage.world.store.configs["main_cluster"].value.labels
    return read_backup_note(labels, stage.world.clock.now()).id


def created(stage: Stage, name: str) -> int:
    writes = stage.world.swarm.writes
    return sum(write.kind == "create-service" and write.name == name for write in writes)


def test_a_backup_is_made_when_somebody_asks_for_it_and_never_otherwise() -> None:
    async def play(stage: Stage) -> None:
        await anyio.sleep(300)
        assert stage.world.base_backups.made == []
        assert await stage.command(now(), "backup now") == 0
        (made,) = stage.world.base_backups.made
        assert f"Base backup {made:%Y%m%dT%H%M%S} of member-" in stage.out
        assert "is made since" in stage.out
        assert stage.tried() == ["label-config/main_cluster"]
        triggers = {r.trigger.detail for r in stage.world.audit.intents if r.trigger.detail}
        assert "backup now, by somebody" in triggers
        await anyio.sleep(300)
        assert (len(stage.world.base_backups.made), request_label(stage)) == (1, None)
        assert stage.world.store.service_named(BACKUP_JOB) is None
        assert await stage.command(now()) == 0
        assert len(stage.world.base_backups.made) == 2

    staged(play)


def test_a_request_is_not_waited_for_and_a_second_one_joins_it() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(now(no_wait=True)) == 0
        first = request_label(stage)
        assert first is not None
        await anyio.sleep(5)
        assert await stage.command(now(no_wait=True)) == 0
        assert request_label(stage) == first
        assert stage.tried() == ["label-config/main_cluster"]

    staged(play, with_operator=False)


def test_a_request_waits_for_its_operator_and_is_tried_for_a_day_only() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(now()) == 1
        assert "requested, and not begun after 60 s" in stage.err
        stage.world.start_operator()
        await anyio.sleep(120)
        assert len(stage.world.base_backups.made) == 1
        assert request_label(stage) is None

    async def late(stage: Stage) -> None:
        assert await stage.command(now(no_wait=True)) == 0
        stage.world.clock.skew_s = 24 * 3600.0
        stage.world.start_operator()
        await anyio.sleep(120)
        assert stage.world.base_backups.made == []
        assert request_label(stage) is None

    staged(play, with_operator=False)
    staged(late, with_operator=False)


def test_a_failure_ends_the_command_with_its_cause_and_another_request_does_not_wait() -> None:
    async def play(stage: Stage) -> None:
        stage.world.base_backups.fails = True
        assert await stage.command(now()) == 1
        assert "failed (https://s3.example does not answer; see that it runs)" in stage.err
        stage.world.base_backups.fails = False
        await anyio.sleep(5)
        began_s = stage.world.now_s
        assert await stage.command(now()) == 0
        assert stage.world.now_s - began_s < 120
        assert len(stage.world.base_backups.made) == 1

    staged(play)


def test_a_backup_is_made_when_the_archive_has_its_wal_and_is_waited_for_again() -> None:
    async def play(stage: Stage) -> None:
        jobs = stage.world.base_backups
        jobs.lacks_wal = True
        assert await stage.command(now()) == 1
        assert "can't be restored (WAL file 000000010000000000000004, which it needs" in stage.err
        assert "is made: " not in stage.out
        assert noted(stage) == ""
        assert request_label(stage) is not None
        jobs.lacks_wal = False
        await anyio.sleep(420)
        (made,) = jobs.made
        assert noted(stage) == f"{made:%Y%m%dT%H%M%S}"
        assert request_label(stage) is None

    staged(play)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MANIFEST, "its document has no `backup`"),
        (UNSCHEDULED + "  reconcile: paused\n", "`reconcile: paused`"),
    ],
    ids=["none", "paused"],
)
def test_a_request_that_would_come_to_nothing_is_refused(text: str, words: str) -> None:
    async def play(stage: Stage) -> None:
        stage.text = text
        stage.world.manifests.write(FILE, text)
        await anyio.sleep(30)
        assert await stage.command(now()) == 1
        assert words in stage.err
        assert request_label(stage) is None
        assert stage.tried() == []

    staged(play)


def test_the_operators_reason_to_wait_is_told() -> None:
    async def play(stage: Stage) -> None:
        stage.world.patroni_model.consensus("main").paused = True
        await anyio.sleep(15)
        assert await stage.command(now()) == 1
        assert stage.err.count("and waits (Patroni is paused)") == 1
        assert stage.world.base_backups.made == []

    staged(play)


@pytest.mark.parametrize("with_operator", [True, False])
def test_the_list_comes_from_a_job_that_is_removed(*, with_operator: bool) -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(everything()) == 0
        assert "The repository has no base backup" in stage.out
        stage.world.base_backups.made += [stage.world.clock.now()]
        await anyio.sleep(60)
        stage.world.base_backups.made += [stage.world.clock.now()]
        older, newer = (f"{at:%Y%m%dT%H%M%S}" for at in stage.world.base_backups.made)
        stage.said.seek(0)
        stage.said.truncate()
        assert await stage.command(everything(in_json=True)) == 0
        found = json.loads(stage.out)
        assert found["cluster"] == "main"
        rows = [(row["id"], row["due_for_removal"]) for row in found["backups"]]
        assert rows == [(newer, False), (older, True)]
        assert found["backups"][0]["bytes"] == 123456789
        assert stage.world.store.service_named(LIST_JOB) is None
        assert stage.tried() == [f"create-service/{LIST_JOB}", f"remove-service/{LIST_JOB}"] * 2
        assert await stage.command(everything()) == 0
        lines = stage.out.splitlines()[-2:]
        assert [line.split()[0] for line in lines] == [newer, older]
        assert [line.endswith("due for removal") for line in lines] == [False, True]
        assert await stage.command(one("latest")) == 0
        assert f"Backup     {newer}" in stage.out
        assert await stage.command(one("20200101T000000")) == 64
        assert "has no base backup 20200101T000000" in stage.err

    staged(play, with_operator=with_operator)


def test_a_repository_that_is_away_is_the_commands_error() -> None:
    async def play(stage: Stage) -> None:
        stage.world.archives.away_s = stage.world.now_s
        assert await stage.command(everything()) == 1
        assert "was not read: https://s3.example does not answer; see that it runs" in stage.err
        assert stage.world.store.service_named(LIST_JOB) is None

    staged(play)


def beside_whom(world: World) -> list[tuple[str, ...]]:
    """Return a list that gets the constraints of each job that lists, when it is created."""
    found: list[tuple[str, ...]] = []

    def created(kind: str, what: object) -> None:
        if kind == "create-service" and isinstance(what, Service) and what.name == LIST_JOB:
            found.append(what.constraints)

    world.swarm.before_write.append(created)
    return found


@pytest.mark.parametrize("nodes", [["node3"], ["node3", "node4"]])
def test_where_the_swarm_gives_no_lines_of_a_node_another_member_is_asked(nodes: list[str]) -> None:
    """After an outage the managers may never get a node's lines again, though it is ready."""

    async def play(stage: Stage) -> None:
        world = stage.world
        world.reach.unlogged |= {world.store.node_named(node).id for node in nodes}
        asked = beside_whom(world)
        assert await stage.command(everything()) == 0
        assert "The repository has no base backup" in stage.out
        assert len(asked) == len({*asked}) == len(nodes) + 1
        assert world.store.service_named(LIST_JOB) is None

    staged(play)


def test_a_member_image_without_the_program_is_named() -> None:
    async def play(stage: Stage) -> None:
        stage.world.orchestrator.exit_code = lambda _: 127
        assert await stage.command(everything()) == 1
        assert "was not read: the member image has no backup-list; update the image" in stage.err
        assert stage.world.store.service_named(LIST_JOB) is None

    staged(play)


def test_without_lines_of_any_node_the_cause_and_the_cure_are_told() -> None:
    async def play(stage: Stage) -> None:
        world = stage.world
        world.reach.unlogged |= set(world.store.nodes)
        assert await stage.command(everything()) == 1
        for member in ("member-1", "member-2", "member-3"):
            assert f"{member}: service logs: the swarm gets none from node" in stage.err
        assert "restart Docker's engine there" in stage.err
        assert world.store.service_named(LIST_JOB) is None

    staged(play)


def test_a_job_that_failed_unheard_is_asked_beside_another_member() -> None:
    async def play(stage: Stage) -> None:
        world = stage.world
        world.archives.away_s = world.now_s
        world.reach.unlogged.add(world.store.node_named("node3").id)
        assert await stage.command(everything()) == 1
        assert "was not read: https://s3.example does not answer; see that it runs" in stage.err

    staged(play)


def test_one_list_at_a_time() -> None:
    async def play(stage: Stage) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(stage.command, everything())
            await anyio.sleep(1)
            assert await stage.command(everything()) == 1
            assert f"service {LIST_JOB}: is there already" in stage.err
            assert created(stage, LIST_JOB) == 1

    staged(play)


def test_nothing_is_listed_without_a_repository_or_a_member_that_runs() -> None:
    async def none(stage: Stage) -> None:
        assert await stage.command(everything()) == 1
        assert "was not read: the file has no `backup`" in stage.err
        assert stage.tried() == []

    async def dark(stage: Stage) -> None:
        for node in ("node2", "node3", "node4"):
            stage.world.power_cut(node)
        await anyio.sleep(60)
        assert await stage.command(everything()) == 1
        assert "member-1 does not run" in stage.err
        assert stage.tried() == []

    on_stage(none)
    staged(dark)
