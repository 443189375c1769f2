"""Keep a fault in one document away from the others, and retry it less and less often.

Decides when a document is tried again: the first faults at once, then after a pause that doubles up
to ``LONGEST_S``; at once when its file, or its objects in the swarm, have changed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio
import structlog

from queenright.core.kinds.registry import key_of, needed_by, owner_labels
from queenright.core.manifest.document import Document
from queenright.core.manifest.identity import Identity
from queenright.core.observed import SwarmState
from queenright.core.planning.faults import (
    DocumentKey,
    Fault,
    fault_of,
)

log = structlog.get_logger()

AT_ONCE = 3
"""The number of passes in a row that try a faulty document without a pause."""
LONGEST_S = 60.0
"""The longest pause: a repair that only a retry can notice is noticed after it."""


@dataclass(slots=True)
class Entry:
    """A document's faults in a row. ``seen`` identifies what it was tried with, ``retry_at_s`` is a
    reading of a monotonic clock."""

    fault: Fault
    seen: object
    count: int = 1
    retry_at_s: float = 0.0


@dataclass(slots=True)
class Faults:
    """The faults of successive passes; a single observation has its own."""

    entries: dict[DocumentKey, Entry] = field(default_factory=dict)
    now: dict[DocumentKey, Fault] = field(default_factory=dict)
    """The faults of the current pass, and those of documents that it does not try."""
    is_whole: bool = False
    """True for each document that the current pass has reached."""
    _seen: dict[DocumentKey, tuple[Document, SwarmState]] = field(default_factory=dict)
    """The document and the swarm that the current pass tries it with."""

    def begin(self) -> None:
        """Begin a pass: a document without a fault in the last whole pass has none any more."""
        if self.is_whole:
            self._forget()
        self.is_whole = False
        self.now.clear()
        self._seen.clear()

    def asked(self, documents: Iterable[Document], swarm: SwarmState) -> list[Document]:
        """Return the documents that this pass tries; the others keep their fault."""
        found = []
        for document in documents:
            key = key_of(document)
            self._seen[key] = (document, swarm)
            entry = self.entries.get(key)
            if entry is not None and entry.seen != self._tried_with(key):
                del self.entries[key]
            elif entry is not None and anyio.current_time() < entry.retry_at_s:
                self.now[key] = entry.fault
                continue
            if key not in self.now:
                found.append(document)
        return found

    @contextmanager
    def kept_from_others(self, key: DocumentKey, doing: str) -> Generator[None, None, None]:
        """Make an exception in the block this document's fault, without raising it."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # whatever it is, it is one document's
            self.note(key, fault_of(error), doing)

    def note(self, key: DocumentKey, fault: Fault, doing: str) -> None:
        """Record a fault of a document in this pass; the first one counts."""
        if key in self.now:
            return
        self.now[key] = fault
        entry = self.entries.setdefault(key, Entry(fault, None, 0))
        entry.fault, entry.seen, entry.count = fault, self._tried_with(key), entry.count + 1
        entry.retry_at_s = anyio.current_time() + pause_s(entry.count)
        log.error(
            "fault",
            document=str(key),
            doing=doing,
            error=fault.error,
            place=fault.place,
            count=entry.count,
            next_try_in_s=pause_s(entry.count),
            broken=True,
            debug=list(fault.way),
        )

    def _tried_with(self, key: DocumentKey) -> object:
        """Return what identifies the document and its objects in the swarm in this pass."""
        if key not in self._seen:
            return None
        document, swarm = self._seen[key]
        return (Identity(document), versions(document, swarm))

    def _forget(self) -> None:
        for key in [*self.entries]:
            if key not in self.now:
                log.info("fault", document=str(key), over=True)
                del self.entries[key]

    def retried_in_s(self, key: DocumentKey) -> float | None:
        """Return the seconds until a faulty document is tried again."""
        entry = self.entries.get(key)
        return None if entry is None else max(0.0, entry.retry_at_s - anyio.current_time())


def pause_s(count: int) -> float:
    """Return the pause for a document after this many faults in a row."""
    return 0.0 if count < AT_ONCE else min(LONGEST_S, 2.0 ** min(count - AT_ONCE, 10))


def versions(document: Document, swarm: SwarmState) -> object:
    """Return the version indexes of a document's objects in the swarm; each change raises one."""
    names = {document.name}
    if (needed := needed_by(document)) is not None:
        names.add(needed.name)
    owner_keys = owner_labels()
    prefixes = tuple(f"{name}_" for name in names)

    def is_its(name: str, labels: Mapping[str, str]) -> bool:
        owners = {labels.get(key) for key in owner_keys}
        return name.startswith(prefixes) or bool(owners & names)

    return (
        frozenset((node.id, node.version) for node in (*swarm.nodes, *swarm.former_nodes)),
        frozenset((live.id, live.version) for live in swarm.secrets),
        frozenset(
            (live.id, live.version)
            for live in swarm.services
            if is_its(live.value.name, live.value.labels)
        ),
        frozenset(
            (live.id, live.version)
            for live in swarm.configs
            if is_its(live.value.name, live.value.labels)
        ),
    )
