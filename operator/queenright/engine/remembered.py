"""Remembers what was expanded, planned and judged, while all that it was made from is equal.

Invariant: an answer is given again only if its document, its desired state and its rules are the
same, and every question that making it had asked of the observation, of other documents and of the
time has the same answer in this pass. What has the time in it is made anew in each pass. After an
answer that could not be kept the next one is made without a record of what it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from queenright.core.kinds.claims import claim_alike, claimed_by_others, claims_of
from queenright.core.kinds.kind import Desired
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Observed, SwarmState, Unknown
from queenright.core.observed.carried_tables import in_order_after
from queenright.core.observed.recorded.documents import DOCUMENTS, RecordedDocuments
from queenright.core.observed.recorded.mapping import RecordedMapping
from queenright.core.observed.recorded.observation import observation_sources, recorded_observation
from queenright.core.observed.recorded.record import Record, Sources
from queenright.core.observed.recorded.time import moment_of
from queenright.core.planning.deletion import NO_LABELS, ClaimedLabels
from queenright.core.planning.faults import DocumentKey
from queenright.core.postgres.catalog import DesiredCatalog

T = TypeVar("T")

Claims: TypeAlias = Mapping[DocumentKey, DesiredCatalog]
What: TypeAlias = Literal["expansion", "plan", "refusal"]
CLAIMS, DESIRED, LABELS = "claims", "desired", "labels of others"
NO_TIME = datetime.min.replace(tzinfo=UTC)
"""The time for what is not given any."""


class LabelsOfOthers:
    """The node labels that other documents place by, made once they are asked for."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents

    @cached_property
    def _found(self) -> Mapping[DocumentKey, ClaimedLabels]:
        return claimed_by_others(self._documents)

    def of(self, key: DocumentKey) -> ClaimedLabels:
        return self._found[key]


def is_claimed(labels: LabelsOfOthers, key: DocumentKey, label: tuple[str, str]) -> bool:
    return label in labels.of(key)


@dataclass(frozen=True, slots=True)
class RecordedLabels:
    """The node labels that documents other than the one with this key place by, as an input."""

    record: Record
    key: DocumentKey

    def __contains__(self, label: object) -> bool:
        if not isinstance(label, tuple):
            return False
        return self.record.ask(is_claimed, LABELS, self.key, label)


class Others(Protocol):
    """The node labels that other documents place by."""

    def of(self, key: DocumentKey) -> ClaimedLabels: ...


@dataclass(frozen=True, slots=True)
class RecordedOthers:
    """The same as an input."""

    record: Record

    def of(self, key: DocumentKey) -> ClaimedLabels:
        return RecordedLabels(self.record, key)


@dataclass(frozen=True)
class Inputs:
    """Everything of a pass that an expansion, a plan or a guard may read."""

    observed: Observed
    documents: Sequence[Document] = ()
    now: datetime = NO_TIME
    desired: Mapping[DocumentKey, Desired] = field(default_factory=dict)
    claims: Claims = field(default_factory=dict)
    others: Others | None = None

    def claimed(self, key: DocumentKey) -> ClaimedLabels:
        """Return the node labels that documents other than the one with this key place by."""
        return NO_LABELS if self.others is None else self.others.of(key)

    @property
    def swarm(self) -> SwarmState:
        """The swarm, which has to be known."""
        match self.observed.swarm:
            case Known(swarm):
                return swarm
            case Unknown(why):
                raise ValueError(f"swarm: not known ({why})")

    @property
    def sources(self) -> Mapping[str, Any]:
        return {
            **observation_sources(self.observed),
            DOCUMENTS: tuple(self.documents),
            DESIRED: self.desired,
            CLAIMS: self.claims,
            LABELS: self.others,
        }


