"""``list`` and ``history``, and the commands' own trail beside the operator's."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path

from queenright.adapters.audit.log import AuditLog
from queenright.adapters.system_clock import SystemClock
from queenright.cli.commands import history
from queenright.cli.commands import list as members
from queenright.cli.console import Output
from queenright.core.actions import CreateService
from queenright.core.audit.chain import Record
from queenright.core.audit.record import Done, Trigger
from queenright.core.kinds.postgres_cluster.status.leader_history import Cause
from queenright.core.kinds.registry import key_of
from queenright.core.observed import Observed, TimelineEnd
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import Service
from queenright.engine.planning import PlannedObject, PlannedPass
from tests.support.builders import NOW, document, status, three_nodes
from tests.support.changed import with_member
from tests.support.command_line import start
from tests.support.plans import make_plan
from tests.support.simulated_commands import Stage, on_stage

PLAN = Plan("main", "d", (CreateService(service=Service("main_member-1", "i"), reason="missing"),))


MEASURED = {
    "leader_before": "member-1",
    "leader": "member-2",
    "timeline": 2,
    "cause": "planned",
    "write_gap_ms": 1100,
    "lost_rows": 0,
}


def no_sink(_: Record) -> None:
    """The stream of these trails is read by nobody."""


def surveyed(observed: Observed) -> PlannedPass:
    decision = make_plan(document(), observed, NOW)
    return PlannedPass(
        observed, (PlannedObject(key_of(document()), document(), decision.desired, decision.plan),)
    )


def listed(*surveys: PlannedPass) -> str:
    stream = io.StringIO()
    tables = {f"main{'+' * n}": members.member_tables(s)["main"] for n, s in enumerate(surveys)}
    members.show_tables(Output(stream, is_terminal=False), tables)
    return stream.getvalue()


def test_the_member_table_is_the_contracts_and_nothing_else() -> None:
    lagging = status("member-2", "member-1", lag_bytes=3 << 20)
    assert listed(surveyed(with_member(three_nodes(down={"node4"}), "member-2", lagging))) == (
        "Member    Host        Role     State    TL  Lag in MB\n"
        "member-1  10.77.0.12  Leader   running  1\n"
        "member-2  10.77.0.13  Replica  running  1   3\n"
        "member-3  10.77.0.14           unknown\n"
    )


def test_several_tables_have_their_clusters_names() -> None:
    one = surveyed(three_nodes())
    assert [line for line in listed(one, one).splitlines() if "Cluster" in line] == [
        "Cluster main",
        "Cluster main+",
    ]


def test_history_as_a_table() -> None:
    at = datetime(2026, 11, 20, 22, 0, tzinfo=UTC)
    changes = [
        TimelineEnd(1, 25623960, "no recovery target specified"),
        TimelineEnd(2, (1 << 32) + 255, "no recovery target specified", at, "member-2"),
    ]
    stream = io.StringIO()
    found = [Cause(""), Cause("the lead moves; c.yaml:7", 1210, 2)]
    history.show(Output(stream, is_terminal=False), changes, found, has_trail=True)
    assert stream.getvalue() == (
        "TL  LSN        Reason                        Timestamp                 New Leader  "
        "Write gap            Cause\n"
        "1   0/186FD98  no recovery target specified\n"
        "2   1/FF       no recovery target specified  2026-11-20T22:00:00.000Z  member-2    "
        "1210 ms, 2 rows lost  the lead moves; c.yaml:7\n"
    ).replace("Write gap            Cause", "Write gap             Cause")
    assert history.change_json(changes[1], found[1]) == {
        "tl": 2,
        "lsn": "1/FF",
        "reason": "no recovery target specified",
        "timestamp": "2026-11-20T22:00:00.000Z",
        "new_leader": "member-2",
        "cause": "the lead moves; c.yaml:7",
        "write_gap_ms": 1210,
        "lost_rows": 2,
    }


def test_a_young_cluster_and_a_trail_that_is_elsewhere() -> None:
    stream = io.StringIO()
    history.show(Output(stream, is_terminal=False), [], [], has_trail=False)
    assert stream.getvalue() == "The leader has not changed since the cluster was created.\n"
    stream = io.StringIO()
    change = TimelineEnd(1, 5, "x")
    history.show(Output(stream, is_terminal=False), [change], [Cause("")], has_trail=False)
    assert "No audit trail here: no cause is known." in stream.getvalue()


def test_history_is_asked_of_whoever_answers() -> None:
    async def play(stage: Stage) -> None:
        stage.world.patroni.changes.append(TimelineEnd(9, 5, "x"))
        stage.world.power_cut("node2")

        async def act(live: object) -> int:
            from queenright.cli.cluster_session import Session

            assert isinstance(live, Session)
            changes = await history.history_of(live, await live.look())
            return len([change for change in changes if change.timeline == 9])

        assert await stage.command(act) == 1
        for node in ("node3", "node4"):
            stage.world.power_cut(node)
        await stage.command(act)
        assert "no member returns its history: " in stage.err

    on_stage(play, with_operator=False)


def test_the_commands_trail_is_told_and_verified_with_the_operators(
    tmp_path: Path, manifest: Path
) -> None:
    state = tmp_path / "state"
    by_hand = Trigger("command", "switchover --candidate member-2, by root on node1")
    for directory, trigger in ((state, Trigger("start")), (state / "commands", by_hand)):
        with AuditLog(directory, SystemClock(), no_sink, version="0.1.0") as trail:
            trail.intent(PLAN, trigger, PLAN.actions[0])
            trail.outcome(PLAN, trigger, PLAN.actions[0], Done(), 12)
    with AuditLog(state, SystemClock(), no_sink, version="0.1.0") as trail:
        trail.intent(PLAN, Trigger("start"), PLAN.actions[0])
        trail.measured("main", MEASURED)
    shown = start(tmp_path, "audit", "show").stdout
    assert "missing; switchover --candidate member-2, by root on node1" in shown
    assert "no outcome" in shown, "an outcome of the other chain does not end it"
    said = "member-1 -> member-2 on timeline 2, planned: no write for 1100 ms, 0 acknowledged rows"
    assert said in shown
    times = [line.split()[0] for line in shown.splitlines()[1:]]
    assert times == sorted(times)
    verified = start(tmp_path, "audit", "verify")
    assert verified.returncode == 0, verified.stdout
    assert "commands: sound: 4 records (1 intent, 1 outcome, 1 start, 1 stop)" in verified.stdout
    alone = start(tmp_path, "audit", "verify", str(state))
    assert alone.returncode == 0
    assert "commands: " not in alone.stdout
    assert len(json.loads(start(tmp_path, "audit", "verify", "--json").stdout)["trails"]) == 2
    file = state / "commands" / "audit.jsonl"
    file.write_text(file.read_text().replace('"done"', '"gone"'))
    broken = start(tmp_path, "audit", "verify")
    assert broken.returncode == 1
    assert broken.stdout.startswith(f"{file}:3: seq 3: its content does not match its hash")
    told = json.loads(start(tmp_path, "status", "--json").stdout)["last_actions"]
    assert by_hand.detail in {one.get("trigger", {}).get("detail") for one in told}
