"""The documents in force: the files' valid texts, and the last good text of an invalid file.

An invalid file does not delay edits of the other files.

Invariant: ``documents`` only changes to a state that is valid as a whole. While a file is invalid
no document leaves, because it may have been moved to that file.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import anyio.to_thread
import structlog

from queenright.core.audit.record import Edit, Trigger
from queenright.core.manifest.changed_fields import ChangedField, changed_fields
from queenright.core.manifest.document import Document, Loaded
from queenright.core.manifest.problems import Problem
from queenright.engine.absences import Absences
from queenright.engine.file_memory import FileMemory
from queenright.engine.give_way import reading
from queenright.ports import Ports

log = structlog.get_logger()

Offload = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs a blocking function: in a thread, unless the clock is virtual."""
Judge = Callable[[Mapping[str, str]], Loaded]
"""Loads the files' texts, by their names."""


class DocumentStore:
    """The documents in force, and the problems of the files as they are now."""

    def __init__(
        self,
        ports: Ports,
        offload: Offload = anyio.to_thread.run_sync,
        judge: Judge | None = None,
    ) -> None:
        self._ports = ports
        self._offload = offload
        self._judge = FileMemory().load if judge is None else judge
        self.documents: tuple[Document, ...] = ()
        self.absences = Absences()
        self.problems: tuple[Problem, ...] = ()
        self.is_known = False
        """True if there is a desired state; without one the operator does nothing."""
        self.stale_since: datetime | None = None
        """The moment since which invalid files differ from the documents in force."""
        self.read_fingerprint: str | None = None
        self.changed: Callable[[], None] = lambda: None
        """Called when other documents are in force."""
        self.changing: Callable[[], None] = lambda: None
        """Called when the files have begun to change, once before they are read again."""
        self._good: Mapping[str, str] = {}
        """The texts in force, by file name."""

    @property
    def is_stale(self) -> bool:
        return self.stale_since is not None

    async def fingerprint(self) -> str:
        """Return a cheap digest that changes whenever the files may have changed."""
        with reading():
            found: str = await self._offload(self._ports.manifests.fingerprint)
        return found

    async def restore(self) -> None:
        """Load the last good state that an earlier process saved."""
        files = await self._offload(self._ports.last_good.load)
        loaded = await self._judged(files) if files else None
        if loaded and loaded.documents and not loaded.errors:
            self.documents = loaded.documents
            self.is_known = True
            self._good = files

    async def refresh(self, cause: Trigger | None = None) -> Trigger:
        """Read the files and return the trigger: the first field that changed, with its file and
        line; or ``cause``, if one is given."""
        with reading():
            found = await self._offload(self._ports.manifests.read)
            self.read_fingerprint = found.fingerprint
            loaded = await self._judged(found.files) if found.files else None
        documents = loaded.documents if loaded else ()
        problems = (*found.problems, *(loaded.problems if loaded else ()))
        errors = [problem for problem in problems if problem.severity == "error"]
        self._note_problems(problems)
        is_empty_on_purpose = loaded is not None and loaded.is_empty_on_purpose
        if errors or not (documents or is_empty_on_purpose):
            if self.stale_since is None:
                self.stale_since = self._ports.clock.now()
            files = await self._with_good_texts(found.files, errors)
            documents = (await self._judged(files)).documents if files else ()
            if not files or self._leaves(documents):
                return cause or Trigger("file", "not valid; the last good state stays in force")
        else:
            self.stale_since, files = None, found.files
        was_known, changed = self.is_known, self._changes(documents)
        if errors and not changed:
            return cause or Trigger("file", "not valid; the last good state stays in force")
        await self._accept(documents, files)
        if changed:
            self.changed()
        if cause is None:
            return trigger_of(changed)
        # An edit from a time without an operator is reported with its file and line as well.
        edited = was_known and changed
        return replace(trigger_of(changed), kind=cause.kind) if edited else cause

    async def _with_good_texts(
        self, files: Mapping[str, str], errors: Sequence[Problem]
    ) -> Mapping[str, str]:
        """Return the files, with the texts in force for those that are invalid or gone; {} if that
        is not valid as a whole either."""
        broken = {problem.file for problem in errors}
        sound = {name: text for name, text in files.items() if name not in broken}
        mixed = {**self._good, **sound}
        if not sound or not self._good or mixed == self._good:
            return {}
        return {} if (await self._judged(mixed)).errors else mixed

    def _leaves(self, documents: tuple[Document, ...]) -> bool:
        """True if a document in force is in none of the files."""
        described = {(one.kind, one.name) for one in documents}
        return any((one.kind, one.name) not in described for one in self.documents)

    async def _judged(self, files: Mapping[str, str]) -> Loaded:
        """Load the files, off the event loop, which a thousand of them would hold. A fault of the
        operator in checking them counts as a problem of the files: an operator that ended with it
        could not be started again on them."""
        try:
            loaded: Loaded = await self._offload(lambda: self._judge(files))
        except Exception as error:  # after any fault the last good state stays in force
            log.exception("manifest", broken=True)
            message = f"can't be checked (a fault in the operator: {type(error).__name__})"
            return Loaded(problems=tuple(Problem(name, 1, "file", message) for name in files))
        return loaded

    async def _accept(self, documents: tuple[Document, ...], files: Mapping[str, str]) -> None:
        """Save the texts before anything acts on them: after a restart on a file that is invalid
        by then, the state that was acted on stays in force."""
        await self._offload(lambda: self._ports.last_good.save(files))
        self.absences.note((*self.documents, *documents), self._ports.clock.monotonic_s())
        self.documents = documents
        self.is_known = True
        self._good = files

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
        kept = {id(new) for new in documents}
        before = {(old.kind, old.name): old for old in self.documents if id(old) not in kept}
        kept = {id(old) for old in self.documents}
        changed: list[ChangedField] = []
        for new in (new for new in documents if id(new) not in kept):
            old = before.pop((new.kind, new.name), None)
            whole = ChangedField(
                "document", new.origin.file, new.origin.line, None, new.name, new.name
            )
            changed += changed_fields(old, new) if old else [whole]
        return changed + [
            ChangedField("document", old.origin.file, old.origin.line, old.name, None, old.name)
            for old in before.values()
        ]


def trigger_of(changed: list[ChangedField]) -> Trigger:
    """Return the trigger for an edit: its first field in full, and the number of others."""
    if not changed:
        return Trigger("file", "rewritten without a change of meaning")
    first = changed[0]
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    detail = f"{first.path}: {first.old} -> {first.new}{more}"
    edits = tuple(
        Edit(one.document, one.file, one.line, one.path, one.old, one.new) for one in changed
    )
    return Trigger("file", detail, first.file, first.line, edits)
