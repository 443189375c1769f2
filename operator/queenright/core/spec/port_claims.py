"""Which ports of which nodes an application has, and whether two claims can't both be had.

Invariant: two claims clash only where they surely do: a port that swarm may place on any node is
placed beside others, never on them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from queenright.core.spec.notes_app import NotesApp
from queenright.core.spec.postgres_cluster import PostgresCluster
from queenright.core.spec.problems import Document, Finding, Path
from queenright.core.spec.together import port_uses


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


def claims_of(document: Document) -> tuple[PortClaim, ...]:
    """Every port that a document asks for."""
    if document.is_app:
        return tuple(_app_claims(document.app))
    return tuple(_cluster_claims(document.cluster)) if document.is_cluster else ()


def _cluster_claims(cluster: PostgresCluster) -> Iterator[PortClaim]:
    for nodes, path, port in port_uses(cluster):
        yield PortClaim(path, port, frozenset(nodes))


def _app_claims(app: NotesApp) -> Iterator[PortClaim]:
    spec = app.spec
    if spec.publish.mode != "none":
        path: Path = ("spec", "publish", "port")
        yield _claim(path, spec.publish.port, spec.publish.mode, spec.placement.nodes)
    if spec.edge is not None:
        for field, port in (("http", spec.edge.ports.http), ("https", spec.edge.ports.https)):
            edge: Path = ("spec", "edge", "ports", field)
            if field == "https" and spec.edge.tls.mode == "off":
                continue  # which publishes none
            yield _claim(edge, port, spec.edge.publish, spec.edge.nodes)


def _claim(path: Path, port: int, mode: str, nodes: Sequence[str]) -> PortClaim:
    if mode == "ingress":
        return PortClaim(path, port, is_everywhere=True)
    return PortClaim(path, port, frozenset(nodes))


def port_findings(earlier: Document, later: Document, whose: str) -> Iterator[Finding]:
    """The later document's ports that the earlier one has."""
    taken = claims_of(earlier)
    for claim in claims_of(later):
        other = next((one for one in taken if claim.clashes_with(one)), None)
        if other is not None:
            message = (
                f"{claim.port} is also used by {whose}{claim.where(other)}; write another port"
            )
            yield Finding(claim.path, message)
