"""Looks at the members of many clusters: how many questions are answered, in what time.

Needs no lab: the members are stubs on loopback addresses, in a process of their own; in every tenth
cluster one is silent, slow, resets its connections or never ends its answer. A look asks what a
pass asks: each member's status (two requests) and Raft node, and each leader's settings.
"""

from __future__ import annotations

import anyio

from queenright.adapters.patroni.http import PatroniHttp
from queenright.settings import Settings
from tests.polling.look import Look, look
from tests.polling.stub_members import MEMBERS, served

CLUSTERS = (1, 25, 200)
LOOKS = 3


def bench_polling() -> None:
    timeout_s = Settings().member_timeout_s
    for clusters in CLUSTERS:
        for found in anyio.run(look_again_and_again, clusters, timeout_s):
            print(
                f"{clusters:4} clusters, {clusters * MEMBERS:4} members: {found.answered:5} of "
                f"{found.asked:5} answers of members that answer, in {found.took_s:5.2f} s, with "
                f"{found.cpu_s:5.2f} s of the processor"
            )


async def look_again_and_again(clusters: int, timeout_s: float) -> list[Look]:
    with served(clusters) as there:
        patroni = PatroniHttp(timeout_s)
        return [await look(patroni, there) for _ in range(LOOKS)]
