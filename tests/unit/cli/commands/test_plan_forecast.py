"""`plan --forecast` shows the ways of all kinds, with the figures of the cluster's own trail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from queenright.adapters.audit.log import AuditLog
from queenright.adapters.system_clock import SystemClock
from queenright.cli.commands.plan import show_forecast
from queenright.cli.exit_codes import UNREACHABLE
from queenright.cli.read_only import Written
from queenright.core.actions import UpdateService
from queenright.core.audit.chain import Record
from queenright.core.audit.record import Done, Trigger
from queenright.core.kinds.registry import key_of
from queenright.core.manifest.problems import Problem
from queenright.core.planning.plan import Hold, Plan
from queenright.engine.planning import PlannedObject, PlannedPass
from queenright.settings import Settings
from tests.fakes.loading import judged
from tests.support.app_builders import APP_FILE, app_manifest
from tests.support.builders import FILE, MANIFEST, NOW, manifest, three_nodes
from tests.support.command_line import start
from tests.support.plans import make_plan

GRACE = manifest(stopGracePeriod="90s")
PROBLEM = Problem("other.yaml", 7, "spec.lanSubnett", "is not a field here")


def no_sink(_: Record) -> None:
    """The stream of this trail is read by nobody."""


def looked(text: str, more: dict[str, str] | None = None) -> tuple[PlannedPass, Written]:
    documents = judged({FILE: text, **(more or {})}).documents
    observed, views = three_nodes(), []
    for document in documents:
        made = make_plan(document, observed, NOW, documents)
        key = key_of(document)
        views.append(PlannedObject(key, document, made.desired, made.plan))
    return PlannedPass(observed, tuple(views)), Written(documents)


def test_the_text_has_each_step_whom_it_disrupts_and_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_forecast(*looked(GRACE), Settings(state_dir=None), as_json=False)
    said = capsys.readouterr().out
    assert said.startswith("Cluster main  8 steps, 4 of them disrupting\n")
    assert "     disrupts main_member-2: restarts its task\n" in said
    assert "takes an unknown time (the trail has none)" in said
    assert said.endswith("  Then nothing is left to do.\n")


def test_json_has_every_kind_and_null_where_the_trail_has_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found, written = looked(MANIFEST, {APP_FILE: app_manifest()})
    show_forecast(found, written, Settings(state_dir=None), as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert {*shown} == {"clusters", "applications", "files"}
    (app,) = shown["applications"]
    keys = [step["key"] for step in app["steps"] if "key" in step]
    assert "create-network/notes_app" in keys
    assert {step["duration"] for step in app["steps"] if "key" in step} == {None}
    assert app["stops"], "the leader's catalog was not read"
    assert not app["converges"]


def test_figures_come_from_the_clusters_own_trail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found, written) = looked(GRACE)
    action = next(one for one in found.views[0].plan.actions if isinstance(one, UpdateService))
    with AuditLog(tmp_path, SystemClock(), no_sink) as trail:
        for cluster, took_ms in (("main", 30), ("main", 50), ("other", 9000)):
            plan = Plan(cluster, "d", (action,))
            trail.intent(plan, Trigger("timer"), action)
            trail.outcome(plan, Trigger("timer"), action, Done(), took_ms)
    show_forecast(found, written, Settings(state_dir=tmp_path), as_json=True)
    (cluster,) = json.loads(capsys.readouterr().out)["clusters"]
    steps = [step for step in cluster["steps"] if step.get("kind") == "update-service"]
    assert [step["duration"] for step in steps] == [{"median_ms": 40, "records": 2}] * 3
    assert {step["write_gap"] for step in steps} == {None}


def test_a_document_that_can_not_be_planned_now_stays_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found, written = looked(GRACE)
    (view,) = found.views
    odd = Plan("main", "", holds=(Hold("unreadable/main", "a config can't be read"),))
    found = PlannedPass(found.observed, (PlannedObject(view.key, view.document, None, odd),))
    show_forecast(found, written, Settings(state_dir=None), as_json=False)
    said = capsys.readouterr().out
    assert said.startswith("Cluster main  no step, and not as the file says\n")
    assert "- unreadable/main: a config can't be read" in said


def test_a_file_that_is_not_valid_is_named_first(capsys: pytest.CaptureFixture[str]) -> None:
    found, written = looked(GRACE)
    broken = Written(written.documents, (PROBLEM,))
    show_forecast(found, broken, Settings(state_dir=None), as_json=False)
    assert capsys.readouterr().out.startswith("Files  not valid")


def test_without_a_swarm_it_ends_as_plan_does(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(MANIFEST, encoding="utf-8")
    found = start(tmp_path, "plan", str(file), "--forecast")
    assert found.returncode == UNREACHABLE, found.stderr
