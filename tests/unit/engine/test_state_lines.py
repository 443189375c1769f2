"""The lines `operator` and `state`: their values, their documented keys, and their moments."""

from __future__ import annotations

import dataclasses
import re
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.backup.note import BackupNote, with_backup_note
from queenright.core.kinds.postgres_cluster.drill.note import DrillNote, with_drill_note
from queenright.core.observed import Archiving, Known, Observed, Unknown
from queenright.core.planning.plan import Refusal
from queenright.engine.state_lines import PERIOD_S, StateLines
from tests.fakes.virtual_loop import run_virtual
from tests.support.app_builders import known, replica, served, with_readiness
from tests.support.builders import BACKUP, NOW, VIP, manifest, status, swarm_of, three_nodes
from tests.support.changed import with_config_labels, with_member, with_raft
from tests.support.log_lines import Line, state_lines
from tests.support.sights import StillTime, cluster_pass, pass_with_app

MANUAL = Path(__file__).parents[3] / "docs" / "monitoring.md"
ADDED_BY_LOGGING = {"timestamp", "level", "event"}
WITH_VIP = manifest(vip=VIP)
ARCHIVING = manifest(backup=BACKUP[:-1] + ", drill: {node: node4}}")


def cluster_line(seen: Observed, text: str = "") -> Line:
    found = cluster_pass(seen, text=text) if text else cluster_pass(seen)
    return state_lines(found)[1]


def archiving(observed: Observed) -> Observed:
    """The leader's archive is 20 s old, 30 MB wait; a base backup and a drill are an hour old."""
    at = NOW - timedelta(hours=1)
    labels = with_backup_note(
        swarm_of(observed).config("main_cluster").value.labels,  # type: ignore[union-attr]
        BackupNote(at, "20260101T110000", at, at, 42, "member-3", failures=2),
    )
    labels = with_drill_note(
        labels,
        DrillNote(at, at, "20260101T110000", "node4", 42, 360, at - timedelta(seconds=3)),
    )
    found = Archiving(
        NOW,
        is_on=True,
        last_at=NOW - timedelta(seconds=20),
        waiting=2,
        waiting_bytes=30 << 20,
        waiting_since=NOW - timedelta(seconds=90),
    )
    observed = with_config_labels(observed, "main_cluster", labels)
    return dataclasses.replace(observed, archiving={"main": Known(found)})


def test_a_healthy_cluster() -> None:
    operator, line = state_lines(cluster_pass())
    assert (operator["event"], line["event"]) == ("operator", "state")
    assert operator["swarm_readable"] is True
    assert (operator["documents"], operator["problems"]) == (1, 0)
    expected = {
        "kind": "cluster",
        "name": "main",
        "condition": "converged",
        "converged": True,
        "holds": [],
        "leader": "member-1",
        "leaders": 1,
        "timeline": 1,
        "timelines": {"member-1": 1, "member-2": 1, "member-3": 1},
        "wal_bytes": 1000,
        "lag_bytes": 0,
        "members": 3,
        "members_answering": 3,
        "members_unwell": 0,
        "quorum": True,
        "proxies": 3,
        "proxies_down": 0,
    }
    assert {key: line[key] for key in expected} == expected
    assert not {"archived_s_ago", "backup_s_ago", "write_gap_ms", "vip_node"} & line.keys()


def test_silence_is_not_well_and_has_no_figures() -> None:
    line = cluster_line(three_nodes(unknown={"member-1", "member-2", "member-3"}))
    assert (line["leader"], line["leaders"], line["members_answering"]) == ("", 0, 0)
    assert line["members_unwell"] == 3
    assert line["quorum"] is None
    assert line["lag_bytes"] is None
    assert line["wal_bytes"] is None


def test_the_greatest_lag_and_who_has_it() -> None:
    late = status("member-3", "member-1", lag_bytes=7 << 20)
    line = cluster_line(with_member(three_nodes(), "member-3", late))
    assert line["lag_bytes"] == 7 << 20
    assert line["lags_bytes"] == {"member-2": 0, "member-3": 7 << 20}


def test_two_leaders_are_counted_and_none_is_named() -> None:
    other = status("member-2", "member-2", timeline=2)
    line = cluster_line(with_member(three_nodes(), "member-2", other))
    assert (line["leader"], line["leaders"], line["timeline"]) == ("", 2, None)


