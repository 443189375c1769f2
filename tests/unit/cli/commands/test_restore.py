"""``restore`` on a simulated cluster: what it refuses, what it asks for, and what comes of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta

import anyio
import pytest

from queenright.cli.cluster_session import Session
from queenright.cli.commands.backup import back_up_now
from queenright.cli.commands.restore import restore_in_place, the_target
from queenright.cli.exit_codes import USAGE, CommandError
from queenright.core.kinds.postgres_cluster.in_place.note import (
    FORMER,
    RESTORE_REQUEST_LABEL,
    RESTORED_LABEL,
    WantedRestore,
)
from queenright.core.kinds.postgres_cluster.status.conditions import restored_lines
from queenright.core.planning.status import Line
from tests.support.builders import desired
from tests.support.simulated_commands import Act, Stage
from tests.unit.cli.commands.test_backup import staged

CHECK_JOB = "main_restore_check"


def restore(target: str = "", *, is_checked: bool = True, timeline: int = 0) -> Act:
    async def act(live: Session) -> int:
        at = live.ports.clock.now().replace(microsecond=0)
        wanted = WantedRestore(at, target, timeline=timeline)
        return await restore_in_place(
            live,
            wanted,
            is_checked=is_checked and target != FORMER,
            waits=True,
            force=True,
        )

    return act


def lines_of(stage: Stage) -> tuple[Line, ...]:
    swarm = stage.world.store.state()
    return tuple(restored_lines(desired(), swarm, stage.world.clock.now()))


def labels(stage: Stage) -> dict[str, str]:
    return dict(stage.world.store.configs["main_cluster"].value.labels)


def with_a_backup(play: Callable[[Stage], Awaitable[None]]) -> None:
    async def begun(stage: Stage) -> None:
        assert await stage.command(lambda live: back_up_now(live, no_wait=False)) == 0
        await anyio.sleep(60)
        await play(stage)

    staged(begun)


def test_a_cluster_is_restored_and_goes_back() -> None:
    async def play(stage: Stage) -> None:
        asked = await stage.command(restore("lsn 0/3000060"), "restore lsn 0/3000060")
        assert (asked, stage.err.count("refused")) == (0, 0), stage.err
        noted = json.loads(labels(stage)[RESTORED_LABEL])
        (base, *_) = [f"{made:%Y%m%dT%H%M%S}" for made in stage.world.base_backups.made]
        assert (noted["target"], noted["base"]) == ("lsn 0/3000060", base)
        assert (noted["system"], noted["timeline"]) == ("7000000000000000001", 1)
        assert "main_member-1-data on node2" in stage.err
        assert "main is restored: 3 members are well." in stage.out
        assert stage.world.store.service_named(CHECK_JOB) is None
        await anyio.sleep(120)
        assert await stage.command(restore(FORMER)) == 0
        members = [stage.world.service(f"main_member-{n}").value for n in (1, 2, 3)]
        assert {mount.source for mount in members[0].mounts if mount.source} == {
            "main_member-1-data",
            "main_member-1-raft",
        }
        (line,) = (line for line in lines_of(stage) if line.about == "Restored")
        assert ", and left again; the other data are in main_member-1-2" in line.text

    with_a_backup(play)


def test_what_is_not_covered_is_refused_before_anything_is_stopped() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(restore()) == 1
        assert "has no whole base backup" in stage.err
        assert RESTORE_REQUEST_LABEL not in labels(stage)
        assert await stage.command(restore(FORMER)) == 1
        assert "there are no former data" in stage.err
        for n in (1, 2, 3):
            assert stage.world.service(f"main_member-{n}").value.replicas == 1

    staged(play)


def test_a_moment_that_the_last_restore_left_behind_needs_its_timeline() -> None:
    async def play(stage: Stage) -> None:
        now = stage.world.clock.now()
        early = (now - timedelta(seconds=50)).isoformat()
        later = (now - timedelta(seconds=10)).isoformat()
        assert await stage.command(restore(f"time {early}")) == 0
        await anyio.sleep(120)
        assert await stage.command(restore(f"time {later}")) == 1
        assert "add --timeline 1" in stage.err
        assert await stage.command(restore(f"time {later}", timeline=1)) == 0

    with_a_backup(play)


def test_no_member_that_runs_can_ask_the_repository() -> None:
    async def play(stage: Stage) -> None:
        for n in (1, 2, 3):
            stage.world.kill_container(f"main_member-{n}")
        assert await stage.command(restore()) == 1
        assert "can't be restored: member-1 does not run" in stage.err

    with_a_backup(play)


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ({"time": "2026-01-31T11:59:59Z"}, "time 2026-01-31T11:59:59+00:00"),
        ({"time": "2026-01-31T12:59:59.5+01:00"}, "time 2026-01-31T11:59:59.500000+00:00"),
        ({"lsn": "0/3000060"}, "lsn 0/3000060"),
        ({"name": "before_the_upgrade"}, "name before_the_upgrade"),
        ({"to_end": True}, ""),
        ({"former": True}, FORMER),
    ],
)
def test_one_target_is_given(given: dict[str, object], target: str) -> None:
    assert the_target(**everything(given)) == target  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"to_end": True, "former": True},
        {"time": "2026-01-31T11:59:59"},
        {"time": "yesterday"},
        {"lsn": "three"},
        {"name": "a'b"},
    ],
)
def test_any_other_is_the_command_lines_mistake(given: dict[str, object]) -> None:
    with pytest.raises(CommandError) as found:
        the_target(**everything(given))  # type: ignore[arg-type]
    assert found.value.code == USAGE


def everything(given: dict[str, object]) -> dict[str, object]:
    nothing = {"time": None, "lsn": None, "name": None, "to_end": False, "former": False}
    return {**nothing, **given}
