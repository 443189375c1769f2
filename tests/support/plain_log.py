"""Sets up structlog for the tests: exceptions are written as Python writes them.

structlog's own frames and colours cost up to a second of processor time for each exception.
"""

from __future__ import annotations

import structlog


def log_plainly() -> None:
    """Return to structlog's defaults, with plain exceptions."""
    structlog.reset_defaults()
    processors = structlog.get_config()["processors"]
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*processors[:-1], plain])
