"""The audit trail, the last good state and the terminal, as a person meets them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from queenright.adapters.audit.log import AuditLog
from queenright.adapters.files.last_known_good import LastGoodFiles
from queenright.adapters.system_clock import SystemClock
from queenright.core.actions import CreateService
from queenright.core.audit.chain import Record
from queenright.core.audit.record import Done, Failed, Trigger
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import Service
from tests.support.command_line import ADDRESSED, PROGRAM, environment, launch, start

PLAN = Plan("main", "d", (CreateService(service=Service("main_member-1", "i"), reason="missing"),))
EDIT = Trigger("file", file="/etc/queenright/cluster.yaml", line=12)


def no_sink(_: Record) -> None:
    """The stream of these trails is read by nobody."""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    directory = tmp_path / "state"
    with AuditLog(directory, SystemClock(), no_sink, version="0.1.0") as trail:
        trail.intent(PLAN, EDIT, PLAN.actions[0])
        trail.outcome(PLAN, EDIT, PLAN.actions[0], Failed("no answer"), 10)
        trail.intent(PLAN, EDIT, PLAN.actions[0])
        trail.outcome(PLAN, EDIT, PLAN.actions[0], Done(), 12)
        trail.intent(Plan("other", "d", PLAN.actions), EDIT, PLAN.actions[0])
    return directory


def test_verify_a_sound_trail(tmp_path: Path, state: Path) -> None:
    head = json.loads((state / "audit.jsonl").read_text().splitlines()[2])["hash"]
    for words in ((), (str(state),), (str(state / "audit.jsonl"),), ("--head", head)):
        found = start(tmp_path, "audit", "verify", *words)
        assert found.returncode == 0, found.stdout
        assert found.stdout.startswith("sound: 7 records (3 intent, 2 outcome, 1 start, 1 stop)")
        assert "intents without an outcome, as a kill leaves them: 6" in found.stdout


def test_verify_names_the_file_and_line_of_the_first_broken_link(
    tmp_path: Path, state: Path
) -> None:
    file = state / "audit.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    (state / "audit.jsonl.1").write_text("".join(lines[:3]))
    file.write_text("".join([lines[3], lines[4].replace('"done"', '"failed"'), *lines[6:]]))
    found = start(tmp_path, "audit", "verify")
    assert found.returncode == 1
    assert found.stdout.splitlines()[:3] == [
        f"{file}:2: seq 5: its content does not match its hash: it was altered",
        f"{file}:3: seq 7: seq 6 missing",
        found.stdout.splitlines()[2],
    ]
    assert found.stdout.splitlines()[2].startswith("BROKEN: 6 records")


def test_verify_a_service_log_with_prefixes_and_other_lines(tmp_path: Path, state: Path) -> None:
    lines = (state / "audit.jsonl").read_text().splitlines()
    prefix = "queenright_operator.1.x@node1    | "
    stream = [prefix + json.dumps({"event": "audit", **json.loads(line)}) for line in lines]
    stream.insert(2, prefix + '{"event":"pass","converged":true}')
    found = start(tmp_path, "audit", "verify", "-", given="\n".join(stream) + "\n")
    assert found.returncode == 0, found.stdout
    assert "1 other lines" in found.stdout
    del stream[4]
    found = start(tmp_path, "audit", "verify", "-", given="\n".join(stream) + "\n")
    assert found.returncode == 1
    assert found.stdout.startswith("<stdin>:5: seq 5: seq 4 missing")


def test_verify_nothing_is_a_failure(tmp_path: Path, state: Path) -> None:
    assert start(tmp_path, "audit", "verify", "-", given="hello\n").returncode == 1
    assert start(tmp_path, "audit", "verify", "--head", "0" * 64).returncode == 1
    found = start(tmp_path, "audit", "verify", "--json")
    assert json.loads(found.stdout)["sound"] is True


def test_show_tells_outcomes_and_what_was_left_unfinished(tmp_path: Path, state: Path) -> None:
    rows = start(tmp_path, "audit", "show").stdout.splitlines()
    assert [row.split()[2:4] for row in rows[2:5]] == [
        ["create-service/main_member-1", "failed"],
        ["create-service/main_member-1", "done"],
        ["create-service/main_member-1", "no"],
    ]
    assert "no answer; missing; /etc/queenright/cluster.yaml:12" in rows[2]
    only = start(tmp_path, "audit", "show", "--cluster", "main", "-n", "1", "--json").stdout
    assert json.loads(only)["outcome"] == "done"
    assert (
        start(tmp_path, "audit", "show", "--since", "2100-01-01").stdout == "No matching record.\n"
    )
    assert len(start(tmp_path, "audit", "show", "--since", "1h").stdout.splitlines()) == 6
    given = (state / "audit.jsonl").read_text()
    assert start(tmp_path, "audit", "show", "-", given=given).stdout.splitlines() == rows


@pytest.mark.slow
def test_status_watches_until_it_is_interrupted(tmp_path: Path, manifest: Path) -> None:
    # A shell that starts this test in the background has told it to ignore the signal.
    with subprocess.Popen(
        ["env", "--default-signal=INT", *PROGRAM, "status", "--json", "--watch", "200ms"],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as watcher:
        assert watcher.stdout is not None
        assert watcher.stderr is not None
        looks = [json.loads(watcher.stdout.readline()) for _ in range(2)]
        watcher.send_signal(signal.SIGINT)
        assert "Traceback" not in watcher.stderr.read()
        assert watcher.wait() == 0
    assert [look["files"]["valid"] for look in looks] == [True, True]


def test_the_last_good_state_is_planned_while_the_file_is_invalid(
    tmp_path: Path, manifest: Path
) -> None:
    manifest.write_text("kind: Nonsense")
    said = start(tmp_path, "status").stdout
    assert said.startswith("Files  not valid, and there is no last good state here\n")
    LastGoodFiles(tmp_path / "state").save({str(manifest): ADDRESSED})
    said = start(tmp_path, "status").stdout
    assert said.startswith("Files  not valid; the last good state, from 20")
    assert start(tmp_path, "plan").returncode == 69


def test_status_shows_the_last_actions_even_without_a_swarm(
    tmp_path: Path, manifest: Path, state: Path
) -> None:
    found = start(tmp_path, "status")
    assert found.returncode == 69
    assert "Last actions" in found.stdout
    assert "(operator)" not in found.stdout


def on_terminal(tmp_path: Path, *words: str, **more: str) -> str:
    main, side = pty.openpty()
    subprocess.run(
        [*PROGRAM, *words], env=environment(tmp_path, TERM="xterm-256color", **more),
        stdin=side, stdout=side, stderr=side, check=True,
    )  # fmt: skip
    os.close(side)
    said = os.read(main, 1 << 16).decode()
    os.close(main)
    return said


@pytest.mark.slow
def test_colour_on_a_terminal_unless_no_color(tmp_path: Path, state: Path) -> None:
    assert "\x1b[32mdone" in on_terminal(tmp_path, "audit", "show", COLUMNS="160")
    plain = on_terminal(tmp_path, "audit", "show", COLUMNS="160", NO_COLOR="1")
    assert "\x1b[3" not in plain
    assert "done" in plain
    assert "\x1b" not in start(tmp_path, "audit", "show").stdout


@pytest.mark.slow
def test_run_ends_with_0_on_sigterm_and_leaves_a_sound_trail(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*PROGRAM, "run"], env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as operator:
        assert operator.stdout is not None
        assert json.loads(operator.stdout.readline())["phase"] == "start"
        busy = launch(tmp_path, "run")
        assert busy.returncode == 1
        assert "another queenright writes its audit trail here" in busy.stderr
        for line in operator.stdout:
            if json.loads(line)["event"] == "pass":
                break
        operator.send_signal(signal.SIGTERM)
        rest = operator.stdout.read()
        assert operator.wait() == 0
    assert json.loads(rest.splitlines()[-1])["phase"] == "stop"
    assert start(tmp_path, "audit", "verify").returncode == 0


@pytest.mark.parametrize(
    ("options", "more", "named"),
    [
        (("--listen", "0.0.0.0:8790"), {}, "QUEENRIGHT_LISTEN_TOKEN_FILE"),
        (("--listen", "nowhere"), {}, "must be ADDRESS:PORT or PORT"),
        (("--listen", "8790"), {"QUEENRIGHT_LISTEN_TOKEN_FILE": "/nowhere"}, "/nowhere"),
    ],
)
def test_a_page_that_can_not_be_served_safely_ends_the_start(
    tmp_path: Path, options: tuple[str, ...], more: dict[str, str], named: str
) -> None:
    result = start(tmp_path, "run", *options, **more)
    assert result.returncode == 64
    assert named in result.stderr
    assert not (tmp_path / "audit.jsonl").exists()
