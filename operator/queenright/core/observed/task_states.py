"""The table of swarm's task states in which a task may hold a process.

The states are swarmkit's (``api/types.proto``), in their order. Invariant: a task that may hold a
process, as far as the managers know, counts as one that does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Holds = Literal["never", "once wanted", "always", "while lost"]

PROCESS: Mapping[str, Holds] = {
    # No node has received it.
    "new": "never",
    "pending": "never",
    # Its node has it, and starts the container as soon as swarm wants it to run. The node's report
    # comes later than its work: until it arrives, the container may run.
    "assigned": "once wanted",
    "accepted": "once wanted",
    "preparing": "once wanted",
    "ready": "once wanted",
    # The container runs; it is "starting" until its first successful health check, and "running"
    # until it has ended, also while it is being stopped.
    "starting": "always",
    "running": "always",
    # Its node says that the container has ended, or never began.
    "complete": "never",
    "shutdown": "never",
    "failed": "never",
    "rejected": "never",
    "remove": "never",
    # The managers have given its node up. There the container goes on until the node is reachable
    # again and ends it.
    "orphaned": "while lost",
}
"""The condition under which a task in each state may hold a process."""

WAITS: frozenset[str] = frozenset({"new", "pending", "assigned", "accepted", "preparing", "ready"})
"""Desired states in which a node prepares a container and does not start it: the task waits for
another one to end, or for the delay of its restart policy."""

ALIVE_STATES: frozenset[str] = WAITS | {"starting", "running"}
"""States of a task that runs or will run."""

WANTED_STATES: frozenset[str] = frozenset({"accepted", "ready", "running", "complete"})
"""Desired states of a task that swarm wants to run, now or in a moment."""


def may_hold_process(state: str, desired: str, *, is_node_lost: bool) -> bool:
    """Return True if a task may hold a process; a state outside the table counts as yes.

    ``is_node_lost`` is True if swarm knows the task's node and can't reach it."""
    match PROCESS.get(state, "always"):
        case "never":
            return False
        case "once wanted":
            return desired not in WAITS
        case "while lost":
            return is_node_lost
        case "always":
            return True
