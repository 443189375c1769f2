"""The proxies' script in a real HAProxy: which server is up at its start, and until its end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from signal import SIGTERM

import pytest

from tests.e2e.running_proxy import AT_ONCE_S, Started, eventually, promptly, proxies

pytestmark = [pytest.mark.timeout(60), pytest.mark.quiet]

PORTS_ARE_CHANGED = pytest.mark.parametrize("started", [True], indirect=True, ids=["changed"])
SLOW_CHECKS = "20s"


@pytest.fixture(autouse=True)
def _at_first() -> Iterator[None]:
    with promptly():
        yield


@pytest.fixture(params=[False], ids=["at rest"])
def started(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Started]:
    """A proxy whose ``member-1`` leads, with the contract's checks unless others are given."""
    with proxies(tmp_path, change=request.param) as start:
        yield start


@PORTS_ARE_CHANGED
def test_without_a_hint_nothing_is_up_before_its_checks(started: Started) -> None:
    proxy = started("1s")
    proxy.stop()
    proxy.start(unchecked=True)
    began = time.monotonic()
    assert proxy.up() == []
    eventually(lambda: proxy.up() == ["member-1"], 5)
    assert time.monotonic() - began > 0.9, "two checks, a second apart"


def test_at_start_the_leader_is_up_after_two_good_answers(started: Started) -> None:
    proxy = started(SLOW_CHECKS)
    proxy.stop()
    leader = proxy.members[0]
    proxy.members[2].stop()
    leader.asked.clear()
    with proxy.watched() as seen:
        proxy.start(unchecked=True)
        eventually(lambda: proxy.reached() == "member-1", 10)
        asked = [what for _, what in leader.asked]
        time.sleep(1)
    assert asked.count("GET /primary") >= 2
    assert seen in ([["member-1"]], [[], ["member-1"]])
    assert proxy.said("primary/member-1 is up after 2 good answers at start")


def test_a_proxy_that_is_stopped_serves_until_the_address_has_left(started: Started) -> None:
    """The node's check fails at once, and connections go on for two seconds, new ones too."""
    proxy = started(SLOW_CHECKS)
    proxy.stop()
    proxy.start(unchecked=True)
    eventually(lambda: proxy.reached() == "member-1", 10)
    with proxy.connect() as client:
        assert client.recv(64) == b"member-1"
        proxy.signal()
        eventually(lambda: proxy.up() is None, 0.1 + AT_ONCE_S)
        assert proxy.reached() == "member-1"
        client.settimeout(1)
        with pytest.raises(TimeoutError):
            client.recv(64)
        client.settimeout(2)
        assert client.recv(64) == b"", "it ends with the proxy"
    assert proxy.stop() == 128 + SIGTERM


def test_at_start_none_of_two_that_both_say_yes_is_up(started: Started) -> None:
    proxy = started(SLOW_CHECKS)
    proxy.stop()
    proxy.members[1].lead()
    with proxy.watched() as seen:
        proxy.start(unchecked=True)
        time.sleep(2)
    assert seen == [[]]


def test_at_start_one_good_answer_and_one_bad_one_are_not_enough(started: Started) -> None:
    proxy = started(SLOW_CHECKS)
    proxy.stop()
    leader = proxy.members[0]
    leader.asked.clear()
    leader.primary_by_turns = True
    with proxy.watched() as seen:
        proxy.start(unchecked=True)
        eventually(lambda: [what for _, what in leader.asked].count("GET /primary") > 9, 10)
    assert seen == [[]]
