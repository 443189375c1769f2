"""Logs one JSON object per line to standard output. Invariant: no secret is logged.

Callers pass fields, never whole requests; query strings and headers are not logged at all, since
they may contain codes and tokens.
"""

import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder(enc_hook=str)
FIELDS = "fields"


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON: time, level, logger, message and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields: Mapping[str, Any] | None = getattr(record, FIELDS, None)
        if fields:
            line.update(fields)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _ENCODER.encode(line).decode()


def configure(level: int = logging.INFO) -> None:
    """Sends every logger's records to standard output as JSON lines."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # No line shows the caller, and finding it in the stack would slow down every request.
    logging._srcfile = None  # noqa: SLF001 - documented in the library's manual
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    # They warn of every retry while the database is unreachable; the pool's owner logs it once.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


def say(logger: logging.Logger, message: str, /, level: int = logging.INFO, **fields: Any) -> None:
    """Logs `message` with `fields`."""
    logger.log(level, message, extra={FIELDS: fields})