def test_a_raft_node_that_is_behind_is_no_quorum() -> None:
    seen = three_nodes()
    for name in ("member-1", "member-2", "member-3"):
        reading = seen.raft[f"main_{name}"]
        assert isinstance(reading, Known)
        behind = dataclasses.replace(reading.value, last_applied=1)
        seen = with_raft(seen, name, behind)
    assert cluster_line(seen)["quorum"] is False


def test_a_dead_node_takes_its_member_and_its_proxy() -> None:
    line = cluster_line(three_nodes(down={"node4"}))
    assert (line["members_unwell"], line["proxies_down"]) == (1, 1)
    assert line["condition"] == "needs you"


def test_the_archive_and_the_base_backups() -> None:
    line = cluster_line(archiving(three_nodes(text=ARCHIVING)), ARCHIVING)
    assert line["archived_s_ago"] == 20
    assert line["archive_waiting_s"] == 90
    assert line["archive_waiting_bytes"] == 30 << 20
    assert (line["backup_s_ago"], line["backup_failures"]) == (3600, 2)
    assert (line["drill_s_ago"], line["drill_failures"]) == (3600, 0)
    assert (line["drill_took_s"], line["drill_point_s"]) == (360, 3)


def test_a_canary_s_measurement_and_a_refusal() -> None:
    measured = {"main": {"write_gap_ms": 840, "lost_rows": 0, "lost": ""}}
    refused = {"main": Refusal("quorum", "it would lose quorum")}
    line = state_lines(cluster_pass(), refused, measured=measured)[1]
    assert (line["write_gap_ms"], line["lost_rows"]) == (840, 0)
    assert (line["refused_by"], line["condition"]) == ("quorum", "needs you")


def test_who_has_the_virtual_address() -> None:
    seen = three_nodes(text=WITH_VIP)
    assert cluster_line(seen, WITH_VIP)["vip_node"] is None
    held = dataclasses.replace(seen, holders={"main": Known("member-2")})
    assert cluster_line(held, WITH_VIP)["vip_node"] == "node3"


def test_an_application() -> None:
    seen = with_readiness(known(served()), 1, Unknown("no answer"))
    line = next(one for one in state_lines(pass_with_app(seen)) if one.get("kind") == "application")
    assert line["replicas"] == line["replicas_ready"] + line["replicas_unready"]
    assert line["replicas_unready"] == 1
    assert line["name"] == "notes"
    assert replica(1).id in seen.readiness


def test_an_unreadable_swarm_has_no_figures() -> None:
    seen = Observed(Unknown("no answer"), {})
    operator, line = state_lines(cluster_pass(seen), problems=["a mistake"])
    assert (operator["swarm_readable"], operator["problems"]) == (False, 1)
    assert "leader" not in line
    assert line["condition"] == "held"


def test_every_key_is_in_the_manual_and_no_other() -> None:
    measured = {"main": {"write_gap_ms": 1, "lost_rows": 0}}
    seen = archiving(three_nodes(text=ARCHIVING))
    written = [
        *state_lines(cluster_pass(seen, text=ARCHIVING), measured=measured),
        *state_lines(pass_with_app()),
        *state_lines(cluster_pass(three_nodes(text=WITH_VIP), text=WITH_VIP)),
    ]
    keys = {key for line in written for key in line} - ADDED_BY_LOGGING
    rows = re.findall(r"^\| (`[^|]+) \|", MANUAL.read_text(), re.MULTILINE)
    told = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert keys == told


def test_a_fault_in_one_document_keeps_no_other_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    module = "queenright.core.kinds.postgres_cluster.kind.cluster_figures"
    monkeypatch.setattr(module, fail)
    broken, app = state_lines(pass_with_app())[1:]
    assert broken["level"] == "error"
    assert app["kind"] == "application"


def test_the_first_lines_follow_the_first_pass_and_others_each_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments: list[float] = []

    async def watch() -> None:
        lines = StateLines(StillTime())

        async def write() -> None:
            moments.append(anyio.current_time() - began)
            await anyio.sleep(5)

        monkeypatch.setattr(lines, "write", write)
        began = anyio.current_time()
        async with anyio.create_task_group() as group:
            group.start_soon(lines.run)
            await anyio.sleep(7)
            assert moments == []
            lines.note(cluster_pass(), {}, ())
            await anyio.sleep(2.5 * PERIOD_S)
            group.cancel_scope.cancel()

    run_virtual(watch)
    assert moments == [7, 7 + PERIOD_S, 7 + 2 * PERIOD_S]
