"""A member whose Raft node has ended does not go on without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from images.member.queenright_member.inputs import NO_ROOM, OTHERWISE

ROOT = Path(__file__).parents[3]
PROGRAM = """
import errno, sys, threading, time
from images.member.queenright_member.raft_end import end_with

class Store:
    def _autoTickThread(self):
        {does}

end_with(Store)
thread = threading.Thread(target=Store()._autoTickThread, daemon=True)
thread.start()
thread.join()
print("goes on")
time.sleep({lasts})
"""


def ends(does: str, lasts: int = 60) -> subprocess.CompletedProcess[str]:
    """Run a process whose Raft node does this in its thread."""
    program = PROGRAM.format(does=does, lasts=lasts)
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ("OSError(errno.ENOSPC, 'no room')", NO_ROOM),
        ("OSError(errno.EDQUOT, 'no room')", NO_ROOM),
        ("OSError(errno.EIO, 'no disk')", OTHERWISE),
        ("KeyError('entry')", OTHERWISE),
    ],
)
def test_the_process_ends_with_its_raft_node(error: str, status: int) -> None:
    done = ends(f"raise {error}")
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert "FATAL: the Raft node has ended" in done.stderr


def test_a_raft_node_that_is_stopped_ends_nothing() -> None:
    done = ends("pass", lasts=0)
    assert (done.returncode, done.stdout) == (0, "goes on\n")
