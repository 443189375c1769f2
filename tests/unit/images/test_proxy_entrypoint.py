"""The proxy's entry point, run by the shell: refusals, and the state file that it writes."""

import os
import subprocess
import time
from pathlib import Path
from signal import SIGKILL, SIGTERM, SIGUSR1

import pytest

from tests.support.programs import require

ROOT = Path(__file__).resolve().parents[3]
ENTRYPOINT = ROOT / "images/proxy/proxy-entrypoint"
CONFIG = Path(__file__).with_name("haproxy.cfg")
#: Plays HAProxy: accepts any configuration (where HOLD is, once that file is gone), then runs until
#: a signal, and exits 0 then.
HAPROXY = """#!/bin/sh
if [ "$1" = -c ]; then
  touch "$CHECKING"
  while [ -e "$HOLD" ]; do sleep 0.05; done
  exit 0
fi
trap 'exit 0' TERM USR1
touch "$STARTED"
while :; do sleep 0.05; done
"""
SHELLS = [["sh"], ["busybox", "sh"]]


def environment(tmp_path: Path) -> dict[str, str]:
    programs = tmp_path / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "haproxy").write_text(HAPROXY)
    (programs / "haproxy").chmod(0o755)
    files = {name: str(tmp_path / name.lower()) for name in ("STARTED", "CHECKING", "HOLD")}
    paths = f"{programs}:{os.environ['PATH']}"
    return os.environ | files | {"PATH": paths, "LEAVE_S": "0.1"}


def begin(tmp_path: Path, config: Path, shell: list[str]) -> subprocess.Popen[str]:
    if shell[0] == "busybox":
        require(busybox="busybox-static")
    return subprocess.Popen(
        [*shell, str(ENTRYPOINT), str(config), str(tmp_path / "haproxy.state")],
        env=environment(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def refusal(tmp_path: Path, config: Path) -> str:
    process = begin(tmp_path, config, ["sh"])
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    return said


def test_a_missing_configuration_is_named(tmp_path: Path) -> None:
    said = refusal(tmp_path, tmp_path / "haproxy.cfg")
    assert said == (
        f"FATAL: HAProxy configuration {tmp_path}/haproxy.cfg is missing or cannot be read\n"
    )


@pytest.mark.parametrize("address", ["10.77.0.12", "member-1:postgres", ":5432"])
def test_a_server_without_address_and_port_is_named_by_line(tmp_path: Path, address: str) -> None:
    config = tmp_path / "haproxy.cfg"
    config.write_text(f"listen primary\n  bind *:5000\n  server member-1 {address} check\n")
    assert f"FATAL: {config}:3: server member-1 needs <address>:<port>" in refusal(tmp_path, config)


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize(("number", "code"), [(SIGTERM, 143), (SIGUSR1, 138)])
@pytest.mark.parametrize("when", ["checking", "started"])
def test_a_stop_from_outside_is_a_failure(
    tmp_path: Path, shell: list[str], number: int, code: int, when: str
) -> None:
    hold = tmp_path / "hold"
    if when == "checking":
        hold.touch()
    process = begin(tmp_path, CONFIG, shell)
    try:
        while not (tmp_path / when).exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        hold.unlink(missing_ok=True)
        process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, SIGKILL)
    assert process.returncode == code
    leaves = (tmp_path / "haproxy.state.leaving").exists()
    assert leaves == (number == SIGTERM and when == "started")
    lines = (tmp_path / "haproxy.state").read_text().splitlines()
    servers = [line.split() for line in lines[2:]]
    assert lines[0] == "1"
    assert [(line[1], line[3], line[4], line[18]) for line in servers] == [
        (section, f"member-{k}", f"10.77.0.1{k + 1}", "5432")
        for section in ("primary", "replicas")
        for k in (1, 2, 3)
    ]
    assert {(len(line), line[5]) for line in servers} == {(20, "0")}  # 0: stopped
