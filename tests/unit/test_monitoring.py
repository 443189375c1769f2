"""The alert rules of docs/monitoring, on the operator's own lines: each fires where it has to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from queenright.adapters.audit.log import AuditLog, log_record
from queenright.core.kinds.postgres_cluster.backup.note import BackupNote, with_backup_note
from queenright.core.kinds.postgres_cluster.drill.note import DrillNote, with_drill_note
from queenright.core.observed import Archiving, Known, Observed, Unknown
from queenright.core.planning.faults import DocumentKey, Fault
from queenright.core.planning.lease import Lease
from queenright.core.planning.plan import Refusal
from queenright.engine.faults import Faults
from queenright.engine.lease import LeaseKeeper
from queenright.engine.planning import PlannedPass
from queenright.engine.tenure import Tenure
from tests.fakes.fake_lease import FakeLease
from tests.fakes.files import FakeAudit
from tests.fakes.swarm_store import SwarmStore
from tests.fakes.virtual_loop import run_virtual
from tests.support.app_builders import (
    behind,
    behind_it,
    edges,
    known,
    served,
    with_edge,
    with_readiness,
)
from tests.support.builders import (
    BACKUP,
    MEMBERS,
    NOW,
    manifest,
    raft_status,
    status,
    swarm_of,
    three_nodes,
)
from tests.support.changed import with_config_labels, with_member, with_raft
from tests.support.log_lines import Line, logged, state_lines
from tests.support.logql import Timed, fires, keys_of
from tests.support.sights import StillTime, cluster_pass, pass_with_app

DOCS = Path(__file__).parents[2] / "docs"
RULES: dict[str, str] = {
    rule["alert"]: rule["expr"]
    for group in yaml.safe_load((DOCS / "monitoring" / "loki-rules.yaml").read_text())["groups"]
    for rule in group["rules"]
}
MINUTES = 70
ARCHIVING = manifest(backup=BACKUP)
DRILLED = manifest(backup=BACKUP[:-1] + ", drill: {node: node4}}")
Minute = Callable[[], list[Line]]


def member(**fields: Any) -> Observed:
    return with_member(three_nodes(), "member-3", status("member-3", "member-1", **fields))


def archive(*, waits: timedelta = timedelta(0), note: BackupNote | None = None) -> Observed:
    seen = three_nodes(text=ARCHIVING)
    state_config = swarm_of(seen).config("main_cluster")
    assert state_config is not None
    made = note or BackupNote(NOW, "20260101T120000", NOW, NOW, 42, "member-3")
    seen = with_config_labels(
        seen, "main_cluster", with_backup_note(state_config.value.labels, made)
    )
    found = Archiving(NOW, is_on=True, last_at=NOW, waiting=1, waiting_since=NOW - waits)
    return dataclasses.replace(seen, archiving={"main": Known(found)})


def failed_drill() -> Observed:
    seen = archive()
    state_config = swarm_of(seen).config("main_cluster")
    assert state_config is not None
    note = DrillNote(failures=1, failed_at=NOW, why="Missing file data.tar")
    return with_config_labels(
        seen, "main_cluster", with_drill_note(state_config.value.labels, note)
    )


def without_quorum() -> Observed:
    seen = three_nodes()
    for name in MEMBERS:
        seen = with_raft(seen, name, raft_status(name, silent=MEMBERS))
    return seen


def without_readiness(*slots: int) -> Observed:
    seen = known(served())
    for slot in slots:
        seen = with_readiness(seen, slot, Unknown("no answer"))
    return seen


def cluster(seen: Observed, text: str = "") -> Minute:
    return lambda: state_lines(cluster_pass(seen, text=text) if text else cluster_pass(seen))


def application(seen: Observed) -> Minute:
    return lambda: of_application(pass_with_app(seen))


def of_application(found: PlannedPass) -> list[Line]:
    """Return an application's lines alone: its cluster here has not noted its database yet."""
    return [line for line in state_lines(found) if line.get("kind") != "cluster"]


def measured(**details: int) -> Minute:
    """The record of a canary, by the operator's own audit trail."""

    def write() -> None:
        AuditLog(None, StillTime(), log_record, version="0").measured("main", details)

    return lambda: logged(write)


def fault() -> list[Line]:
    async def note() -> None:
        Faults().note(DocumentKey("PostgresCluster", "main"), Fault("E", "x.py:1"), "planning")

    return logged(lambda: run_virtual(note))


