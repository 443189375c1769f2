"""This process as the lease names it, and the proof that another one has ended.

Invariant: a proof is about this very kernel. Within it, the numbers of a PID namespace, of a
process with its start time, and of a locked file are given to nobody else while their owner lives.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from pathlib import Path

from queenright.core.planning.lease import Lease, shares_lock

PROC = Path("/proc")
BOOT_ID = PROC / "sys/kernel/random/boot_id"
START_FIELD = 19
"""The place of the start time in /proc/PID/stat, behind the name in parentheses (proc(5))."""
DIGITS = 16


def own_lease(lock: str) -> Lease:
    """Return this process's own lease. ``lock`` is the file that it keeps locked, or empty."""
    return Lease(
        process=secrets.token_hex(8),
        host=socket.gethostname(),
        kernel=running_kernel(),
        birth=birth(os.getpid()),
        lock=lock,
    )


def running_kernel() -> str:
    """Return a digest of this boot's id; empty if it is unknown."""
    try:
        return hashlib.sha256(BOOT_ID.read_bytes()).hexdigest()[:DIGITS]
    except OSError:
        return ""


def namespaces() -> str:
    """Return the namespaces in which this process sees PIDs and start times; empty if unknown."""
    try:
        pids = (PROC / "self/ns/pid").stat().st_ino
    except OSError:
        return ""
    try:
        times = (PROC / "self/ns/time").stat().st_ino
    except OSError:
        times = 0  # a kernel without time namespaces
    return f"{pids}.{times}"


def start_time(pid: int) -> str:
    """Return a process's start, in ticks since the boot; empty if it can't be read."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return fields[START_FIELD] if len(fields) > START_FIELD else ""


def birth(pid: int) -> str:
    """Return ``NAMESPACES:PID:START`` of a process; empty if it is not fully known."""
    spaces, start = namespaces(), start_time(pid)
    return f"{spaces}:{pid}:{start}" if spaces and start else ""


def has_ended(own: Lease, other: Lease) -> bool:
    """Return True if the other lease's process is provably none any more."""
    if shares_lock(own, other):
        return True
    if not own.kernel or own.kernel != other.kernel or not other.birth:
        return False
    spaces, _, numbers = other.birth.partition(":")
    pid, _, start = numbers.partition(":")
    if spaces != namespaces() or not pid.isdecimal() or int(pid) < 1:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass  # it belongs to another user, or is no PID
    present = start_time(int(pid))
    return bool(present) and present != start
