"""Output for people: status and plan of built observations, in a pipe and on a terminal."""

from __future__ import annotations

import dataclasses
import io
import json
from datetime import UTC, datetime

import pytest

from queenright.cli import formatting
from queenright.cli.console import Output, print_json
from queenright.cli.read_only import Written
from queenright.core.actions import FieldChange, UpdateService
from queenright.core.kinds.postgres_cluster.status.rows import ClusterStatus, cluster_status
from queenright.core.manifest.problems import Problem
from queenright.core.observed import Known, MemberStatus, Observed, Unknown
from queenright.core.planning.lease import Lease, StoredLease
from queenright.core.planning.plan import Hold, Plan, Refusal
from tests.support.builders import NOW, bare_swarm, desired, document, pinned, three_nodes
from tests.support.plans import make_plan


def seen(observed: Observed) -> ClusterStatus:
    decision = make_plan(document(), observed, NOW)
    return cluster_status("main", decision.desired, decision.plan, observed, NOW)


def shown(
    status: ClusterStatus, refusal: Refusal | None = None, *, on_terminal: bool = False
) -> str:
    stream = io.StringIO()
    out = Output(stream, is_terminal=on_terminal, width=80)
    formatting.show_status(out, "cluster", status, refusal)
    return stream.getvalue()


def with_member(observed: Observed, name: str, **changes: object) -> Observed:
    known = observed.members[name]
    assert isinstance(known, Known)
    status: MemberStatus = dataclasses.replace(known.value, **changes)  # type: ignore[arg-type]
    return dataclasses.replace(observed, members={**observed.members, name: Known(status)})


def test_a_converged_cluster() -> None:
    observed = with_member(three_nodes(), "main_member-2", lag_bytes=3 << 20)
    assert shown(seen(observed)) == (
        "Cluster main  converged\n"
        "Member    Host        Role     State    TL  Lag in MB\n"
        "member-1  10.77.0.12  Leader   running  1\n"
        "member-2  10.77.0.13  Replica  running  1   3\n"
        "member-3  10.77.0.14  Replica  running  1   0\n"
        "\n"
        "Proxy node  Address     Task\n"
        "node2       10.77.0.12  running\n"
        "node3       10.77.0.13  running\n"
        "node4       10.77.0.14  running\n"
    )


def test_a_dead_node_is_unknown_and_never_a_value() -> None:
    said = shown(seen(three_nodes(down={"node3"})))
    assert "member-2  10.77.0.13           unknown" in said
    assert "node3       10.77.0.13  unknown" in said
    assert "- member-2: timed out\n" in said
    assert "- proxy on node3: the node is down\n" in said


def test_a_primary_without_the_lock_is_not_called_leader() -> None:
    row = seen(with_member(three_nodes(), "main_member-1", holds_lock=False)).members[0]
    assert row.role == ""
    assert "does not prove the leader lock" in row.remark


def test_a_replica_whose_lag_nobody_knows() -> None:
    row = seen(with_member(three_nodes(), "main_member-3", lag_bytes=None)).members[2]
    assert row.cells[-1] == "unknown"
    assert row.lag_mb is None


def test_a_bare_swarm_has_everything_to_do() -> None:
    status = seen(bare_swarm())
    said = shown(status)
    assert said.startswith(f"Cluster main  {len(status.plan.actions)} to do")
    assert "member-1  10.77.0.12        unknown" in said
    assert "node2       10.77.0.12  none" in said
    assert "To do\n  - label-node/node2: " in said


def test_a_terminal_gets_colour_and_a_pipe_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    status = seen(three_nodes())
    on_terminal = shown(status, on_terminal=True)
    assert "\x1b[" in on_terminal
    assert "\x1b[" not in shown(status)
    assert "Lag in MB" in on_terminal


def test_no_color_keeps_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    said = shown(seen(three_nodes()), on_terminal=True)
    assert "\x1b[3" not in said
    assert "Leader" in said


SOON = datetime(2026, 1, 1, 12, 0, 5, tzinfo=UTC)
PLAN = Plan(
    "main",
    "d",
    actions=(
        UpdateService(
            id="x",
            version=7,
            service=pinned(desired().services[1]),
            force_update=0,
            reason="its memory limit differs from the file",
            changes=(
                FieldChange("resources.memory_limit_bytes", "2147483648", "4294967296"),
                FieldChange("environment[PGPASSWORD]", "hunter2", "(absent)"),
            ),
            disrupts="main_member-2",
        ),
    ),
    holds=(
        Hold("update-service/main_member-1", "member-1 is the leader", wants_attention=True),
        Hold("update-service/main_member-3", "waits its turn", SOON),
    ),
)


