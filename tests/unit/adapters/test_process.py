"""The proof that a lease's process has ended, by real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from queenright.adapters.audit.log import AuditLog
from queenright.adapters.process import birth, has_ended, own_lease, start_time
from queenright.adapters.system_clock import SystemClock
from queenright.core.planning.lease import Lease


@pytest.fixture
def own() -> Lease:
    return own_lease("")


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def test_a_process_runs_until_it_is_reaped(own: Lease) -> None:
    process = sleeper()
    other = replace(own, process="other", birth=birth(process.pid))
    assert not has_ended(own, other)
    process.send_signal(signal.SIGSTOP)
    assert not has_ended(own, other)  # frozen is not ended
    process.kill()
    process.wait()
    assert has_ended(own, other)


def test_the_same_number_of_a_later_process(own: Lease) -> None:
    spaces, pid, start = birth(os.getpid()).split(":")
    assert not has_ended(own, replace(own, birth=f"{spaces}:{pid}:{start}"))
    assert has_ended(own, replace(own, birth=f"{spaces}:{pid}:{int(start) - 1}"))


@pytest.mark.parametrize(
    "birth_text", ["", "x", "::", "1.2:3:4", "1.2:-1:4", "1.2:0:4", "1.2:99999999999999999999:4"]
)
def test_another_namespace_proves_nothing(own: Lease, birth_text: str) -> None:
    assert not has_ended(own, replace(own, birth=birth_text))


@pytest.mark.parametrize("pid", ["0", "-1", "99999999999999999999", "text"])
def test_odd_numbers_prove_nothing(own: Lease, pid: str) -> None:
    spaces = own.birth.partition(":")[0]
    assert not has_ended(own, replace(own, birth=f"{spaces}:{pid}:1"))


def test_another_boot_or_machine_proves_nothing(own: Lease) -> None:
    process = sleeper()
    process.kill()
    process.wait()
    gone = replace(own, birth=own.birth.replace(f":{os.getpid()}:", f":{process.pid}:"))
    assert has_ended(own, gone)
    assert not has_ended(own, replace(gone, kernel="another"))
    assert not has_ended(replace(own, kernel=""), replace(gone, kernel=""))


def test_every_start_is_another_process(own: Lease) -> None:
    assert own.process != own_lease("").process
    assert own.host
    assert own.birth.split(":")[1] == str(os.getpid())
    assert start_time(2**22 + 1) == ""


def test_whoever_has_the_trails_lock_knows_that_the_former_has_ended(tmp_path: Path) -> None:
    """The lock is the trail's own: two operators with one state directory never run at once."""
    with AuditLog(tmp_path, SystemClock(), sink=lambda _: None) as first:
        former = own_lease(first.lock)
        assert first.lock
    with AuditLog(tmp_path, SystemClock(), sink=lambda _: None) as second:
        own = own_lease(second.lock)
    elsewhere = replace(former, birth="another namespace")
    assert has_ended(own, elsewhere)
    with AuditLog(tmp_path / "other", SystemClock(), sink=lambda _: None) as third:
        assert not has_ended(own_lease(third.lock), elsewhere)


def test_a_trail_in_the_log_alone_has_no_lock() -> None:
    with AuditLog(None, SystemClock(), sink=lambda _: None) as trail:
        assert trail.lock == ""
