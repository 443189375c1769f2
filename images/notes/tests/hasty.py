"""`python -m tests.hasty`: a replica with connection timeouts of a few seconds."""

import dataclasses
import os
import sys

from notes import log
from notes.config import load
from notes.server import limits_of, serve

if __name__ == "__main__":
    log.configure()
    settings = load(os.environ)
    limits = dataclasses.replace(
        limits_of(settings), head_s=2.0, grace_s=2.0, idle_s=3, tick_s=0.2, linger_s=1.0
    )
    sys.exit(serve(settings, limits=limits))
