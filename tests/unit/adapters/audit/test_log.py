"""The trail's file: its chain stays whole over restarts, kills, full disks and rotation."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

import pytest

from queenright.adapters.audit.file import AuditBusyError, trail_files
from queenright.adapters.audit.log import AuditLog
from queenright.adapters.logging import configure_logging
from queenright.adapters.system_clock import SystemClock
from queenright.core.actions import CreateService, FieldChange
from queenright.core.audit.chain import Record, Verification, chain_name, verify
from queenright.core.audit.record import Conflict, Done, Failed, Trigger
from queenright.core.planning.lease import Lease
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import Service

TRIGGER = Trigger("file", file="/etc/queenright/cluster.yaml", line=12)


class NoonClock:
    def monotonic_s(self) -> float:
        return 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 31, 12, tzinfo=UTC)


def create(name: str = "main_member-1") -> CreateService:
    return CreateService(
        service=Service(name, "registry/member:16"),
        reason="it is in the file and not in the swarm",
        changes=(
            FieldChange("image", "(absent)", "registry/member:16"),
            FieldChange("environment[PGPASSWORD]", "hunter2", "hunter3"),
        ),
    )


def no_sink(_: Record) -> None:
    """Drop records, for trails whose stream nobody reads."""


PLAN = Plan("main", "d1g357", (create(),))


def lines_of(directory: Path) -> Iterator[bytes]:
    for file in trail_files(directory / "audit.jsonl"):
        with file.open("rb") as stream:
            yield from stream


def check(directory: Path) -> Verification:
    return verify(lines_of(directory))


def records_of(directory: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines_of(directory)]


def use(directory: Path | None, times: int = 1, **limits: int) -> list[Record]:
    said: list[Record] = []
    with AuditLog(directory, NoonClock(), said.append, version="0.1.0", **limits) as trail:
        for _ in range(times):
            trail.intent(PLAN, TRIGGER, PLAN.actions[0])
            trail.outcome(PLAN, TRIGGER, PLAN.actions[0], Done(), 12.34)
    return said


def test_an_action_leaves_its_intent_and_its_outcome(tmp_path: Path) -> None:
    said = use(tmp_path)
    assert [record["phase"] for record in said] == ["start", "intent", "outcome", "stop"]
    intent, outcome = said[1], said[2]
    told = {
        "cluster": "main",
        "plan_id": PLAN.id,
        "trigger": {"kind": "file", "file": "/etc/queenright/cluster.yaml", "line": 12},
        "action": {"kind": "create-service", "key": "create-service/main_member-1"},
        "target": "main_member-1",
        "reason": "it is in the file and not in the swarm",
        "changes": [
            {"path": "image", "old": "(absent)", "new": "registry/member:16"},
            {"path": "environment[PGPASSWORD]", "old": "(hidden)", "new": "(hidden)"},
        ],
        "disturbs": "",
    }
    assert told.items() <= dict(intent).items()
    assert told.items() <= dict(outcome).items()
    assert (outcome["outcome"], outcome["duration_ms"], outcome["intent_seq"]) == ("done", 12.3, 2)
    assert "hunter" not in (tmp_path / "audit.jsonl").read_text()


def test_the_file_and_the_stream_say_the_same(tmp_path: Path) -> None:
    assert use(tmp_path, times=3) == records_of(tmp_path)


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Conflict("out of sequence"), {"outcome": "conflict", "error": "out of sequence"}),
        (
            Failed("no answer in 10 s"),
            {"outcome": "failed", "error": "no answer in 10 s", "transient": True},
        ),
        (Failed("name in use", transient=False), {"transient": False}),
    ],
)  # fmt: skip
def test_what_came_of_it(outcome: Conflict | Failed, told: dict[str, object]) -> None:
    said: list[Record] = []
    with AuditLog(None, NoonClock(), said.append) as trail:
        trail.outcome(PLAN, TRIGGER, create(), outcome, 1.0)
    assert told.items() <= dict(said[1]).items()
    assert said[1]["intent_seq"] is None


def test_a_refused_plan_names_the_guard_and_what_was_not_done() -> None:
    said: list[Record] = []
    with AuditLog(None, NoonClock(), said.append) as trail:
        trail.refused(PLAN, TRIGGER, Refusal("leader-needs-replica", "no healthy replica"))
    assert said[1]["guard"] == "leader-needs-replica"
    assert said[1]["reason"] == "no healthy replica"
    assert said[1]["not_done"] == ["create-service/main_member-1"]


def test_two_operators_trails_name_each_other(tmp_path: Path) -> None:
    with AuditLog(tmp_path / "a", NoonClock(), sink=no_sink) as former:
        former.lease(acting=True, why="the swarm had no lease", host="node1", term="1")
        end = former.end
    with AuditLog(tmp_path / "b", NoonClock(), sink=no_sink) as trail:
        other = Lease(process="p1", host="node1", chain=end)
        trail.lease(acting=True, why="it has ended", host="node2", term="2", other=other)
    records = [json.loads(line) for line in lines_of(tmp_path / "b")]
    taken = next(one for one in records if one["phase"] == "lease")
    assert taken["other"] == {"host": "node1", "process": "p1", "chain": end}
    assert (taken["acting"], taken["host"], taken["term"]) == (True, "node2", "2")
    named = {
        f"{chain_name(one)}/{one['seq']}/{one['hash']}"
        for one in map(json.loads, lines_of(tmp_path / "a"))
    }
    assert end in named
    assert check(tmp_path / "a").is_sound
    assert check(tmp_path / "b").is_sound


def test_the_chain_goes_on_after_a_restart(tmp_path: Path) -> None:
    first, second = use(tmp_path), use(tmp_path)
    assert check(tmp_path).is_sound
    assert check(tmp_path).records == 8
    assert second[0] == {**first[-1], "repeated": True}
    assert second[1]["prev_hash"] == first[-1]["hash"]


@pytest.mark.parametrize("cut", [1, 2, 40, 200])
def test_a_torn_last_line_is_kept_and_closed_off(tmp_path: Path, cut: int) -> None:
    use(tmp_path)
    file = tmp_path / "audit.jsonl"
    file.write_bytes(file.read_bytes()[:-cut])
    assert check(tmp_path).is_sound
    use(tmp_path)
    found = check(tmp_path)
    assert found.is_sound, found.breaks
    phases = [json.loads(line).get("phase") for line in lines_of(tmp_path) if line.endswith(b"}\n")]
    assert phases.count("recovered") == (0 if cut == 1 else 1)


def test_garbage_that_no_start_explains_is_found(tmp_path: Path) -> None:
    use(tmp_path)
    with (tmp_path / "audit.jsonl").open("ab") as stream:
        stream.write(b"garbage\n")
    use(tmp_path)
    assert [found.what for found in check(tmp_path).breaks] == ["not a record"]


def test_without_a_directory_the_stream_alone_is_the_trail(tmp_path: Path) -> None:
    said = use(None)
    with AuditLog(None, SystemClock(), said.append):
        pass
    found = verify(json.dumps({"event": "audit", **record}).encode() + b"\n" for record in said)
    assert found.is_sound
    assert found.chains == 2
    assert not list(tmp_path.iterdir())


def test_a_directory_that_cannot_be_made_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with AuditLog(tmp_path / "file" / "state", NoonClock(), no_sink) as trail:
        assert trail.file is None
        trail.intent(PLAN, TRIGGER, create())


def test_two_processes_never_write_one_trail(tmp_path: Path) -> None:
    with (
        AuditLog(tmp_path, NoonClock(), no_sink),
        pytest.raises(AuditBusyError, match="QUEENRIGHT_STATE_DIR"),
    ):
        AuditLog(tmp_path, NoonClock(), no_sink)
    use(tmp_path)
    assert check(tmp_path).is_sound


def test_files_rotate_and_the_chain_spans_them(tmp_path: Path) -> None:
    use(tmp_path, times=12, max_bytes=4000, kept_files=3)
    files = trail_files(tmp_path / "audit.jsonl")
    assert [file.name for file in files] == [
        "audit.jsonl.3",
        "audit.jsonl.2",
        "audit.jsonl.1",
        "audit.jsonl",
    ]
    found = check(tmp_path)
    assert found.is_sound
    assert found.first_seq > 1
    assert found.phases["rotated"] == 4
    files[1].unlink()
    assert not check(tmp_path).is_sound


def test_a_kill_between_rotation_and_first_record(tmp_path: Path) -> None:
    use(tmp_path)
    (tmp_path / "audit.jsonl").rename(tmp_path / "audit.jsonl.1")
    use(tmp_path)
    assert check(tmp_path).is_sound
    assert records_of(tmp_path)[4]["phase"] == "rotated"
    with (tmp_path / "audit.jsonl").open("rb") as stream:
        assert verify(stream).is_sound


def test_a_full_disk_loses_no_record(tmp_path: Path) -> None:
    """A size limit on files stands in for the full disk: the write fails half-way."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    said: list[Record] = []
    trail = AuditLog(tmp_path, NoonClock(), said.append)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (trail_size(tmp_path) + 100, hard))
        trail.intent(PLAN, TRIGGER, create())
        trail.outcome(PLAN, TRIGGER, create(), Done(), 1)
        assert check(tmp_path).records == 1
        assert check(tmp_path).is_sound
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    trail.close()
    assert check(tmp_path).is_sound
    assert records_of(tmp_path) == said


