"""A planned move that does not wait for Patroni's next look at a PostgreSQL that has stopped."""

from __future__ import annotations

import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import psutil

from images.member.queenright_member.quick_stop import POLL_S, look_often, unless_it_ends


def process_of(lasts_s: float) -> psutil.Popen:
    return psutil.Popen([sys.executable, "-c", f"import time; time.sleep({lasts_s})"])


def test_one_that_ends_is_left_to_the_usual_way() -> None:
    """Patroni gives the lock back after the stop, without its second for replicas."""
    told: list[tuple[int, int]] = []
    began = time.monotonic()
    unless_it_ends(process_of(0.2), lambda *at: told.append(at), 30.0)(7, 5)
    assert told == []
    assert time.monotonic() - began < 15


def test_one_that_still_archives_gives_the_lock_back_before_its_end() -> None:
    told: list[tuple[int, int]] = []
    process = process_of(60)
    try:
        unless_it_ends(process, lambda *at: told.append(at), 0.1)(7, 5)
        assert told == [(7, 5)]
        assert process.is_running()
    finally:
        process.kill()
        process.wait()


class Stopped:
    """Has what is used of Patroni's class, and calls back as that does."""

    def __init__(self, process: Any) -> None:
        self.process = process
        self.modes: list[str] = []

    def is_running(self) -> Any:
        return self.process

    def stop(self, mode: str = "fast", on_shutdown: Any = None, **_: Any) -> bool:
        self.modes.append(mode)
        if on_shutdown is not None:
            on_shutdown(7, 5)
        return True


def test_a_stop_is_the_same_otherwise() -> None:
    module = SimpleNamespace(STOP_POLLING_INTERVAL=1, Postgresql=type("Same", (Stopped,), {}))
    look_often(module)
    told: list[tuple[int, int]] = []
    assert module.STOP_POLLING_INTERVAL == POLL_S
    one = module.Postgresql(process_of(0.01))
    assert one.stop("immediate", stop_timeout=3)
    assert one.stop(on_shutdown=lambda *at: told.append(at))
    assert (one.modes, told) == (["immediate", "fast"], [])
    assert module.Postgresql(None).stop(on_shutdown=lambda *at: told.append(at))
    assert told == [(7, 5)], "where nothing runs Patroni's own way is left as it is"


USES = """
import inspect
from images.member.queenright_member.quick_stop import POLL_S, make_quick
from patroni import postgresql
assert postgresql.STOP_POLLING_INTERVAL == 1
assert "on_shutdown" in inspect.signature(postgresql.Postgresql.stop).parameters
polls = postgresql.Postgresql._do_stop.__code__.co_names
assert "STOP_POLLING_INTERVAL" in polls and "wait" in polls
make_quick()
assert postgresql.STOP_POLLING_INTERVAL == POLL_S
"""


def test_patroni_has_all_that_is_used_of_it() -> None:
    """In a process of its own: Patroni sets the umask where it is imported."""
    subprocess.run([sys.executable, "-c", USES], check=True)
