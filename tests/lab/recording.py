"""Records a command as asciicast 2 (a line of JSON each), and draws recordings as SVG.

    python -m tests.lab.recording record CAST COMMAND...    runs it on a terminal of its own
    python -m tests.lab.recording render CAST               writes CAST-light.svg and CAST-dark.svg

Paths of this checkout are shown relative to it, so that a recording does not name its machine.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.terminal_svg import COLUMNS, ROWS, THEMES, Row, draw, rows

ROOT = Path(__file__).resolve().parents[2]
END = "Look "
"""The demonstration's closing hints begin with it; the README has them, so the picture ends."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The output of a terminal, with times."""

    title: str
    events: tuple[tuple[float, str], ...]

    def as_cast(self) -> str:
        header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": self.title}
        lines: list[object] = [header, *([round(at, 3), "o", text] for at, text in self.events)]
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    def screen(self) -> list[Row]:
        """The rows to draw, without the closing hints and the empty rows before them."""
        shown = rows(self.events)
        ends = [number for number, row in enumerate(shown) if row.text.startswith(END)]
        shown = shown[: ends[0]] if ends else shown
        while shown and not shown[-1].text:
            shown.pop()
        return shown


def read_cast(text: str) -> Recording:
    header, *lines = (json.loads(line) for line in text.splitlines() if line.strip())
    events = tuple((float(at), str(said)) for at, kind, said in lines if kind == "o")
    return Recording(str(header["title"]), events)


def record(command: Sequence[str]) -> Recording | None:
    """Run it, shown here as well; None when it fails."""
    title = " ".join(command)
    prompt = f"$ {title}\r\n"
    events = [(0.0, prompt)]
    began = time.monotonic()
    for text in run_on_terminal(command):
        if text is None:
            return None
        sys.stdout.write(text)
        sys.stdout.flush()
        events.append((time.monotonic() - began, text.replace(f"{ROOT}/", "")))
    return Recording(title, tuple(events))


def run_on_terminal(command: Sequence[str]) -> Iterator[str | None]:
    """Its output as it comes, whole lines at a time; None at the end of one that fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    # A make that is started by make would print its directories.
    environment = {k: v for k, v in os.environ.items() if k not in {"MAKEFLAGS", "MAKELEVEL"}}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env=environment,
    )
    os.close(theirs)
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    kept = ""
    try:
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # EIO: nobody has the other end open any more
                data = b""
            lines, newline, kept = (kept + decode(data, not data)).rpartition("\n")
            if lines or newline:
                yield lines + newline
            if not data:
                break
    finally:
        os.close(ours)
    if kept:
        yield kept
    if process.wait() != 0:
        yield None


def render(cast: Path) -> list[Path]:
    """Write a picture for each theme beside the recording."""
    recording = read_cast(cast.read_text(encoding="utf-8"))
    written = []
    for name, theme in THEMES.items():
        picture = cast.with_name(f"{cast.stem}-{name}.svg")
        picture.write_text(draw(recording.title, recording.screen(), theme), encoding="utf-8")
        written.append(picture)
    return written


def main(arguments: Sequence[str]) -> int:
    match arguments:
        case ["record", cast, *command] if command:
            recording = record(command)
            if recording is None:
                print(f"{cast}: not written, since the command failed", file=sys.stderr)
                return 1
            Path(cast).write_text(recording.as_cast(), encoding="utf-8")
        case ["render", cast]:
            for picture in render(Path(cast)):
                print(picture)
        case _:
            print(__doc__, file=sys.stderr)
            return 64
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
