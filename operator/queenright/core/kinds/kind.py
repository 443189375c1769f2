"""The interface of a kind: all that the operator asks of a document, whatever it describes.

A kind is a folder beside this file whose `kind.py` has one value of this type, and one line in the
registry. Everything else reads, plans, guards, executes and shows it through this interface.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeAlias, TypeVar

from queenright.core.actions import AnyAction
from queenright.core.manifest.document import Clash, Document
from queenright.core.manifest.model import Resource
from queenright.core.manifest.problems import Finding
from queenright.core.observed import Node, Observed, SwarmState
from queenright.core.observed.readiness import ReadinessTarget
from queenright.core.planning.deletion import ClaimedLabels, owners
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.guards import MayGo
from queenright.core.planning.picture import Part
from queenright.core.planning.plan import Guard, Hold, Plan
from queenright.core.planning.status import PlainStatus, Status
from queenright.core.postgres.catalog import NO_CATALOG, DesiredCatalog
from queenright.core.swarm.objects import NodeLabels, Service

Step: TypeAlias = AnyAction | Hold
Rule: TypeAlias = Callable[[Any], Iterable[Step]]
"""A rule of some kind: from that kind's state to steps."""


class Desired(Protocol):
    """The desired state of a document, as far as it is the same for every kind."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...

    @property
    def services(self) -> tuple[Service, ...]: ...


R = TypeVar("R", bound=Resource)
D = TypeVar("D", bound=Desired)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The context of an expansion: the swarm, all documents, and the roles and databases that
    documents claim of others."""

    swarm: SwarmState
    documents: Sequence[Document] = ()
    claims: Mapping[DocumentKey, DesiredCatalog] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a plan: the whole observation, the whole desired state, and the pass's one
    moment. ``claimed`` are the nodes and label keys that other documents place by."""

    swarm: SwarmState
    observed: Observed
    now: datetime
    documents: Sequence[Document] = ()
    desired: Mapping[DocumentKey, Desired] = field(default_factory=dict)
    claimed: ClaimedLabels = frozenset()


class Kind(Protocol[R, D]):
    """One kind of document. What has a default here is what a kind may do without."""

    model: type[R]
    noun: str
    """The word for what a document describes, such as ``cluster``."""
    plural: str
    """The same of several; the key of their list in JSON."""
    label: str
    """The label that says, on each object in the swarm, which document it belongs to."""
    rules: tuple[Rule, ...]
    """In their order; each sees the kind's own state."""
    guards: tuple[Guard, ...] = ()
    removable: tuple[MayGo, ...] = ()
    """The services that may be removed while their document exists."""
    has_members: bool = False
    """True if its desired state is a ``DesiredCluster``, whose members and leader are asked."""

    @property
    def name(self) -> str:
        return self.model.KIND

    @property
    def schema_file(self) -> str:
        """File name of its JSON Schema."""
        return f"{self.name.lower()}.schema.json"

    def check(self, resource: R) -> Iterable[Finding]:
        """The faults of one document, beyond those of its model."""
        return ()

    def check_together(
        self, documents: Sequence[Document], described: Collection[tuple[str, str]]
    ) -> Iterable[Clash]:
        """The faults between documents of this kind and any others; ``described`` has the kind and
        name of all that was written, valid or not."""
        return ()

    def check_placement(self, resource: R, nodes: Sequence[Node]) -> Iterable[Finding]:
        """The faults of a document on these nodes."""
        return ()

    def node_labels(self, resource: R) -> Iterable[NodeLabels]:
        """The labels of nodes that the document places by."""
        return ()

    def needs(self, resource: R) -> DocumentKey | None:
        """The document that this one rests on: planned before it, and left in peace with it."""
        return None

    def claims(self, resource: R) -> DesiredCatalog:
        """The roles and databases that the document claims of the one that it needs."""
        return NO_CATALOG

    def state_config(self, name: str) -> str:
        """Name of the config whose labels keep what can't be derived, the deletion policy say."""
        ...

    def owned(self, swarm: SwarmState) -> frozenset[str]:
        """The names of what is deployed, described or not."""
        return owners(self.label, swarm)

    def expand(self, document: Document[R], around: Surroundings) -> D | None:
        """The document in the swarm's terms; None where that can't be told."""
        ...

    def says_all(self, resource: R) -> bool:
        """Return True if the file alone is enough for an expansion; else the swarm has to be
        asked."""
        return True

    def why_not_expanded(self, document: Document[R], swarm: SwarmState) -> str:
        """Return the reason why ``expand`` gives nothing on this swarm."""
        return "it can't be told what it asks of this swarm"

    def texts(self, desired: D) -> Iterable[tuple[str, str]]:
        """The texts that a document comes to, such as configs, each with what it is."""
        return ()

    def readiness(self, desired: D, swarm: SwarmState) -> Iterable[ReadinessTarget]:
        """The tasks that are asked whether they are ready."""
        return ()

    def plan(
        self, document: Document[R], desired: D | None, context: Context, rules: tuple[Rule, ...]
    ) -> Plan:
        """The next safe steps for a document."""
        ...

    def plan_deletion(self, name: str, context: Context) -> Plan:
        """The next safe steps for what is deployed and no document describes."""
        ...

    def status(
        self, name: str, desired: D | None, plan: Plan, observed: Observed, now: datetime
    ) -> Status:
        """Return its status, for people."""
        return PlainStatus(name, plan)

    def parts(self, desired: D, observed: Observed, swarm: SwarmState) -> Iterable[Part]:
        """The parts of a document on their nodes, for a picture."""
        return ()

    def figures(
        self, desired: D, observed: Observed, swarm: SwarmState, now: datetime
    ) -> Mapping[str, object]:
        """The figures of a document that the log's line ``state`` has, by their keys."""
        return {}

    def live_status(self, name: str, swarm: SwarmState, observed: Observed) -> Status:
        """Return the status of what is deployed, without a valid file."""
        return PlainStatus(name, Plan(name, ""), is_compared=False)
