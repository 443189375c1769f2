"""Look once at many clusters, as a pass does: each member's status and Raft node, all at once,
and each leader's settings."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import anyio

from queenright.adapters.patroni.http import PatroniHttp
from queenright.core.observed import Known
from tests.polling.stub_members import Served, StubMember


@dataclass
class Look:
    """The questions asked and answered, of members that answer, and their cost. ``reasons`` are
    those for which a member that answers counts as unknown."""

    asked: int
    answered: int
    wrongly_known: int
    took_s: float
    cpu_s: float
    reasons: list[str]


async def look(patroni: PatroniHttp, there: Served) -> Look:
    began, cpu = time.monotonic(), os.times()
    found: dict[tuple[str, str], object] = {}

    async def status(member: StubMember) -> None:
        found["status", member.address] = await patroni.status(member.address, there.rest_port)
        if member.leads:
            found["settings", member.address] = await patroni.settings(
                member.address, there.rest_port
            )

    async def raft(member: StubMember) -> None:
        found["raft", member.address] = await patroni.raft(member.address, there.raft_port)

    async with anyio.create_task_group() as group:
        for member in there.members:
            group.start_soon(status, member)
            group.start_soon(raft, member)
    now = os.times()
    well = {member.address for member in there.members if member.answers}
    due = {key: value for key, value in found.items() if key[1] in well}
    unknown = [value for value in due.values() if not isinstance(value, Known)]
    return Look(
        asked=len(due),
        answered=len(due) - len(unknown),
        wrongly_known=sum(isinstance(v, Known) for k, v in found.items() if k[1] not in well),
        took_s=time.monotonic() - began,
        cpu_s=now.user + now.system - cpu.user - cpu.system,
        reasons=sorted({str(value) for value in unknown})[:3],
    )
