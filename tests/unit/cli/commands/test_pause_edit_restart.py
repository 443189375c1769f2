"""``pause``, ``resume``, ``edit-config`` and ``restart`` on a simulated cluster."""

from __future__ import annotations

from typing import Any

import anyio
import click
import pytest
from click.testing import CliRunner

from queenright.cli import prompts
from queenright.cli.commands.edit_config import (
    assigned,
    change_settings,
)
from queenright.cli.commands.pause import set_pause
from queenright.cli.commands.restart import restart_member
from queenright.cli.exit_codes import CommandError
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY
from tests.fakes.verbs import VerbFaults
from tests.support.builders import manifest
from tests.support.simulated_commands import Act, Stage, on_stage

NEEDS_RESTART = assigned("postgresql.parameters.max_prepared_transactions=9")


def pausing(*, paused: bool, force: bool = True) -> Act:
    return lambda live: set_pause(live, paused=paused, force=force)


def changing(patch: dict[str, Any] | None, *, force: bool = True) -> Act:
    return lambda live: change_settings(live, patch, force=force)


def restarting(member: str, *, force: bool = True) -> Act:
    return lambda live: restart_member(live, member, force=force)


def test_a_pause_and_its_end() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(pausing(paused=True), "pause") == 0
        assert stage.settings.get("pause") is True
        assert PAUSE_KEY not in stage.settings
        assert "Every member agrees: Patroni is paused." in stage.out
        assert "the operator never lifts a pause that was set by hand" in stage.out
        await anyio.sleep(60)
        assert stage.settings.get("pause") is True, "the operator leaves it"
        assert await stage.command(pausing(paused=True)) == 0
        assert "paused already, by hand" in stage.out
        assert await stage.command(pausing(paused=False, force=False), "resume") == 0
        assert not stage.settings.get("pause")
        assert "Every member agrees: Patroni is resumed." in stage.out
        assert await stage.command(pausing(paused=False)) == 0
        assert "Patroni is not paused." in stage.out
        assert stage.tried() == ["pause/main", "resume/main"]

    on_stage(play)


def test_members_that_never_agree_are_named() -> None:
    async def play(stage: Stage) -> None:
        stage.world.power_cut("node4")
        await anyio.sleep(30)
        assert await stage.command(pausing(paused=True)) == 1
        assert stage.settings.get("pause") is True
        assert "member-3 does not answer" in stage.err
        assert "not every member agrees after 25s" in stage.err

    on_stage(play, with_operator=False)


def test_without_a_quorum_nothing_is_asked_for() -> None:
    async def play(stage: Stage) -> None:
        stage.world.power_cut("node3")
        stage.world.power_cut("node4")
        await anyio.sleep(60)
        assert await stage.command(pausing(paused=True)) == 1
        assert "no member that answers has a Raft quorum" in stage.err
        assert stage.count("patch") == 0

    on_stage(play, with_operator=False)


def test_a_lost_answer_to_a_pause_is_settled_by_looking() -> None:
    async def play(stage: Stage) -> None:
        stage.world.patroni.faults = VerbFaults(answer_lost=1.0)
        assert await stage.command(pausing(paused=True)) == 0
        assert stage.count("patch") == 1
        assert "The answer was lost" in stage.err

    on_stage(play, with_operator=False)


def test_a_lost_race_is_told() -> None:
    async def play(stage: Stage) -> None:
        stage.world.patroni.faults = VerbFaults(conflict=1.0)
        assert await stage.command(pausing(paused=True)) == 1
        assert await stage.command(changing({"ttl": 40})) == 1
        assert "(409)" in stage.err

    on_stage(play, with_operator=False)


def test_a_pause_that_the_file_asks_for_comes_back() -> None:
    async def play(stage: Stage) -> None:
        await anyio.sleep(30)
        assert stage.settings.get(PAUSE_KEY) == "promotion"
        assert await stage.command(pausing(paused=False, force=False)) == 64
        assert "the operator will pause Patroni again" in stage.out
        assert stage.settings.get("pause") is True
        assert stage.tried() == []

    on_stage(play, manifest(promotion="paused"))


