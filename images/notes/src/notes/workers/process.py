"""Starts, calls and ends one worker process.

Invariant: the process gets no file, connection or secret variable of the server.
"""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from typing import Any

import msgspec

from notes.workers.child import LENGTH, Answer

_PASSED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "TZ")


class WorkerGoneError(Exception):
    """The process ended before it answered; `by_time` if it used up its processor time."""

    def __init__(self, *, by_time: bool) -> None:
        super().__init__("the worker's process ended")
        self.by_time = by_time


class Worker:
    """A running worker process."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._is_leaving = False
        self.idle_since = 0.0

    @classmethod
    async def start(cls) -> "Worker":
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: ASYNC220 - returns once the program is loaded
                [sys.executable, "-m", "notes.workers.child"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            )
        ours.setblocking(False)
        try:
            reader, writer = await asyncio.open_unix_connection(sock=ours)
        except BaseException:
            process.kill()
            ours.close()
            raise
        return cls(process, reader, writer)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, name: str, arguments: dict[str, Any]) -> Answer:
        """Sends a task and returns the answer. Raises `WorkerGoneError`."""
        frame = msgspec.msgpack.encode((name, arguments))
        try:
            self._writer.write(LENGTH.pack(len(frame)))
            self._writer.write(frame)
            await self._writer.drain()
            head = await self._reader.readexactly(LENGTH.size)
            content = await self._reader.readexactly(LENGTH.unpack(head)[0])
        except (OSError, EOFError):
            await self.end()
            raise WorkerGoneError(by_time=self._process.returncode == -signal.SIGXCPU) from None
        answer = msgspec.msgpack.decode(content, type=Answer)
        self._is_leaving = answer.is_last
        return answer

    @property
    def has_ended(self) -> bool:
        return self._is_leaving or self._reader.at_eof() or self._process.poll() is not None

    async def end(self) -> None:
        """Ends the process and reads its exit status."""
        self._writer.close()
        # A process that ends by itself does so soon; its exit status has the reason.
        for _ in range(20):
            if self._process.poll() is not None:
                return
            if not (self._is_leaving or self._reader.at_eof()):
                break
            await asyncio.sleep(0.01)
        self.kill()
        while self._process.poll() is None:
            await asyncio.sleep(0.01)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._writer.close()
