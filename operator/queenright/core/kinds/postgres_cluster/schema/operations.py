"""Fields for the operation of a cluster: primary, failback, pauses and maintenance.

Fields for the contract's operational rules (spec: database-cluster §3, Operational rules). A pause
or maintenance that has an end is written with it, and ends by itself.
"""

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from queenright.core.manifest.model import Part, Sequence, Worded
from queenright.core.manifest.moments import Moment
from queenright.core.manifest.names import NodeName
from queenright.core.manifest.quantities import Seconds


class Maintenance(Part):
    """Nodes that will be powered off or worked on (spec: database-cluster, Operational rules 2)."""

    nodes: Sequence[NodeName] = Field(
        default=(),
        description="Member nodes that are about to be powered off. The leader moves to a member "
        "that stays, and `queenright status` says when it is safe.",
        examples=[["node3", "node4"]],
    )
    until: Moment | None = Field(
        default=None, description="When the maintenance is over by itself. Default: when edited."
    )

    def nodes_at(self, now: datetime) -> tuple[str, ...]:
        """The nodes in maintenance at a moment."""
        return self.nodes if self.until is None or now < self.until else ()


class AcceptedLoss(Part):
    """The owner's word for a leader that may not have all that was acknowledged."""

    leader: str = Field(
        description="The member that leads on, though what only others had is lost.",
        examples=["member-2"],
    )
    timeline: int = Field(
        ge=1,
        description="The timeline that its data is on, as the hold names it. The word counts for "
        "this loss alone: each new leader begins another timeline.",
        examples=[4],
    )


class CanarySpec(Part):
    """A writer that measures what clients of port 5000 see of each change of leader."""

    enabled: bool = Field(
        default=False,
        description="Whether five rows a second are written through the proxies' port 5000, to a "
        "table of its own in a database of its own, and each leader change's gap is logged.",
    )


class Failback(Worded):
    """Reaction to a failover that has taken the leadership from the member in `primary`."""

    WORD: ClassVar[str] = "mode"

    mode: Literal["manual", "automatic"] = Field(
        default="manual",
        description="`manual`: the new leader stays, as the contract has it (spec: §1.8). "
        "`automatic`: it leads again after a stable time.",
    )
    after_s: Seconds = Field(
        default=600,
        ge=60,
        description="Time for which everything has to be well before the failback.",
    )
