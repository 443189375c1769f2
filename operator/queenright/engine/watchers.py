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


class Trouble:
    """Tells a trouble once, not at every try; again when it is another or has been over."""

    def __init__(self, event: str) -> None:
        self._event = event
        self._told = ""

    def tell(self, error: Exception) -> None:
        text = str(error) if isinstance(error, SwarmError) else f"{type(error).__name__}: {error}"
        if text != self._told:
            log.warning(self._event, error=text)
        self._told = text

    def is_over(self) -> None:
        self._told = ""


async def watch_files(state: DesiredState, wakeup: Wakeup, tempo: Tempo) -> None:
    """Reads the files again once two looks in a row saw the same new state of them: a file that is
    still being written is left alone."""
    trouble = Trouble("the files can't be watched; the timer goes on")
    before: str | None = None
    while True:
        try:
            now = await state.fingerprint()
            if now == before and now != state.read_fingerprint:
                wakeup.notify(await state.refresh())
            before = now
            trouble.is_over()
        except Exception as error:  # noqa: BLE001  # a watcher outlives whatever happens in a round
            trouble.tell(error)
        await anyio.sleep(tempo.file_poll_s)


async def watch_swarm(ports: Ports, wakeup: Wakeup) -> None:
    """Listens to Docker's events, and listens again whenever the stream ends. A stream that can't
    be had is told once, not at every try."""
    trouble = Trouble("docker events are not heard; the timer goes on")
    while True:
        try:
            async with aclosing(ports.swarm.events()) as events:
                async for text in events:
                    wakeup.notify(Trigger("docker", text))
                    trouble.is_over()
        except Exception as error:  # noqa: BLE001  # as above
            trouble.tell(error)
        await anyio.sleep(LISTEN_AGAIN_S)


async def watch_members(
    ports: Ports, wakeup: Wakeup, tempo: Tempo, members: Callable[[], Sequence[MemberAddress]]
) -> None:
    """Asks every deployed member how it is, and wakes the loop when an answer is another, or the
    first: what a pass saw of a member before may be older."""
    trouble = Trouble("a member can't be watched; the timer goes on")
    known: dict[str, tuple[object, ...]] = {}
    while True:
        await anyio.sleep(tempo.member_poll_s)
        try:
            found = await signatures(ports, members(), trouble)
            changed = sorted(name for name in found if known.get(name) != found[name])
            if changed:
                wakeup.notify(Trigger("member", ", ".join(changed)))
            known = found
        except Exception as error:  # noqa: BLE001  # as above
            trouble.tell(error)


async def signatures(
    ports: Ports, members: Sequence[MemberAddress], trouble: Trouble
) -> dict[str, tuple[object, ...]]:
    """Each member's signature; one that can't be asked is unknown and hides no other."""
    found: dict[str, tuple[object, ...]] = {}
    failures: list[Exception] = []

    async def ask(name: str, address: str, port: int) -> None:
        reading: Known[MemberStatus] | Unknown
        try:
            reading = await ports.patroni.status(address, port)
        except Exception as error:  # noqa: BLE001  # as above
            failures.append(error)
            reading = Unknown(str(error))
        found[name] = signature(reading)

    async with anyio.create_task_group() as group:
        for member in members:
            group.start_soon(ask, *member)
    if failures:
        trouble.tell(min(failures, key=str))
    else:
        trouble.is_over()
    return found


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
