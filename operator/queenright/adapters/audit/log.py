"""The audit trail on this machine: the log stream, and a file that outlives the process.

Every record goes to the file first (an intent is on the disk before its action begins) and then to
the log stream. Invariant: the file's chain is unbroken from its first record on, over restarts,
kills during a write, full disks and rotation. If no file can be written, the stream alone has the
trail, and a log line reports that.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

from queenright.adapters.audit.file import KEPT_FILES, MAX_BYTES, Tail, TrailFile
from queenright.core.actions import AnyAction
from queenright.core.audit.chain import Record, encode
from queenright.core.audit.record import (
    Body,
    Outcome,
    Trigger,
    held_body,
    intent_body,
    lease_body,
    note_body,
    outcome_body,
    refused_body,
)
from queenright.core.planning.lease import Lease
from queenright.core.planning.plan import Hold, Plan, Refusal
from queenright.ports.clock import Clock

Sink = Callable[[Record], None]

log = structlog.get_logger()


def log_record(record: Record) -> None:
    """Write a record to the log stream: one line with the event ``audit``."""
    log.info("audit", **record)


class AuditLog:
    """Writes the trail (port: ``Audit``). Opening writes a ``start`` record, ``close`` a ``stop``.

    ``directory`` holds ``audit.jsonl`` and its older files (``audit.jsonl.1`` is the youngest of
    them); None keeps the trail in the log stream alone, as a new chain for each process.
    Raises ``AuditBusyError`` when another process writes there.
    """

    def __init__(
        self,
        directory: Path | None,
        clock: Clock,
        sink: Sink = log_record,
        *,
        version: str = "",
        guards: Sequence[str] = (),
        max_bytes: int = MAX_BYTES,
        kept_files: int = KEPT_FILES,
    ) -> None:
        self._clock = clock
        self._sink = sink
        self._guards = [*guards]
        self._intents: dict[tuple[str, str], int] = {}
        self._is_closed = False
        self._file = _open_file(directory, max_bytes, kept_files) if directory else None
        tail = self._file.recover() if self._file else Tail()
        self._chain = tail.chain
        if tail.last is not None:
            self._sink({**tail.last, "repeated": True})
        if self._file and self._file.starts_midway:
            self._write(note_body("rotated", kept_files=kept_files))
        if tail.torn_sha256:
            self._write(
                note_body("recovered", torn_bytes=tail.torn_bytes, torn_sha256=tail.torn_sha256)
            )
        self._write(self._start_body(version), durable=True)

    def _start_body(self, version: str) -> Body:
        judged = {"guards": self._guards} if self._guards else {}
        return note_body(
            "start",
            version=version,
            **judged,
            host=socket.gethostname(),
            pid=os.getpid(),
            file=str(self._file.path) if self._file else "",
        )

    @property
    def file(self) -> Path | None:
        """The file that is written, None if only the log stream has the trail."""
        return self._file.path if self._file else None

    @property
    def end(self) -> str:
        return f"{self._chain.name}/{self._chain.seq}/{self._chain.head}"

    @property
    def lock(self) -> str:
        return self._file.lock if self._file else ""

    def intent(self, plan: Plan, trigger: Trigger, action: AnyAction) -> None:
        self._write(intent_body(plan, trigger, action), durable=True)
        self._intents[plan.cluster, action.key] = self._chain.seq

    def outcome(
        self, plan: Plan, trigger: Trigger, action: AnyAction, outcome: Outcome, duration_ms: float
    ) -> None:
        intent_seq = self._intents.pop((plan.cluster, action.key), None)
        self._write(
            outcome_body(
                plan, trigger, action, outcome, duration_ms=duration_ms, intent_seq=intent_seq
            )
        )

    def refused(self, plan: Plan, trigger: Trigger, refusal: Refusal) -> None:
        self._write(refused_body(plan, trigger, refusal))

    def held(
        self, plan: Plan, trigger: Trigger, began: Sequence[Hold], ended: Sequence[str]
    ) -> None:
        self._write(held_body(plan, trigger, began, ended))

    def measured(self, cluster: str, details: Mapping[str, object]) -> None:
        self._write(note_body("measured", cluster=cluster, **details))

    def lease(
        self, *, acting: bool, why: str, host: str, term: str = "", other: Lease | None = None
    ) -> None:
        body = lease_body(acting=acting, why=why, host=host, term=term, other=other)
        self._write(body, durable=True)

    def close(self, reason: str = "") -> None:
        """Write the ``stop`` record and close the file. A second call does nothing."""
        if self._is_closed:
            return
        self._write(note_body("stop", reason=reason), durable=True)
        self._is_closed = True
        if self._file:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close("" if kind is None else kind.__name__)

    def _write(self, body: Body, *, durable: bool = False) -> None:
        if self._file and self._file.is_due_for_rotation and self._file.rotate():
            kept = self._file.kept_files
            self._append(note_body("rotated", kept_files=kept), durable=False)
        self._append(body, durable=durable)

    def _append(self, body: Body, *, durable: bool) -> None:
        record, self._chain = self._chain.seal(body, self._clock.now())
        if self._file:
            self._file.append(encode(record), durable=durable)
        self._sink(record)


def _open_file(directory: Path, max_bytes: int, kept_files: int) -> TrailFile | None:
    try:
        return TrailFile(directory, max_bytes, kept_files)
    except OSError as error:
        log.warning(
            "audit-file-unavailable",
            directory=str(directory),
            error=str(error),
            effect="the audit trail is in this log alone, as a new chain",
        )
        return None
