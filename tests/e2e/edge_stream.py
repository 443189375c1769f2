"""A client of the event stream of an application behind an edge."""

from __future__ import annotations

import subprocess
import threading
import time

from tests.e2e.running_edge import HOST, NET, RunningEdge


class Stream:
    """A client from its making until it leaves; `arrivals`: when each event came, and from whom."""

    def __init__(self, edge: RunningEdge) -> None:
        self.arrivals: list[tuple[float, str]] = []
        self._process = subprocess.Popen(
            ["curl", "-ksSN", "--resolve", f"{HOST}:{edge.https}:127.0.0.1",
             f"https://{HOST}:{edge.https}/api/v1/events"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("data:"):
                self.arrivals.append((time.monotonic(), line.split()[1].removeprefix(NET)))

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def leave(self) -> None:
        self._process.kill()
        self._process.wait(5)
