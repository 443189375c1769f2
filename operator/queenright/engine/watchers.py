"""What wakes the loop besides its timer: a file edit, a Docker event, a change at a member.

Watchers only wake; what a pass knows it observes itself. Invariant: no failure of a watcher ends
it, and a watcher that hears nothing costs nothing but latency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing

import anyio
import structlog

from queenright.core.audit import Trigger
from queenright.core.observed import Known, MemberStatus, Unknown
from queenright.engine.desired_state import DesiredState
from queenright.engine.wakeup import Wakeup
from queenright.engine.world import Ports, Tempo
from queenright.ports.swarm import SwarmError

log = structlog.get_logger()

LISTEN_AGAIN_S = 5.0

MemberAddress = tuple[str, str, int]
"""A member's service name, address and REST API port."""


async def watch_files(state: DesiredState, wakeup: Wakeup, tempo: Tempo) -> None:
    """Reads the files again once two looks in a row saw the same new state of them: a file that is
    still being written is left alone."""
    before = await state.fingerprint()
    while True:
        await anyio.sleep(tempo.file_poll_s)
        now = await state.fingerprint()
        if now == before and now != state.read_fingerprint:
            wakeup.notify(await state.refresh())
        before = now


async def watch_swarm(ports: Ports, wakeup: Wakeup) -> None:
    """Listens to Docker's events, and listens again whenever the stream ends. A stream that can't
    be had is told once, not at every try."""
    told = ""
    while True:
        try:
            async with aclosing(ports.swarm.events()) as events:
                async for text in events:
                    wakeup.notify(Trigger("docker", text))
                    told = ""
        except SwarmError as error:
            if str(error) != told:
                log.warning("docker events are not heard; the timer goes on", error=str(error))
            told = str(error)
        await anyio.sleep(LISTEN_AGAIN_S)


async def watch_members(
    ports: Ports, wakeup: Wakeup, tempo: Tempo, members: Callable[[], Sequence[MemberAddress]]
) -> None:
    """Asks every deployed member how it is, and wakes the loop when an answer is another, or the
    first: what a pass saw of a member before may be older."""
    known: dict[str, tuple[object, ...]] = {}
    while True:
        await anyio.sleep(tempo.member_poll_s)
        found: dict[str, tuple[object, ...]] = {}

        async def ask(
            name: str, address: str, port: int, found: dict[str, tuple[object, ...]] = found
        ) -> None:
            found[name] = signature(await ports.patroni.status(address, port))

        async with anyio.create_task_group() as group:
            for member in members():
                group.start_soon(ask, *member)
        changed = sorted(name for name in found if known.get(name) != found[name])
        if changed:
            wakeup.notify(Trigger("member", ", ".join(changed)))
        known = found


def signature(reading: Known[MemberStatus] | Unknown) -> tuple[object, ...]:
    """What of a member's status is worth a pass: not its WAL position, which always moves."""
    if isinstance(reading, Unknown):
        return ("unknown",)
    status = reading.value
    return (
        status.state,
        status.role,
        status.timeline,
        status.replication_state,
        status.holds_lock,
        status.paused,
        status.pending_restart,
    )
