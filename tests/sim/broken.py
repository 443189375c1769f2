"""What the log tells of simulated passes: those that broke, which the loop survives and a simulated
run must not; and what was held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

Heard = Callable[[Mapping[str, str]], None]
"""Told of the holds of each pass."""


@contextmanager
def broken_passes(*listeners: Heard) -> Iterator[list[dict[str, Any]]]:
    """Silences the log, and keeps of it the lines that tell of a broken pass."""
    broken: list[dict[str, Any]] = []

    def keep_broken(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        if event.get("broken"):
            raised = structlog.processors.format_exc_info(logger, name, event)
            broken.append(dict(raised))
        for listener in listeners:
            if holds := event.get("holds"):
                listener(holds)
        raise structlog.DropEvent

    processors = structlog.get_config()["processors"]
    kept = list(processors)
    processors[:] = [keep_broken]
    try:
        yield broken
    finally:
        processors[:] = kept
