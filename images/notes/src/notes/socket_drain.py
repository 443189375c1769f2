"""Empties the accept queue of a listening socket before it is closed, so no connection is reset.

Closing a listener resets every connection that the kernel has accepted and the process has not: a
client that has already sent its request would lose it. So the kernel first drops new connection
attempts (SYN packets), then the process accepts what is queued, then the listener may be closed. A
client whose SYN was dropped sends it again a second later, and is refused.
"""

import asyncio
import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import Iterable, Iterator

_SO_ATTACH_FILTER = 26
# Classic BPF over the TCP header: drop packets with SYN and without ACK, pass all others.
_IGNORE_NEW = (
    (0x30, 0, 0, 13),  # load the byte with the flags
    (0x54, 0, 0, 0x12),  # and with SYN | ACK
    (0x15, 0, 1, 0x02),  # is it SYN alone?
    (0x06, 0, 0, 0),  # then drop
    (0x06, 0, 0, 0xFFFFFFFF),  # else pass
)
_UNACKED_AT = 24  # of struct tcp_info; for a listener, the length of its queue
HANDSHAKE_S = 0.1  # for clients that have received SYN-ACK and are about to send ACK
LONGEST_S = 1.0


async def empty(filenos: Iterable[int]) -> None:
    """Waits until the accept queues of these listeners are empty, and will stay empty."""
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(_borrowed(fileno)) for fileno in filenos]
        for listener in listeners:
            # Only Linux has this filter; elsewhere the close resets queued connections.
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
    """The number of connections in the accept queue."""
    try:
        info = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _UNACKED_AT + 4)
    except OSError:
        return 0
    return int(struct.unpack_from("I", info, _UNACKED_AT)[0])
