"""The acknowledged rows that a fault may lose, and the check that it lost no others.

Replication is asynchronous (spec: database-cluster §1.6): rows that a leader acknowledged while no
replica could receive them are lost when another member is elected. So the rows that may be lost
were acknowledged after the last moment at which every replica had everything, and before the outage
in which another member became the leader. A leader that leads again has lost nothing: it flushed
each row before it acknowledged it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from tests.e2e.swarm_facts import MEMBER_NODES, connect, eventually, leader_node, patroni
from tests.e2e.writer import Writer
from tests.lab.lab import Lab

RECEIVED = "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= %s::pg_lsn"


def timeline(lab: Lab) -> int:
    """The highest that a member says it is on."""
    return max(int(patroni(lab, node).get("timeline") or 0) for node in MEMBER_NODES)


@dataclass
class Watch:
    """A writer through ``node``, and since when a fault may cost rows: until ``brace`` none may."""

    lab: Lab
    node: str
    writer: Writer
    since: float = float("inf")
    before: tuple[str, int] = ("", 0)
    """The leader's node and the timeline at that moment."""

    def brace(self) -> float:
        """Just before a fault: every row acknowledged until the moment that is returned
        (monotonic) is flushed on both replicas by now."""
        before, moment = (leader_node(self.lab), timeline(self.lab)), time.monotonic()
        with connect(self.lab, self.node) as leader:
            lsn = leader.execute("SELECT pg_current_wal_flush_lsn()").fetchone()
            replicas = len(MEMBER_NODES) - 1
            eventually(
                lambda: leader.execute(RECEIVED, lsn).fetchone() == (replicas,),
                "every replica to have what was acknowledged",
            )
        self.since, self.before = moment, before
        return moment

    def lost(self) -> list[int]:
        """The acknowledged rows that are gone; AssertionError where one of them may not be."""
        lost = self.writer.lost(self.lab, self.node)
        acknowledged = dict(self.writer.rows)
        until = self.writer.before_longest_gap(self.since)
        kept = [n for n in lost if not self.since <= acknowledged[n] <= until]
        assert not kept, f"rows that had to be there are gone: {kept[:20]}"
        leader, number = self.before
        stayed = leader_node(self.lab) == leader and timeline(self.lab) <= number + 1
        assert not (lost and stayed), f"{leader} led before and leads, and {lost[:20]} are gone"
        return lost
