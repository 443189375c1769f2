"""The command lines that are seen on this machine while tests run."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Watch:
    """Every command line that any process of this machine was seen with."""

    seen: set[bytes] = field(default_factory=set)
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.over.wait(0.05):
            for file in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.seen.add(file.read_bytes())
                except OSError:
                    continue
