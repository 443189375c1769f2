"""Entries of the swarm's list whose hostname another node has: what a person has to remove.

Swarm goes on listing a node that has left, and its tasks as they last were. Decides from the
swarm's nodes alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from queenright.core.observed import Node, SwarmState
from queenright.core.planning.plan import Hold


def former_node_holds(swarm: SwarmState, names: Collection[str]) -> Iterator[Hold]:
    """Yield a note for each second node of one of these names."""
    for former in swarm.former_nodes:
        present = swarm.node(former.name)
        if former.name in names and present is not None:
            is_known = former.state != "ready" and former.address == present.address
            reason = f"node {former.name}: {why_twice(former, present)}"
            key = f"former-node/{former.id}"
            yield Hold(key, reason, wants_attention=not is_known, is_informational=True)


def why_twice(former: Node, present: Node) -> str:
    """Return in words why a name is listed twice, and what to do."""
    if former.state == "ready":
        return (
            f"two machines have this hostname ({former.id} at {former.address}, and {present.id} "
            f"at {present.address}, which is taken for the file's); give one of them another"
        )
    if former.address != present.address:
        return (
            f"is listed twice ({former.id} at {former.address or 'no address'} is {former.state}, "
            "and may be another machine that runs on: while it has a task of a member, no other "
            f"member is restarted); if it is gone for good: docker node rm {former.id}"
        )
    return (
        f"is listed twice (it joined again, and its former entry {former.id} is {former.state}); "
        f"remove that one: docker node rm {former.id}"
    )