def shown_plan(plan: Plan, refusal: Refusal | None = None) -> str:
    stream = io.StringIO()
    formatting.show_plan(Output(stream, is_terminal=False), "cluster", plan, refusal)
    return stream.getvalue()


def test_a_plan_says_what_why_and_whom_it_disrupts() -> None:
    assert shown_plan(PLAN) == (
        f"Cluster main  1 to do now, 2 held (plan {PLAN.id})\n"
        "  1. update-service/main_member-2\n"
        "     because its memory limit differs from the file\n"
        "     resources.memory_limit_bytes: 2147483648 -> 4294967296\n"
        "     environment[PGPASSWORD]: (hidden) -> (hidden)\n"
        "     disrupts main_member-2: restarts its task\n"
        "  Held\n"
        "  - update-service/main_member-1: member-1 is the leader (needs you)\n"
        "  - update-service/main_member-3: waits its turn"
        " (next check at 2026-01-01T12:00:05.000Z)\n"
    )


def test_a_refused_plan_names_the_guard() -> None:
    said = shown_plan(PLAN, Refusal("leader-is-safe", "main_member-2 holds the leader lock"))
    assert "1 refused, 2 held" in said
    assert "  refused by leader-is-safe: main_member-2 holds the leader lock\n" in said


def test_nothing_to_do() -> None:
    assert shown_plan(Plan("main", "d")) == "Cluster main  nothing to do\n"


def test_a_plan_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(formatting.plan_json(PLAN, None))
    text = capsys.readouterr().out
    assert "hunter2" not in text
    found = json.loads(text)
    assert found["plan_id"] == PLAN.id
    assert found["actions"][0]["disturbs"] == "main_member-2"
    assert found["holds"][1]["recheck_at"] == "2026-01-01T12:00:05.000Z"
    assert found["refusal"] is None


def test_a_cluster_as_json() -> None:
    observed = dataclasses.replace(
        three_nodes(), members={**three_nodes().members, "main_member-3": Unknown("timed out")}
    )
    found = formatting.status_json(seen(observed), None)
    members = found["members"]
    assert isinstance(members, list)
    assert [row["role"] for row in members] == ["Leader", "Replica", None]
    assert members[0] == {
        "member": "member-1",
        "host": "10.77.0.12",
        "role": "Leader",
        "state": "running",
        "tl": 1,
        "lag_mb": None,
        "remark": None,
    }
    assert members[2]["remark"] == "timed out"


def test_invalid_files_and_what_stays_in_force() -> None:
    problem = Problem("/etc/queenright/cluster.yaml", 7, "spec.lanSubnett", "is not a field here")
    stream = io.StringIO()
    formatting.show_problems(Output(stream, is_terminal=False), Written((), (problem,), NOW))
    assert stream.getvalue() == (
        "Files  not valid; the last good state, from 2026-01-01T12:00:00.000Z, stays in force\n"
        "  /etc/queenright/cluster.yaml:7: spec.lanSubnett: is not a field here\n"
    )


def test_nothing_from_outside_drives_the_terminal() -> None:
    stream = io.StringIO()
    Output(stream, is_terminal=True, width=80).line("a\x1b[2Jb\nc\x07")
    assert "\x1b[2J" not in stream.getvalue()
    assert "\x07" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1


AT = "2026-01-31T12:00:05.123456789Z"


@pytest.mark.parametrize(
    ("lease", "line", "acts_on"),
    [
        (
            Lease("p", "node2", term="4"),
            "acts on node2, by its lease of 2026-01-31T12:00:05Z",
            "node2",
        ),
        (Lease("", "node2", term="4"), "none acts: the one on node2 gave its lease up", ""),
    ],
)
def test_which_operator_acts(lease: Lease, line: str, acts_on: str) -> None:
    stored = StoredLease("id", 9, lease, AT)
    assert formatting.lease_line(stored) == line
    told = formatting.lease_json(stored)
    assert told == {"acts_on": acts_on, "term": "4", "renewed_at": AT}
    assert formatting.lease_json(None) is None


def test_dockers_time_without_a_fraction() -> None:
    assert formatting.seconds_of("2026-01-31T12:00:05Z") == "2026-01-31T12:00:05Z"
