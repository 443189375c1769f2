"""Log lines of simulated passes: broken ones, which the loop survives and a simulated run must not
have, and the holds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

Heard = Callable[[Mapping[str, str]], None]
"""Called with the holds of each pass."""


@contextmanager
def broken_passes(*listeners: Heard) -> Iterator[list[dict[str, Any]]]:
    """Silences the log, and keeps its lines about broken passes; whatever level was set before."""
    broken: list[dict[str, Any]] = []

    def keep_broken(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        if event.get("broken"):
            raised = structlog.processors.format_exc_info(logger, name, event)
            broken.append(dict(raised))
        for listener in listeners:
            if holds := event.get("holds"):
                listener(holds)
        raise structlog.DropEvent

    before = structlog.get_config()
    processors = before["processors"]
    kept = list(processors)
    processors[:] = [keep_broken]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET))
    try:
        yield broken
    finally:
        processors[:] = kept
        structlog.configure(wrapper_class=before["wrapper_class"])
