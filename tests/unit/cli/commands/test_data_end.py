"""``data-end`` on a simulated cluster: members that say it, and jobs for those that do not."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from queenright.cli.commands.data_end import show_ends
from queenright.core.kinds.postgres_cluster.desired.data_end import data_end_job
from queenright.core.swarm.objects import Service
from tests.fakes.volumes import Volume
from tests.support.simulated_commands import Act, Stage, on_stage

JOB = "main_data-end_member-3"
NODE_OF = {"member-1": "node2", "member-2": "node3", "member-3": "node4"}


def ends(*, in_json: bool = False) -> Act:
    return lambda live: show_ends(live, in_json=in_json)


def staged(play: Callable[[Stage], Awaitable[None]], *, with_operator: bool = False) -> None:
    on_stage(play, with_operator=with_operator)


async def without_container(stage: Stage, *members: str) -> None:
    """The containers of these members start no more."""
    for member in members:
        stage.world.orchestrator.doomed[f"main_{member}"] = 0.0
        stage.world.kill_container(f"main_{member}")
    await anyio.sleep(15)


def volume_of(stage: Stage, member: str) -> Volume:
    node = stage.world.store.node_named(NODE_OF[member])
    return stage.world.patroni_model.volumes[node.id, f"main_{member}-data"]


async def found(stage: Stage, code: int = 0) -> dict[str, Any]:
    """Return what the command prints as JSON."""
    stage.said.seek(0)
    stage.said.truncate()
    assert await stage.command(ends(in_json=True), "data-end") == code
    said: dict[str, Any] = json.loads(stage.out)
    return said


def row(said: dict[str, Any], member: str) -> dict[str, Any]:
    return next(one for one in said["members"] if one["member"] == member)


def test_members_that_say_it_are_not_asked_again() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(ends()) == 0
        lines = stage.out.splitlines()
        assert lines[0].split() == ["Member", "Node", "Timeline", "End", "Behind", "Source"]
        assert [line.split()[0] for line in lines[1:4]] == [*NODE_OF]
        assert [line.split()[-1] for line in lines[1:4]] == ["member"] * 3
        assert stage.tried() == []

    staged(play)


@pytest.mark.parametrize("with_operator", [True, False])
def test_the_data_of_one_whose_container_does_not_start_are_read(*, with_operator: bool) -> None:
    async def play(stage: Stage) -> None:
        await without_container(stage, "member-3")
        jobs: list[Service] = []
        stage.world.swarm.before_write.append(
            lambda _, what: jobs.append(what) if isinstance(what, Service) else None
        )
        said = await found(stage)
        volume, read = volume_of(stage, "member-3"), row(said, "member-3")
        assert (read["source"], read["timeline"], read["location"]) == (
            "volume",
            volume.timeline,
            volume.location,
        )
        assert [one["source"] for one in said["members"]] == ["member", "member", "volume"]
        assert stage.tried() == [f"create-service/{JOB}", f"remove-service/{JOB}"]
        assert stage.world.store.service_named(JOB) is None
        (job,) = [job for job in jobs if job.name == JOB]
        node = stage.world.store.node_named("node4")
        assert f"node.id=={node.id}" in job.constraints
        assert read["behind_bytes"] > 0
        assert stage.leader in said["furthest"]
        assert "member-3" not in said["furthest"]
        assert f"{read['behind_bytes']} bytes of {stage.leader}" in said["conclusion"]
        assert f"with {stage.leader} nothing is lost" in said["conclusion"]
        triggers = {r.trigger.detail for r in stage.world.audit.intents if r.trigger.detail}
        assert "data-end, by somebody" in triggers

    staged(play, with_operator=with_operator)


def test_after_the_loss_of_all_each_volume_is_read_side_by_side() -> None:
    async def play(stage: Stage) -> None:
        await without_container(stage, *NODE_OF)
        began_s = stage.world.now_s
        said = await found(stage)
        assert stage.world.data_ends.at_once == 3
        assert stage.world.now_s - began_s < 20
        assert {one["source"] for one in said["members"]} == {"volume"}
        furthest = max(volume_of(stage, name).location for name in NODE_OF)
        top = [name for name in NODE_OF if volume_of(stage, name).location == furthest]
        assert said["furthest"] == top
        assert all(row(said, name)["behind_bytes"] == 0 for name in top)

    staged(play)


def test_a_node_that_is_off_is_not_known_and_less_is_never_said() -> None:
    async def play(stage: Stage) -> None:
        stage.world.power_cut("node4")
        await anyio.sleep(60)
        assert await stage.command(ends()) == 1
        assert "not known (its node node4 is down)" in stage.out
        last = stage.out.splitlines()[-1]
        assert last.startswith("Of those that are known, ")
        assert "what only member-3 has is lost" in last
        assert stage.tried() == []

    staged(play)


def test_an_older_image_and_damaged_data_are_named() -> None:
    async def older(stage: Stage) -> None:
        await without_container(stage, "member-3")
        stage.world.data_ends.is_older = True
        why = row(await found(stage, 1), "member-3")["why"]
        assert why.startswith("its image has no data-end; ")
        assert stage.world.store.service_named(JOB) is None

    async def damaged(stage: Stage) -> None:
        await without_container(stage, "member-3")
        volume = volume_of(stage, "member-3")
        volume.is_broken, volume.damage = True, "no-control-file"
        why = row(await found(stage, 1), "member-3")["why"]
        assert why == "its data directory is damaged (no-control-file)"

    staged(older)
    staged(damaged)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "timeline 2, WAL position 5 (0/5), database 7",
        '{"system": "7", "timeline": 2, "location"',
        '{"system": "7", "timeline": -2, "location": 5, "history": ""}',
        '{"system": "7", "timeline": true, "location": 5, "history": ""}',
        '{"why": "nobody knows"}',
    ],
)
def test_a_line_that_is_not_whole_is_no_position(text: str) -> None:
    async def play(stage: Stage) -> None:
        await without_container(stage, "member-3")
        stage.world.data_ends.says = text or " "
        read = row(await found(stage, 1), "member-3")
        assert (read["timeline"], read["location"], read["source"]) == (None, None, None)
        assert "not all of them" in read["why"]
        assert stage.world.store.service_named(JOB) is None

    staged(play)


def test_no_answer_within_a_minute_is_not_known() -> None:
    async def play(stage: Stage) -> None:
        await without_container(stage, "member-3")
        stage.world.data_ends.takes_s = 200
        why = row(await found(stage, 1), "member-3")["why"]
        assert why == "no answer within 60 s: the job still reads"
        await anyio.sleep(5)
        assert stage.world.store.service_named(JOB) is None

    staged(play)


def test_a_second_command_leaves_the_firsts_job_alone() -> None:
    async def play(stage: Stage) -> None:
        await without_container(stage, "member-3")
        async with anyio.create_task_group() as group:
            group.start_soon(stage.command, ends())
            await anyio.sleep(1)
            assert await stage.command(ends()) == 1
            assert f"not known (service {JOB}: is there already" in stage.out
        assert stage.out.count("  volume") == 1

    staged(play)


def test_a_command_that_is_ended_removes_its_jobs() -> None:
    async def play(stage: Stage) -> None:
        await without_container(stage, "member-2", "member-3")
        store = stage.world.store
        for after_s in (0.001, 0.01, 0.03, 0.1, 0.3, 1, 3):
            with anyio.move_on_after(after_s):
                await stage.command(ends())
            left = [live.value.name for live in store.services.values()]
            assert not [name for name in left if "data-end" in name], after_s
            await anyio.sleep(5)
        made = [key for key in stage.tried() if key.startswith("create-service/")]
        assert made
        assert sum(key.startswith("remove-service/") for key in stage.tried()) == len(made)

    staged(play)


def test_the_operator_removes_a_job_that_a_killed_command_left() -> None:
    async def play(stage: Stage) -> None:
        await without_container(stage, "member-3")
        store = stage.world.store
        live = store.service_named("main_member-3")
        assert live is not None
        node = store.node_named("node4")
        store.create_service(data_end_job("main", "member-3", live.value, node.id))
        await anyio.sleep(540)
        assert store.service_named(JOB) is not None
        await anyio.sleep(120)
        assert store.service_named(JOB) is None

    staged(play, with_operator=True)


def test_data_of_another_database_are_named_and_not_compared() -> None:
    async def play(stage: Stage) -> None:
        await without_container(stage, "member-2", "member-3")
        volume_of(stage, "member-3").system = 7222
        said = await found(stage)
        own = volume_of(stage, "member-2").system
        assert said["furthest"] == []
        assert f"different databases (member-2: {own}; member-3: 7222)" in said["conclusion"]
        assert {one["behind_bytes"] for one in said["members"]} == {None}

    staged(play)


def test_a_volume_without_data_has_nothing_to_lose() -> None:
    async def play(stage: Stage) -> None:
        await without_container(stage, "member-3")
        volume_of(stage, "member-3").empty()
        assert await stage.command(ends()) == 0
        assert "no data" in stage.out
        assert "with member-3" not in stage.out

    staged(play)
