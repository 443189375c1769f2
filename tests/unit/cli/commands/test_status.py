"""`status` shows what is live while no file is valid; reminders are notes, and no holds."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from queenright.cli import formatting, read_only
from queenright.cli.commands import status as command
from queenright.cli.console import Output
from queenright.core.kinds.notes_app.status.rows import app_status
from queenright.core.kinds.postgres_cluster.status import rows
from queenright.core.kinds.postgres_cluster.status.rows import ClusterStatus
from queenright.core.kinds.registry import key_of
from queenright.core.manifest.problems import Problem
from queenright.core.observed import Observed
from queenright.core.planning.plan import Hold, Plan
from queenright.engine.live_look import live_look
from queenright.engine.planning import PlannedObject, status_of
from queenright.settings import Settings
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.app_world import AppWorld
from tests.support.app_builders import documents, served
from tests.support.builders import NOW, desired, document, plan_for, three_nodes
from tests.support.plans import make_plan

PROBLEM = Problem("/etc/queenright/cluster.yaml", 7, "spec.lanSubnett", "is not a field here")


def deployed(*, silent: bool = False) -> Observed:
    """A look at a cluster with an application, whatever the files say."""

    async def main() -> Observed:
        world = World()
        AppWorld(world, random.Random(1))
        operator = world.start_operator()
        await world.until_whole()
        await anyio.sleep(120)
        await operator.kill()
        if silent:
            world.partition("node4")
        return await live_look(world.ports)

    return run_virtual(main)


def shown(seen: command.Seen) -> str:
    stream = io.StringIO()
    command.show(Output(stream, is_terminal=False, width=120), seen)
    return stream.getvalue()


def test_what_is_live_is_shown_without_a_valid_file_and_its_problem_first() -> None:
    seen = command.seen_live(deployed(), read_only.Written((), (PROBLEM,)), ())
    text = shown(seen)
    assert text.startswith("Files  not valid, and there is no last good state here\n")
    assert "Cluster main  as it is; not compared, since the files are not valid" in text
    assert text.index("cluster.yaml:7") < text.index("Cluster main")
    rows = [line.split() for line in text.splitlines() if line.startswith("member-")]
    assert [row[0] for row in rows] == ["member-1", "member-2", "member-3"]
    assert sorted(row[2] for row in rows) == ["Leader", "Replica", "Replica"]
    assert "node2       10.77.0.12  running" in text
    assert "Application notes  as it is" in text
    assert "notes:" in text
    assert "Held" not in text
    found = seen.as_json()
    clusters = found["clusters"]
    assert isinstance(clusters, list)
    assert clusters[0]["converged"] is None
    assert clusters[0]["plan"]["holds"] == []
    assert clusters[0]["members"][0]["member"] == "member-1"


def test_a_member_that_does_not_answer_is_unknown_in_a_live_look() -> None:
    seen = command.seen_live(deployed(silent=True), read_only.Written((), (PROBLEM,)), ())
    (cluster, _), *_ = seen.found["PostgresCluster"]
    assert isinstance(cluster, ClusterStatus)
    assert cluster.members[2].state == "unknown"
    assert cluster.members[2].remark


def test_the_command_takes_the_live_look_when_no_file_is_valid(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    observed = three_nodes()
    monkeypatch.setattr(read_only, "take_live_look", lambda _: observed)
    file = tmp_path / "cluster.yaml"
    file.write_text("kind: PostgresCluster\nspec: [\n")
    seen = command.take_look(Settings(state_dir=None, manifests=file), None)
    assert [cluster.name for cluster, _ in seen.found["PostgresCluster"]] == ["main"]
    assert seen.written.problems


def test_reminders_are_notes_of_one_line_and_a_converged_application_holds_nothing() -> None:
    observed = served()
    (app,) = [one for one in documents() if one.kind == "NotesApp"]
    made = make_plan(app, observed, NOW, documents())
    found = app_status("notes", made.desired, made.plan, observed)
    stream = io.StringIO()
    formatting.show_status(Output(stream, is_terminal=False, width=400), "application", found, None)
    text = stream.getvalue()
    assert "converged" in text
    assert "Held" not in text
    annotations = text.partition("Notes\n")[2].splitlines()
    assert [line.split(":")[0] for line in annotations] == ["  - key/notes"]


def test_notes_are_counted_by_nobody() -> None:
    note = Hold("password/main/shop", "not compared here", is_informational=True)
    plan = replace(plan_for(three_nodes()), holds=(note,))
    assert plan.held == ()
    assert formatting.plan_json(plan, None)["notes"] == [
        {"key": "password/main/shop", "reason": "not compared here"}
    ]
    assert formatting.plan_summary(plan, None) == "nothing to do"


def test_rows_that_fail_are_told_and_keep_nobody_elses_from_being_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> None:
        raise IndexError("a secret")

    monkeypatch.setattr(rows, "member_row", fails)
    view = PlannedObject(key_of(document()), document(), desired(), Plan("main", "x"))
    found = status_of(view, three_nodes(), NOW)
    (hold,) = found.holds
    assert hold.key == "fault/PostgresCluster/main"
    assert "IndexError" in hold.reason
    assert "a secret" not in hold.reason
