"""The exit codes of every command, and the error that carries one with its single line.

Invariant: a person's mistake ends in one line on standard error that says how to correct it, never
in a traceback.
"""

from __future__ import annotations

from typing import IO, Any

import click

OK = 0
FAILURE = 1
CHANGES = 2
"""``plan``: there are actions or holds."""
USAGE = 64
"""The command line or an environment variable is wrong (sysexits: EX_USAGE)."""
INVALID = 65
"""The manifests are not valid (sysexits: EX_DATAERR)."""
UNREACHABLE = 69
"""The swarm can't be used from here (sysexits: EX_UNAVAILABLE)."""
INTERRUPTED = 130


class CommandError(click.ClickException):
    """Ends the command with ``code``, and its message on standard error."""

    def __init__(self, message: str, exit_code: int = FAILURE) -> None:
        super().__init__(message)
        self.code = exit_code

    def show(self, file: IO[Any] | None = None) -> None:
        for line in self.message.splitlines():
            click.echo(f"queenright: {line}", err=True, file=file)