def trail_size(directory: Path) -> int:
    return (directory / "audit.jsonl").stat().st_size


def write_for_ever(state: Path, stream: Path) -> None:
    with stream.open("a") as out:
        configure_logging("json", stream=out)
        trail = AuditLog(state, NoonClock(), max_bytes=200_000)
        action = CreateService(service=Service("s" * 300, "i"), reason="r" * 9000)
        plan = Plan("main", "d", (action,))
        while True:
            trail.intent(plan, TRIGGER, action)
            trail.outcome(plan, TRIGGER, action, Done(), 1.0)


@pytest.mark.parametrize("rounds", [6, pytest.param(25, marks=pytest.mark.slow)])
def test_kills_in_mid_write_break_neither_file_nor_stream(tmp_path: Path, rounds: int) -> None:
    state, stream = tmp_path / "state", tmp_path / "stream.log"
    stream.touch()
    for round_number in range(rounds):
        writer = get_context("fork").Process(target=write_for_ever, args=(state, stream))
        before = stream.stat().st_size
        writer.start()
        while stream.stat().st_size < before + 25_000 + 3_137 * round_number:
            assert writer.is_alive()
        writer.kill()
        writer.join()
    use(state)
    found = check(state)
    assert found.is_sound, found.breaks
    assert found.phases["start"] > 1
    with stream.open("rb") as lines:
        spoken = verify(lines)
    assert spoken.is_sound, spoken.breaks
    assert spoken.phases["start"] >= 0.8 * rounds
