"""What the owner wrote, as far as it is valid: the last good state stays in force.

Invariant: ``documents`` only ever changes to a state in which every file is valid; an invalid,
empty, vanished or half-written file changes ``problems`` alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import anyio.to_thread
import structlog

from queenright.core.audit import Trigger
from queenright.core.spec.changes import ChangedField, changed_fields
from queenright.core.spec.loading import load
from queenright.core.spec.problems import Document, Loaded, Problem
from queenright.engine.world import Ports

log = structlog.get_logger()

Offload = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Calls a function that blocks, elsewhere: a thread, unless the clock is virtual."""
Judge = Callable[[Mapping[str, str]], Loaded]
"""What comes out of the files' texts, by their names."""


class DesiredState:
    """The documents in force, and what is wrong with the files as they are now."""

    def __init__(
        self, ports: Ports, offload: Offload = anyio.to_thread.run_sync, judge: Judge = load
    ) -> None:
        self._ports = ports
        self._offload = offload
        self._judge = judge
        self.documents: tuple[Document, ...] = ()
        self.problems: tuple[Problem, ...] = ()
        self.is_known = False
        """Whether there is a desired state at all: without one nothing is done."""
        self.stale_since: datetime | None = None
        """Since when the files differ from what is in force because they are not valid."""
        self.read_fingerprint: str | None = None

    @property
    def is_stale(self) -> bool:
        return self.stale_since is not None

    async def fingerprint(self) -> str:
        """Changes whenever the files may have changed; cheap."""
        found: str = await self._offload(self._ports.manifests.fingerprint)
        return found

    async def restore(self) -> None:
        """Take up the last good state that an earlier process saved."""
        files = await self._offload(self._ports.last_good.load)
        loaded = self._judged(files) if files else None
        if loaded and loaded.documents and not loaded.errors:
            self.documents = loaded.documents
            self.is_known = True

    async def refresh(self, cause: Trigger | None = None) -> Trigger:
        """Read the files. Returns the trigger to give for it: the first field that changed, with
        its file and line; or ``cause``, where one is given."""
        reading = await self._offload(self._ports.manifests.read)
        self.read_fingerprint = reading.fingerprint
        loaded = self._judged(reading.files) if reading.files else None
        documents = loaded.documents if loaded else ()
        problems = (*reading.problems, *(loaded.problems if loaded else ()))
        errors = [problem for problem in problems if problem.severity == "error"]
        self._note_problems(problems)
        is_empty_on_purpose = loaded is not None and loaded.is_empty_on_purpose
        if errors or not (documents or is_empty_on_purpose):
            if self.stale_since is None:
                self.stale_since = self._ports.clock.now()
            return cause or Trigger("file", "not valid; the last good state stays in force")
        was_known, changed = self.is_known, self._changes(documents)
        self._accept(documents, reading.files)
        if cause is None:
            return trigger_of(changed)
        # What was edited while no operator ran is told with its file and line as well.
        edited = was_known and changed
        return replace(trigger_of(changed), kind=cause.kind) if edited else cause

    def _judged(self, files: Mapping[str, str]) -> Loaded:
        """What the files say. A fault of ours in judging them is one more reason why they are not
        valid: an operator that ended by it could not be started again on them."""
        try:
            return self._judge(files)
        except Exception as error:  # whatever it is, the last good state stays in force
            log.exception("manifest", broken=True)
            message = f"can't be judged, by a fault of the operator's own ({type(error).__name__})"
            return Loaded(problems=tuple(Problem(name, 1, "file", message) for name in files))

    def _accept(self, documents: tuple[Document, ...], files: Mapping[str, str]) -> None:
        self.documents = documents
        self.is_known = True
        self.stale_since = None
        self._ports.last_good.save(files)

    def _note_problems(self, problems: tuple[Problem, ...]) -> None:
        if problems != self.problems:
            for problem in problems:
                line = str(problem)
                (log.error if problem.severity == "error" else log.warning)(
                    "manifest", problem=line
                )
            if not problems:
                log.info("manifest", problem="none any more")
        self.problems = problems

    def _changes(self, documents: tuple[Document, ...]) -> list[ChangedField]:
        before = {(old.kind, old.name): old for old in self.documents}
        changed: list[ChangedField] = []
        for new in documents:
            old = before.pop((new.kind, new.name), None)
            whole = ChangedField("document", new.origin.file, new.origin.line, None, new.name)
            changed += changed_fields(old, new) if old else [whole]
        return changed + [
            ChangedField("document", old.origin.file, old.origin.line, old.name, None)
            for old in before.values()
        ]


def trigger_of(changed: list[ChangedField]) -> Trigger:
    """The edit as a cause: its first field in full, and how many more there are."""
    if not changed:
        return Trigger("file", "rewritten without a change of meaning")
    first = changed[0]
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    detail = f"{first.path}: {first.old} -> {first.new}{more}"
    return Trigger("file", detail, first.file, first.line)
