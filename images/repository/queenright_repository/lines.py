"""Swift's own lines: to the container's, and not to a syslog that is not there."""

import logging
import sys
from typing import Any


def to_console(_conf: Any, _name: str, _to_console: Any, _route: str, *rest: Any) -> None:
    """Have a logger of Swift write to standard error; Swift calls it for each logger."""
    logging.raiseExceptions = False  # the syslog handler's own failures
    logger = rest[-2]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    getattr(logger, "logger", logger).addHandler(handler)
