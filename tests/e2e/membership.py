"""Facts about members whose names and nodes change, and the lines of the file that name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import anyio

from queenright.adapters.patroni.raft_membership import PysyncobjMembership
from queenright.core.observed import Known
from tests.e2e.swarm_facts import cluster_table, patroni
from tests.lab.lab import Lab

RAFT_PORT = 5010


def with_members(manifest: str, lines: Iterable[str], more: str = "") -> str:
    """Return the manifest with these members (the fields of each), and further fields."""
    written = "".join(f"    - {{{line}}}\n" for line in lines)
    return re.sub(r"  members:\n(    - .*\n)+", f"{more}  members:\n{written}", manifest, count=1)


def leading(lab: Lab, members: Mapping[str, str]) -> str:
    """Return the member that leads, empty when there is none or more than one."""
    roles = ("primary", "master")
    found = [name for name, node in members.items() if patroni(lab, node).get("role") in roles]
    return found[0] if len(found) == 1 else ""


def is_whole(lab: Lab, members: Mapping[str, str]) -> bool:
    """Return True if Patroni lists exactly these members, one leading and the others streaming."""
    table = cluster_table(lab, members.values())
    states = sorted(str(row["state"]) for row in table)
    return {row["name"] for row in table} == {*members} and states == sorted(
        ["running", *["streaming"] * (len(members) - 1)]
    )


def voters(address: str) -> frozenset[str]:
    """Return the addresses that vote by this Raft node's own list; empty if it does not answer."""

    async def ask() -> frozenset[str]:
        answer = await PysyncobjMembership(2).voters(address, RAFT_PORT)
        match answer:
            case Known(found):
                return frozenset(voter.rpartition(":")[0] for voter in found)
            case _:
                return frozenset()

    return anyio.run(ask)