def standby() -> list[Line]:
    """The line of an operator that has no lease."""
    tenure = Tenure(lambda: 0.0)
    own = Lease(process="p", host="node1")
    keeper = LeaseKeeper(FakeLease(SwarmStore()), own, FakeAudit(), tenure, lambda _: False)
    return state_lines(cluster_pass(), lease=keeper)


OLD = BackupNote(NOW, "old", NOW - timedelta(hours=30), NOW - timedelta(hours=30), 1, "member-3")
FAILED = BackupNote(NOW, "new", NOW, NOW, 1, "member-3", failures=3, failed_at=NOW)
BAD: dict[str, Minute] = {
    "OperatorSilent": list,
    "NobodyActs": standby,
    "SwarmUnreadable": cluster(Observed(Unknown("no answer"), {})),
    "PassesStopped": lambda: state_lines(cluster_pass(), pass_s_ago=300),
    "FilesNotValid": lambda: state_lines(cluster_pass(), problems=["a mistake"]),
    "OperatorFault": fault,
    "NeedsYou": lambda: state_lines(cluster_pass(), {"main": Refusal("quorum", "no")}),
    "NotConverged": cluster(three_nodes(unknown={"member-3"})),
    "NoLeader": cluster(three_nodes(leader="nobody")),
    "TwoLeaders": cluster(member(role="primary", holds_lock=True)),
    "NoQuorum": cluster(without_quorum()),
    "MembersUnwell": cluster(three_nodes(unknown={"member-3"})),
    "ReplicationLag": cluster(member(lag_bytes=1 << 30)),
    "FailoverPaused": cluster(member(paused=True)),
    "ProxiesDown": cluster(three_nodes(down={"node4"})),
    "ArchiveBehind": cluster(archive(waits=timedelta(hours=1)), ARCHIVING),
    "BackupOld": cluster(archive(note=OLD), ARCHIVING),
    "BackupFailing": cluster(archive(note=FAILED), ARCHIVING),
    "DrillFailed": cluster(failed_drill(), DRILLED),
    "RowsLost": measured(lost_rows=3, write_gap_ms=900),
    "LongWriteGap": measured(lost_rows=0, write_gap_ms=90_000),
    "ApplicationDown": application(without_readiness(1, 2)),
    "ReplicasUnready": application(without_readiness(1)),
    "EdgeWaits": lambda: of_application(
        pass_with_app(with_edge(served(behind()), behind(), *edges("node2")), behind())
    ),
}


@cache
def minute(name: str) -> tuple[Line, ...]:
    return tuple(BAD[name]())


@cache
def healthy() -> tuple[Line, ...]:
    lines = [
        *state_lines(cluster_pass()),
        *state_lines(cluster_pass(archive(), text=DRILLED)),
        *of_application(pass_with_app()),
        *of_application(pass_with_app(behind_it(), behind())),
        *measured(lost_rows=0, write_gap_ms=900)(),
    ]
    return tuple(lines)


def history(each_minute: tuple[Line, ...], minutes: int = MINUTES) -> list[Timed]:
    return [(float(at), line) for at in range(minutes) for line in each_minute]


@pytest.mark.parametrize("name", RULES)
def test_a_rule_fires_in_its_situation(name: str) -> None:
    assert fires(RULES[name], history(minute(name)), MINUTES - 1)


@pytest.mark.parametrize("name", RULES)
def test_no_rule_fires_on_what_is_healthy(name: str) -> None:
    assert not fires(RULES[name], history(healthy()), MINUTES - 1)


@pytest.mark.parametrize("name", sorted(RULES.keys() - {"OperatorSilent"}))
def test_a_rule_fires_no_more_when_its_situation_is_over(name: str) -> None:
    lines = history(minute(name))
    later = [(at + MINUTES, line) for at, line in history(healthy())]
    assert not fires(RULES[name], lines + later, 2 * MINUTES - 1)


@pytest.mark.parametrize("name", sorted(RULES.keys() - {"OperatorFault", "OperatorSilent"}))
def test_one_line_of_state_is_no_alert(name: str) -> None:
    lines = [one for one in minute(name) if one["event"] != "audit"]
    recent = [(float(MINUTES - 1), line) for line in lines]
    assert not fires(RULES[name], history(healthy(), MINUTES - 1) + recent, MINUTES - 1)


def test_rules_use_keys_that_are_written() -> None:
    lines = [*healthy(), *(line for name in BAD for line in minute(name))]
    written = {key for line in lines for key in line}
    assert {key for expression in RULES.values() for key in keys_of(expression)} <= written


def test_the_manual_counts_the_rules() -> None:
    assert f"has {len(RULES)} alert rules" in (DOCS / "monitoring.md").read_text()
