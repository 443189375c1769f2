"""`--watch` on a terminal: painted in place, cut to the height, and steady."""

from __future__ import annotations

import io
import os
import pty
import signal
import struct
import subprocess
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest

from queenright.cli.screen import ERASED, HOME, Screen, fitted
from tests.support.command_line import PROGRAM, environment


def test_only_the_first_look_erases_the_screen() -> None:
    stream = io.StringIO()
    screen = Screen(stream, (80, 24))
    painted = []
    for word in ("long line", "short"):
        screen.page().line(word)
        screen.paint()
        painted.append(stream.getvalue())
        stream.seek(0)
        stream.truncate()
    assert painted[0].startswith(ERASED + HOME)
    assert ERASED not in painted[1]
    assert painted[1] == f"{HOME}short\x1b[K\n\x1b[J"


def test_a_page_is_cut_to_the_height_and_says_so() -> None:
    lines = [str(number) for number in range(30)]
    assert fitted(lines, 31) == lines
    shown = fitted(lines, 24)
    assert len(shown) == 23
    assert shown[:22] == lines[:22]
    assert "8 more lines" in shown[22]
    assert len(fitted(lines, 1)) == 2


def test_no_line_is_longer_than_the_terminal_is_wide() -> None:
    stream = io.StringIO()
    screen = Screen(stream, (20, 24))
    screen.page().line("word " * 20)
    screen.paint()
    body = stream.getvalue().removeprefix(ERASED + HOME).replace("\x1b[K", "")
    assert max(len(line) for line in body.split("\n")) <= 20


@pytest.mark.slow
def test_the_command_paints_a_real_terminal(tmp_path: Path) -> None:
    """A terminal of 40 lines: at least three looks begin at its top, and one erases it."""
    (tmp_path / "manifests").mkdir()
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    with subprocess.Popen(
        ["env", "--default-signal=INT", *PROGRAM, "status", "--watch", "200ms"],
        env=environment(tmp_path, TERM="xterm"),
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ) as watcher:
        os.close(theirs)
        seen, deadline = "", time.monotonic() + 60
        while seen.count(HOME) < 3 and time.monotonic() < deadline:
            seen += os.read(ours, 65536).decode()
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(30) == 0
    os.close(ours)
    assert seen.count(HOME) >= 3
    assert seen.count(ERASED) == 1
