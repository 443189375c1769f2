"""Passes that ended in an exception: the loop survives them, a simulated run must not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger


@contextmanager
def broken_passes() -> Iterator[list[dict[str, Any]]]:
    """Silences the log, and keeps of it the lines that tell of a broken pass."""
    broken: list[dict[str, Any]] = []

    def keep_broken(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        if event.get("broken"):
            raised = structlog.processors.format_exc_info(logger, name, event)
            broken.append(dict(raised))
        raise structlog.DropEvent

    processors = structlog.get_config()["processors"]
    kept = list(processors)
    processors[:] = [keep_broken]
    try:
        yield broken
    finally:
        processors[:] = kept
