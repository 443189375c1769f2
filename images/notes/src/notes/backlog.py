"""Stops a listening socket from taking new connections without losing those that it has taken.

Closing a listener resets every connection that the kernel has accepted and the process has not: a
client that has sent its request already would see it cut. So first the kernel is told to ignore new
ones, then the queue is emptied, then the listener may be closed. Whoever was ignored asks again a
second later, and is refused.
"""

import asyncio
import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import Iterable, Iterator

_SO_ATTACH_FILTER = 26
# Classic BPF over the TCP header: ignore what has SYN and not ACK, pass everything else.
_IGNORE_NEW = (
    (0x30, 0, 0, 13),  # load the byte with the flags
    (0x54, 0, 0, 0x12),  # and with SYN | ACK
    (0x15, 0, 1, 0x02),  # is it SYN alone?
    (0x06, 0, 0, 0),  # then drop
    (0x06, 0, 0, 0xFFFFFFFF),  # else pass
)
_UNACKED_AT = 24  # of struct tcp_info; for a listener, the length of its queue
HANDSHAKE_S = 0.1  # for those that have had their answer and are about to confirm
LONGEST_S = 1.0


async def empty(filenos: Iterable[int]) -> None:
    """Returns when the queues of these listeners are empty, and will stay so."""
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(_borrowed(fileno)) for fileno in filenos]
        for listener in listeners:
            # Elsewhere than on Linux the listener is closed as everybody closes it.
            with contextlib.suppress(OSError):
                _ignore_new(listener)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await asyncio.sleep(HANDSHAKE_S)
        while any(map(_waiting, listeners)) and loop.time() - begun < LONGEST_S:
            await asyncio.sleep(0.01)


@contextlib.contextmanager
def _borrowed(fileno: int) -> Iterator[socket.socket]:
    with socket.socket(fileno=os.dup(fileno)) as listener:
        yield listener


def _ignore_new(listener: socket.socket) -> None:
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in _IGNORE_NEW)
    program = ctypes.create_string_buffer(code)
    fprog = struct.pack("HL", len(_IGNORE_NEW), ctypes.addressof(program))
    listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, fprog)


def _waiting(listener: socket.socket) -> int:
    """How many accepted connections the process has not taken yet."""
    try:
        info = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _UNACKED_AT + 4)
    except OSError:
        return 0
    return int(struct.unpack_from("I", info, _UNACKED_AT)[0])
