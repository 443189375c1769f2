"""Logging: JSON lines for machines, coloured text for a person at a terminal.

The settings and the stream decide the form of a line. Every line, the libraries' own included,
passes ``hide_secrets``; libraries log from warning level on. Standard output is the log; ``run``
writes nothing else there.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

from queenright.core.audit.redaction import redact
from queenright.settings import LogFormat, LogLevel

NOISY = ("httpx", "httpcore", "docker", "urllib3", "requests", "asyncio")

EventDict = MutableMapping[str, Any]


def configure_logging(
    log_format: LogFormat = "auto", level: LogLevel = "info", stream: TextIO | None = None
) -> None:
    """Set up logging for this process on ``stream`` (standard output); may be called again."""
    out = sys.stdout if stream is None else stream
    on_console = log_format == "console" or (log_format == "auto" and out.isatty())
    threshold = logging.getLevelName(level.upper())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="timestamp"),
        structlog.processors.format_exc_info,
        hide_secrets,
    ]
    renderers = _console_renderers(colours=out.isatty()) if on_console else _json_renderers()
    structlog.configure(
        processors=[*shared, *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    _route_standard_logging(out, shared, renderers, threshold)


def hide_secrets(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Return the event with text that looks like a secret hidden, as a second protection."""
    redacted = redact(event)
    return redacted if isinstance(redacted, dict) else {}


def _json_renderers() -> list[structlog.typing.Processor]:
    return [_event_first, structlog.processors.JSONRenderer()]


def _event_first(_logger: object, _method: str, event: EventDict) -> EventDict:
    head = {key: event.pop(key) for key in ("timestamp", "level", "event") if key in event}
    return {**head, **event}


def _console_renderers(*, colours: bool) -> list[structlog.typing.Processor]:
    renderer = structlog.dev.ConsoleRenderer(
        colors=colours, sort_keys=False, pad_event_to=0, pad_level=False
    )
    return [tell_audit_plainly, renderer]


def tell_audit_plainly(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Return an audit record in a form for people: object and reason, without numbers and
    hashes."""
    if event.get("event") != "audit":
        return event
    if event.get("repeated"):
        raise structlog.DropEvent
    line = {key: event[key] for key in ("timestamp", "level") if key in event}
    phase = str(event.get("phase", ""))
    action = event.get("action")
    outcome = event.get("outcome", "planned" if phase == "intent" else phase)
    subject = str(action["key"]) if isinstance(action, dict) else "audit trail"
    line["event"] = f"{subject}: {outcome}"
    for key in (
        "cluster",
        "reason",
        "disturbs",
        "error",
        "guard",
        "duration_ms",
        "version",
        "file",
    ):
        if event.get(key):
            line[key] = event[key]
    if phase == "intent" and isinstance(changes := event.get("changes"), list) and changes:
        line["changes"] = "; ".join(
            f"{change['path']}: {change['old']} -> {change['new']}" for change in changes
        )
    return line


def _route_standard_logging(
    out: TextIO,
    shared: list[structlog.typing.Processor],
    renderers: list[structlog.typing.Processor],
    threshold: int,
) -> None:
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(threshold, logging.WARNING))
    for name in NOISY:
        logging.getLogger(name).setLevel(max(threshold, logging.WARNING))
