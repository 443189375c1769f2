"""Reads a Raft node's ``status`` (``raft_messages``).

Invariant: anything but a plain status is Unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import anyio

from queenright.adapters.patroni.raft_messages import (
    NOT_CREDIBLE,
    decode_answer,
    exchanged,
    framed,
)
from queenright.adapters.turns import attentive
from queenright.core.observed import Known, RaftStatus, Unknown

PARTNER, MATCH = "partner_node_status_server_", "match_idx_server_"
CONNECTED = 2
STATES: tuple[Literal["follower", "candidate", "leader"], ...] = ("follower", "candidate", "leader")
"""By their numbers in pysyncobj."""
REQUEST = framed(["status"])


async def raft_status(address: str, port: int, timeout_s: float) -> Known[RaftStatus] | Unknown:
    """Return the Raft node's view of its quorum; Unknown with the reason if it gives none in
    time."""
    try:
        with attentive(timeout_s):
            body = await asked(address, port)
        return Known(decode_raft_status(body))
    except NOT_CREDIBLE as error:
        return Unknown(f"raft at {address}:{port}: {str(error) or type(error).__name__}")


async def asked(address: str, port: int) -> bytes:
    """Return the body of the node's answer, as it came."""
    async with await anyio.connect_tcp(address, port) as stream:
        return await exchanged(stream, REQUEST)


def decode_raft_status(body: bytes) -> RaftStatus:
    """Return the status in an answer; ValueError or zlib.error for anything else."""
    status = decode_answer(body)
    if not isinstance(status, dict):
        raise ValueError("not a Raft node's status")  # noqa: TRY004  # one error for all that is not credible
    has_quorum, term, leader = (status.get(k) for k in ("has_quorum", "raft_term", "leader"))
    if not isinstance(has_quorum, bool) or type(term) is not int:
        raise ValueError("not a Raft node's status: no quorum or term")
    partners = {
        key.removeprefix(PARTNER): value
        for key, value in status.items()
        if isinstance(key, str) and key.startswith(PARTNER)
    }
    state = STATES[number] if (number := counted(status, "state")) < len(STATES) else ""
    return RaftStatus(
        has_quorum=has_quorum,
        leader=address_of(leader),
        term=term,
        reachable=frozenset(name for name, value in partners.items() if value == CONNECTED),
        unreachable=frozenset(name for name, value in partners.items() if value != CONNECTED),
        address=address_of(status.get("self")),
        state=state,
        commit_index=counted(status, "commit_idx"),
        last_applied=counted(status, "last_applied"),
        log_length=counted(status, "log_len"),
        uptime_s=counted(status, "uptime"),
        match_index=match_index(status) if state == "leader" else {},
    )


def match_index(status: Mapping[object, object]) -> dict[str, int]:
    """Return the last entry that each node is known to have, by its address."""
    return {
        key.removeprefix(MATCH): counted(status, key)
        for key in status
        if isinstance(key, str) and key.startswith(MATCH)
    }


def counted(status: Mapping[object, object], key: str) -> int:
    """Return a number from 0 up."""
    found = status.get(key)
    if type(found) is not int or found < 0:
        raise ValueError(f"not a Raft node's status: {key} is not a number from 0 up")
    return found


def address_of(node: object) -> str:
    """Return a node's address: pysyncobj sends its own object, of which only the state is read."""
    if node is None:
        return ""
    found = node.get("_id") if isinstance(node, dict) else None
    if not isinstance(found, str):
        raise ValueError("not a Raft node's status: its leader has no address")  # noqa: TRY004  # as above
    return found
