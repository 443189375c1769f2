"""Reads what a service's tasks wrote out of the engine's frames, of which some are its own.

An engine answers 200 also where it can't give a task's lines, and says so in a frame of its own. It
does so for a node that is away, and after an outage also for one that is well again: a stream that
ends late takes the entry of the node's new one with it (swarmkit's `nodeDisconnected`; moby 35011).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from queenright.ports.swarm import UnavailableError

HEADER = struct.Struct(">BxxxL")
"""A frame's stream and the length of its content."""
ENGINES_OWN = 3
"""The stream on which the engine says what failed; 1 and 2 are the task's."""
NODE_AWAY = re.compile(r"node (\w+) is not available")
INTRODUCTION = re.compile(r"^.*for the following reasons: ", re.DOTALL)


def lines_of(content: bytes) -> str:
    """Return what the tasks wrote. UnavailableError where the engine says that it lacks lines."""
    found = list(frames_of(content))
    said = b"".join(text for stream, text in found if stream == ENGINES_OWN)
    if said:
        raise UnavailableError(why_lacking(said.decode(errors="replace")))
    return b"".join(text for _, text in found).decode(errors="replace")


def frames_of(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each frame's stream and content; one that was cut off with what there is of it."""
    at = 0
    while at + HEADER.size <= len(content):
        stream, length = HEADER.unpack_from(content, at)
        at += HEADER.size
        yield stream, content[at : at + length]
        at += length


def why_lacking(said: str) -> str:
    """Return the engine's reason in one line, and what helps."""
    reason = INTRODUCTION.sub("", said.strip())
    if away := NODE_AWAY.search(reason):
        return (
            f"service logs: the swarm gets none from node {away[1]} (it is away, or its log stream "
            "was lost in an outage); if it is ready, restart Docker's engine there"
        )
    return f"service logs: {reason}"
