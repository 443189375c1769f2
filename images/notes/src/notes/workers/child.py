"""A worker process: runs tasks from its parent, one at a time, within limits.

It is started with a minimal environment and one socket. Invariant: it ends when its parent closes
that socket, when a task exceeds its processor time, and after a task that took much memory.
"""

import contextlib
import os
import resource
import signal
import socket
import struct
import time
import traceback
from pathlib import Path
from typing import Any

import msgspec

from notes.doc.attributes import SchemaError
from notes.workers.tasks import TASKS

ADDRESS_SPACE_BYTES = 320 * 1024 * 1024
# The allocator returns little memory: a worker that has used more is replaced by a new process.
KEEP_KB = 96 * 1024
LENGTH = struct.Struct("!I")


class Answer(msgspec.Struct, frozen=True):
    """The result of a task: `done` with a value, `refused` with place and reason, or `failed`."""

    kind: str
    value: bytes = b""
    path: str = ""
    message: str = ""
    is_last: bool = False  # the worker ends now
    cpu_s: float = 0.0  # the processor time that the task took


def main() -> None:
    """Serves the parent on the socket that is standard input."""
    _settle()
    with socket.socket(fileno=0) as parent:
        while (frame := _receive(parent)) is not None:
            name, arguments = msgspec.msgpack.decode(frame)
            _limit_time(TASKS[name].cpu_s)
            begun = time.process_time()
            answer = do(name, arguments)
            is_last, cpu_s = peak_kb() > KEEP_KB, time.process_time() - begun
            sent = msgspec.structs.replace(answer, is_last=is_last, cpu_s=cpu_s)
            content = msgspec.msgpack.encode(sent)
            parent.sendall(LENGTH.pack(len(content)))
            parent.sendall(content)
            if is_last:
                return


def peak_kb() -> int:
    """The most memory that this process has had resident since its start, in kB.

    Not `getrusage`: Linux carries the parent's peak over `exec` in `ru_maxrss`, so that every
    worker of a large server would end after one task.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def _settle() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is for the parent
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with contextlib.suppress(OSError):
        os.nice(5)  # the server's event loop has priority
    with contextlib.suppress(OSError):
        # If memory runs out, the kernel kills the worker, not the server.
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


def _limit_time(seconds: int) -> None:
    """Sets the kernel's limit to `seconds` more of processor time; it kills the process."""
    used_s = int(time.process_time()) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (used_s + seconds, hard))


def do(name: str, arguments: dict[str, Any]) -> Answer:
    """Runs one task and returns its result."""
    try:
        return Answer("done", msgspec.msgpack.encode(TASKS[name].work(**arguments)))
    except SchemaError as error:
        return Answer("refused", path=error.path, message=error.message)
    except MemoryError:
        return Answer("refused", path="body", message="takes more memory than it may")
    except RecursionError:
        return Answer("refused", path="body", message="has too many levels")
    except Exception as error:  # noqa: BLE001 - sent to the parent, which logs it
        # Only the place of the failure, not its input: that is a user's text.
        at = traceback.extract_tb(error.__traceback__)[-1]
        return Answer("failed", message=f"{type(error).__name__} at {at.filename}:{at.lineno}")


def _receive(parent: socket.socket) -> bytes | bytearray | None:
    head = _exactly(parent, LENGTH.size)
    return None if head is None else _exactly(parent, LENGTH.unpack(head)[0])


def _exactly(parent: socket.socket, size: int) -> bytearray | None:
    content = bytearray(size)
    view = memoryview(content)
    at = 0
    while at < size:
        received = parent.recv_into(view[at:])
        if received == 0:
            return None
        at += received
    return content


if __name__ == "__main__":
    main()
