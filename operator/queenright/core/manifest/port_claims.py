"""A port that a document asks for on nodes, and whether two such claims clash.

Invariant: two claims clash only where they surely do: a port that swarm may place on any node is
placed beside others, never on them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from queenright.core.manifest.problems import Finding, Path


@dataclass(frozen=True, slots=True)
class PortClaim:
    """A port by the field that says it. No nodes means every node where `is_everywhere`, and
    otherwise whichever swarm picks."""

    path: Path
    port: int
    nodes: frozenset[str] = frozenset()
    is_everywhere: bool = False

    def clashes_with(self, other: "PortClaim") -> bool:
        if self.port != other.port:
            return False
        return self.is_everywhere or other.is_everywhere or bool(self.nodes & other.nodes)

    def where(self, other: "PortClaim") -> str:
        """The nodes where both claims meet, as a message names them."""
        shared = self.nodes & other.nodes or self.nodes or other.nodes
        return f" on {', '.join(sorted(shared))}" if shared else ""


def port_findings(
    earlier: Sequence[PortClaim], later: Iterable[PortClaim], whose: str
) -> Iterator[Finding]:
    """The later document's ports that the earlier one, which ``whose`` names, has."""
    for claim in later:
        other = next((one for one in earlier if claim.clashes_with(one)), None)
        if other is not None:
            message = (
                f"{claim.port} is also used by {whose}{claim.where(other)}; write another port"
            )
            yield Finding(claim.path, message)
