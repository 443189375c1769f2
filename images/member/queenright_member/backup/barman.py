"""Runs Barman's cloud commands, and says in one line why one failed.

Invariant: the line names what to do and holds no credential; what Barman prints is not passed on,
but for the one line of an error that is not known here.
"""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from .repository import Repository

PROGRAMS = Path("/opt/barman/bin")
_PREFIX = re.compile(r"^\S+ \S+ \[\d+\] (?:ERROR|CRITICAL|EXCEPTION): ?")
#: The first that is found in what Barman printed -> cause, and what to do.
_CAUSES = (
    (r"password authentication failed", "PostgreSQL does not accept the superuser's password",
     "correct the secret"),
    (r"Cannot connect to postgres", "PostgreSQL takes no connection",
     "see that it runs at BACKUP_HOST and BACKUP_PORT"),
    (r"NoSuchBucket|HeadBucket operation: Not Found|[Bb]ucket \S+ does not exist",
     "there is no {place}", "create the bucket or correct its name"),
    (r"certificate has expired", "the certificate of {endpoint} has expired", "renew it"),
    (r"IP address mismatch|Hostname mismatch|hostname '[^']*' doesn't match",
     "the certificate of {endpoint} is for another name", "give the server one for this one"),
    (r"CERTIFICATE_VERIFY_FAILED|SSL validation failed",
     "the certificate of {endpoint} is not trusted",
     "give the CA that signed it, and the name that it is for"),
    (r"SignatureDoesNotMatch|InvalidAccessKeyId|InvalidToken|ExpiredToken",
     "{endpoint} does not accept the credentials", "correct the secret"),
    (r"Unable to locate credentials|Partial credentials|Unable to parse config file",
     "the secret is not a credentials file with aws_access_key_id and aws_secret_access_key",
     "correct the secret"),
    (r"AccessDenied|Forbidden", "the credentials give no right to {place}", "grant it"),
    (r"RequestTimeTooSkewed", "the clocks of this node and {endpoint} differ", "set them"),
    (r"InsufficientStorage|QuotaExceeded|StorageFull|EntityTooLarge|Insufficient Storage",
     "{place} has no room left", "make room or raise its quota"),
    (r"No space left on device", "this node has no room left for what is written",
     "make room there"),
    ((r"Could not connect|[Cc]onnect(?:ion)? (?:timed out|timeout|refused|was closed)|Read timeout"
      r"|Failed to establish|Name or service not known|name resolution|ServiceUnavailable"),
     "{endpoint} does not answer", "see that it runs and is reached from this node"),
    (r"standby was promoted during online backup", "the replica became the leader meanwhile",
     "begin the backup again"),
)  # fmt: skip


class BarmanError(Exception):
    """A command failed; the message is its cause and, after a semicolon, what to do."""


@dataclass(frozen=True)
class Barman:
    """Barman's commands on one repository. ``server`` is the folder of one database system."""

    repository: Repository
    server: str
    programs: Path = PROGRAMS

    def run(
        self, command: str, options: Sequence[str] = (), arguments: Sequence[str] = (),
        *, timeout_s: float | None = None, absent: str | None = None,
        environment: dict[str, str] | None = None, program: str = "",
    ) -> str | None:  # fmt: skip
        """Return what a command prints; None if it says ``absent``; BarmanError. A ``program`` for
        Barman's Python runs the command, if there is one."""
        line = [str(self.programs / "python"), "-I", "-c", program] if program else []
        line += [
            str(self.programs / f"barman-cloud-{command}"), *self.repository.options, *options,
            self.repository.url, self.server, *arguments,
        ]  # fmt: skip
        process = None
        try:
            with _not_interrupted():
                process = subprocess.Popen(
                    line,
                    env={**os.environ, **self.repository.environment(), **(environment or {})},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                )
            printed, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise BarmanError(
                f"{self.repository.place} did not take or give it within {timeout_s:.0f} s; "
                "see how fast it is reached from this node"
            ) from None
        finally:
            if process is not None:
                _end(process)
        if process.returncode == 0:
            return printed
        if absent is not None and re.search(absent, errors):
            return None
        raise BarmanError(cause_of(errors, self.repository, process.returncode))


def cause_of(errors: str, repository: Repository, status: int) -> str:
    """Return the cause of a failure and what to do, in one line."""
    words = {"place": repository.place, "endpoint": repository.endpoint or "Amazon S3"}
    for pattern, cause, advice in _CAUSES:
        if re.search(pattern, errors):
            return f"{cause.format(**words)}; {advice}"
    lines = [_PREFIX.sub("", line) for line in errors.splitlines() if _PREFIX.match(line)]
    lines = lines or [line for line in errors.splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"Barman ended with status {status}"


@contextlib.contextmanager
def _not_interrupted() -> Iterator[None]:
    """Have a handler of SIGTERM run after the block: one that ends this program while a process is
    made would leave that one behind."""
    came: list[FrameType | None] = []
    handler = signal.getsignal(signal.SIGTERM)
    if not callable(handler):  # none of Python's, which runs at any moment
        yield
        return
    signal.signal(signal.SIGTERM, lambda _, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        if came:
            handler(signal.SIGTERM, came[0])


def _end(process: "subprocess.Popen[str]") -> None:
    """End the command with all of its processes, if it has not ended."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
