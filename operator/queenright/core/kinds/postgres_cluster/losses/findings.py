"""Causes for which a member does not come up by itself, as its container shows them.

The member image's entry point says them: while Patroni runs, by a tag that ``/patroni`` shows;
where Patroni can't be started, by the container's exit status, which is all that swarm shows of it.
A member with an image of an earlier version says neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from queenright.core.observed import Task

INTERRUPTED_COPY = "interrupted-copy"
"""The tag of a data directory that holds the beginning of a base backup and never was in use, or
that a rewind has left half done: it has no rows any more that the rewind would have kept."""


@dataclass(frozen=True, slots=True)
class Cause:
    """``wrong`` goes on from the member's name; ``todo`` is what a person does, if anybody has to.
    ``is_data`` is True where the data directory is of no use."""

    wrong: str
    todo: str = ""
    is_data: bool = False


FULL = Cause(
    "no room was left on the disk of its volumes",
    "make room on {node} (docker system df, df -h), without touching its volumes: it starts by "
    "itself",
)
UNREADABLE_JOURNAL = Cause(
    "its Raft journal can't be read, and no quorum of the other members could spare it",
    "start the other members: it then sets the journal aside, and starts by itself",
)
TAGS: Mapping[str, Cause] = {
    "no-room": FULL,
    "no-version-file": Cause("its data directory had no PG_VERSION", is_data=True),
    "no-control-file": Cause("its data directory had no global/pg_control", is_data=True),
    "damaged-control-file": Cause(
        "its data directory had a damaged global/pg_control", is_data=True
    ),
    INTERRUPTED_COPY: Cause("its last copy or rewind was interrupted", is_data=True),
}
BUS_ERROR = 135
"""The exit status of a process that wrote to a mapped file, such as Raft's journal, for which the
disk has no room (SIGBUS)."""
EXIT_STATUSES: Mapping[int, Cause] = {81: FULL, 82: UNREADABLE_JOURNAL, BUS_ERROR: FULL}
DOCKER_IS_FULL = "no space left on device"
"""Docker's words for a container that it can't create, in whatever sentence."""


def cause_of_tag(finding: str) -> Cause | None:
    """Return the cause that a running Patroni's tag names; None for none, or an unknown one."""
    return TAGS.get(finding)


def cause_of_end(task: Task | None) -> Cause | None:
    """Return the cause for which a task ended; None where it is not known."""
    if task is None:
        return None
    if DOCKER_IS_FULL in task.error.lower():
        return FULL
    return EXIT_STATUSES.get(task.exit_code) if task.exit_code is not None else None
