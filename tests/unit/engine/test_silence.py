"""An operator that begins to act asks at first nobody who was silent to its watches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import anyio

from queenright.core.observed import Known, Unknown
from queenright.core.observed.readiness import Readiness, ReadinessTarget
from queenright.engine.observe_readiness import ReplicaWatch
from queenright.engine.silence import LEFT_OUT_S, leaving_out
from queenright.engine.trigger_queue import Wakeup
from queenright.engine.watchers import MemberWatch
from queenright.settings import PollIntervals
from tests.fakes.virtual_loop import run_virtual

TEMPO = PollIntervals(member_poll_s=1.0, replica_poll_s=1.0)
MEMBER, REPLICA = "main_member-1", "task1"
TARGET = ReadinessTarget(REPLICA, "10.0.1.5", 8000)


class Answers:
    """A member and a replica that may be silent, and the questions that they got."""

    def __init__(self) -> None:
        self.is_silent = True

    async def status(self, address: str, port: int) -> Any:
        return Unknown("timed out") if self.is_silent else Known(MEMBER_STATUS)

    async def ask(self, targets: Any) -> dict[str, Any]:
        found = Unknown("timed out") if self.is_silent else Known(Readiness(200))
        return {one.task_id: found for one in targets}


MEMBER_STATUS: Any = SimpleNamespace(
    state="running",
    role="replica",
    timeline=1,
    replication_state="streaming",
    holds_lock=False,
    paused=False,
    pending_restart=False,
    synchronous="",
)


def test_the_silent_are_left_out_for_some_seconds_unless_they_are_heard() -> None:
    async def main() -> None:
        there, wakeup = Answers(), Wakeup()
        ports: Any = SimpleNamespace(readiness=there)
        patroni: Any = there
        members = MemberWatch(patroni, wakeup, lambda: [(MEMBER, "10.77.0.12", 8008)])
        replicas = ReplicaWatch(ports, wakeup, lambda: {TARGET: "notes"})
        assert not leaving_out(members, replicas)(MEMBER), "nobody was asked yet"
        async with anyio.create_task_group() as group:
            group.start_soon(members.run, TEMPO)
            group.start_soon(replicas.run, TEMPO)
            await anyio.sleep(1.5)
            is_left_out = leaving_out(members, replicas)
            assert is_left_out(MEMBER)
            assert is_left_out(REPLICA)
            assert not is_left_out("main_member-2")
            there.is_silent = False
            await anyio.sleep(1.1)
            assert not is_left_out(MEMBER)
            assert not is_left_out(REPLICA)
            there.is_silent = True
            await anyio.sleep(1.1)
            assert is_left_out(MEMBER)
            await anyio.sleep(LEFT_OUT_S)
            assert not is_left_out(MEMBER)
            assert not is_left_out(REPLICA)
            group.cancel_scope.cancel()

    run_virtual(main)