def recorded(record: Record) -> Inputs:
    """Return the view of a pass's inputs that records what is read."""
    return Inputs(
        recorded_observation(record),
        RecordedDocuments(record),
        moment_of(record),
        RecordedMapping(record, DESIRED),
        RecordedMapping(record, CLAIMS),
        RecordedOthers(record),
    )


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, what it was given, and what it had asked. The given values are kept, so that no
    other object gets their identities."""

    given: tuple[object, ...]
    record: Record
    answer: Any


@dataclass(slots=True)
class Remembered:
    """Answers of earlier passes, by the document and what they are; and what is the same for all
    documents, which is not compared again while it is the same object."""

    kept: dict[tuple[DocumentKey, What], Kept] = field(default_factory=dict)
    passing: set[tuple[DocumentKey, What]] = field(default_factory=set)
    """The answers that could not be kept when they were made last. The next ones mostly can't
    either, and a record takes a third of the time of making them."""
    swarm: tuple[SwarmState, SwarmState] | None = None
    """The last reading of the swarm as it came, and in order."""
    about: tuple[Sequence[Document], LabelsOfOthers, Claims] | None = None
    """The documents, and what they claim of each other."""
    silent_s: dict[str, float] = field(default_factory=dict)
    """When nobody answered at a cluster's virtual address (see ``observe_holder``)."""
    is_silent: Callable[[str], bool] = lambda _: False
    """Returns True for a member, by service name, or a replica, by task id, that is not asked now
    (see ``silence``)."""
    sources: dict[What, tuple[Inputs, Sources]] = field(default_factory=dict)
    """The last inputs of each kind of answer, for the marks of those that stay. Answers keep the
    marks alone: of a thousand, each could else keep another reading of the swarm."""

    def in_order(self, swarm: SwarmState) -> SwarmState:
        """Return a reading of the swarm in order: the last one, if every object is the same."""
        if self.swarm is None:
            self.swarm = (swarm, swarm.in_order())
        elif not is_unchanged(self.swarm[0], swarm):
            self.swarm = (swarm, in_order_after(self.swarm, swarm))
        return self.swarm[1]

    def claims_among(self, documents: Sequence[Document]) -> tuple[LabelsOfOthers, Claims]:
        """Return the labels and the roles that documents claim."""
        documents = tuple(documents)
        if self.about is None or self.about[0] is not documents:
            known = self.about
            stays = known is not None and claim_alike(known[0], documents)
            claims = known[2] if known is not None and stays else claims_of(documents)
            self.about = (documents, LabelsOfOthers(documents), claims)
        return self.about[1:]

    def answer(
        self,
        about: tuple[DocumentKey, What],
        given: tuple[object, ...],
        inputs: Inputs,
        make: Callable[[Inputs], T],
        *,
        may_last: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """Return what ``make`` gives for these inputs. ``given`` are the values besides them that
        it reads, compared by identity; only an answer that ``may_last`` is kept."""
        if about in self.passing:
            passing = make(inputs)
            if may_last(passing):
                self.passing.discard(about)
            return passing
        kept, sources = self.kept.get(about), self._sources(about[1], inputs)
        if (
            kept is not None
            and len(kept.given) == len(given)
            and all(map(is_same, kept.given, given))
            and kept.record.holds(sources, inputs.now)
        ):
            found: T = kept.answer
            return found
        self.kept.pop(about, None)
        record = Record(sources, inputs.now)
        try:
            answer = make(recorded(record))
        except Exception:  # noqa: BLE001  # the real inputs tell whether it is the operator's fault
            return make(inputs)
        if record.is_lasting and may_last(answer):
            self.kept[about] = Kept(given, record.closed(), answer)
        else:
            self.passing.add(about)
        return answer

    def keeps(self, about: tuple[DocumentKey, What], answer: object) -> bool:
        """Return True if this very answer may be given again."""
        kept = self.kept.get(about)
        return kept is not None and kept.answer is answer

    def _sources(self, what: What, inputs: Inputs) -> Sources:
        """Return the inputs with their marks."""
        known = self.sources.get(what)
        if known is None or known[0] is not inputs:
            found = Sources(inputs.sources, None if known is None else known[1])
            self.sources[what] = known = (inputs, found)
        return known[1]

    def forget_others(self, keys: Collection[DocumentKey]) -> None:
        """Forget documents that are neither described nor deployed any more."""
        for kept in [kept for kept in self.kept if kept[0] not in keys]:
            del self.kept[kept]
        self.passing = {about for about in self.passing if about[0] in keys}


def is_unchanged(before: SwarmState, now: SwarmState) -> bool:
    """Return True if both readings have the same objects in the same places."""
    return before.engine == now.engine and all(
        len(old) == len(new) and all(map(is_same, old, new))
        for old, new in zip(lists_of(before), lists_of(now), strict=True)
    )


def lists_of(swarm: SwarmState) -> Iterator[tuple[object, ...]]:
    """Yield every list of a reading."""
    for one in fields(swarm):
        if isinstance(found := getattr(swarm, one.name), tuple):
            yield found


def is_same(one: object, other: object) -> bool:
    return one is other