def test_a_setting_that_the_file_does_not_own() -> None:
    async def play(stage: Stage) -> None:
        patch = assigned("postgresql.parameters.log_min_duration_statement=250")
        assert await stage.command(changing(patch)) == 0
        assert ("postgresql.parameters.log_min_duration_statement: (absent) -> 250\n") in stage.out
        await anyio.sleep(60)
        section: Any = stage.settings["postgresql"]
        assert section["parameters"]["log_min_duration_statement"] == 250
        assert await stage.command(changing(patch)) == 0
        assert "Nothing to change." in stage.out
        assert stage.tried() == ["edit-config/main"]

    on_stage(play)


def test_a_setting_that_the_file_owns_is_marked_and_comes_back() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(changing({"ttl": 40})) == 0
        assert "ttl: 30 -> 40  (the file owns it)" in stage.out
        assert "The operator restores what the file owns" in stage.err
        await anyio.sleep(60)
        assert stage.settings["ttl"] == 30

    on_stage(play)


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"pause": True}, "use `queenright pause`"),
        (
            {PAUSE_KEY: None, "queenright_route": "x"},
            "queenright_route: is the operator's own key",
        ),
        ({"ttl": float("nan")}, "none that JSON knows"),
        ({"x": {"y": object()}}, "none that JSON knows"),
    ],
)
def test_what_may_not_be_edited(patch: dict[str, Any], said: str) -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(changing(patch)) == 64
        assert said in stage.err
        assert stage.tried() == []

    on_stage(play, with_operator=False)


def test_an_edit_in_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "sed -i -e s/^loop_wait:.*/loop_wait:\\ 9/ -e /^retry_timeout/d")

    async def play(stage: Stage) -> None:
        assert await stage.command(changing(None)) == 0
        assert "loop_wait: 10 -> 9  (the file owns it)" in stage.out
        assert "retry_timeout: 10 -> (absent)" in stage.out
        assert stage.settings["loop_wait"] == 9
        assert "retry_timeout" not in stage.settings
        monkeypatch.setenv("VISUAL", "true")
        assert await stage.command(changing(None)) == 0
        assert "Nothing to change." in stage.out

    on_stage(play, with_operator=False)


def test_a_restart_only_where_one_is_pending() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(restarting("member-2")) == 0
        assert "No parameter of member-2 waits" in stage.out
        assert await stage.command(restarting("nobody")) == 64
        await stage.command(
            changing({"postgresql": {"parameters": {"max_prepared_transactions": 9}}})
        )
        await anyio.sleep(20)
        assert await stage.command(restarting("member-2", force=False)) == 64
        assert "member-2 waits for a restart: max_prepared_transactions" in stage.out
        assert await stage.command(restarting("member-2")) == 0
        assert "member-2 runs again after " in stage.out
        assert await stage.command(restarting("member-1")) == 0
        assert "member-1 is the leader: nobody can write while it restarts" in stage.err
        assert stage.tried().count("restart-postgres/main_member-1") == 1
        assert stage.leader == "member-1"

    on_stage(play, with_operator=False)


def test_a_restart_that_would_leave_too_few() -> None:
    async def play(stage: Stage) -> None:
        await stage.command(
            changing({"postgresql": {"parameters": {"max_prepared_transactions": 9}}})
        )
        await anyio.sleep(20)
        stage.world.power_cut("node4")
        await anyio.sleep(5)
        for member in ("member-1", "member-2"):
            assert await stage.command(restarting(member)) == 1
            assert f"{member} is not restarted now: member-3 does not answer" in stage.err
        assert stage.count("restart") == 0

    on_stage(play, with_operator=False)


@pytest.mark.parametrize(("typed", "goes_on"), [("member-2\n", True), ("member2\n", False)])
def test_a_name_is_typed_in_full(
    monkeypatch: pytest.MonkeyPatch, typed: str, *, goes_on: bool
) -> None:
    command = click.Command(
        "ask", callback=lambda: prompts.confirm_by_name("?", "member-2", force=False)
    )
    monkeypatch.setattr(prompts, "is_terminal", lambda: True)
    result = CliRunner().invoke(command, [], typed, standalone_mode=False)
    assert isinstance(result.exception, CommandError) is not goes_on
    assert "Type member-2 to go on" in result.stderr
