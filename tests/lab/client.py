"""A place on the lab's network that is no node, to run clients in."""

import os
import subprocess
from typing import IO, Any

from tests.lab.settings import LabError, LabSettings
from tests.lab.shell import in_netns


class Client:
    """A network namespace with one address; files and processes are the host's."""

    def __init__(self, settings: LabSettings, name: str, address: str) -> None:
        self.name = name
        self.address = address
        self._netns = settings.netns(name)

    def run(
        self,
        *argv: str,
        text: str | None = None,
        timeout_s: float = 60,
        check: bool = True,
        env: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command from this address to its end; `env` adds to the environment.

        With `check`, LabError with the command's own words when it fails.
        """
        result = subprocess.run(
            in_netns(self._netns, argv),
            input=text if text is not None else "",
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            env={**os.environ, **(env or {})},
        )
        if check and result.returncode != 0:
            said = (result.stderr or result.stdout).strip()
            raise LabError(f"`{' '.join(argv)}` failed ({result.returncode}): {said}")
        return result

    def popen(
        self,
        *argv: str,
        stdout: int | IO[Any] | None = subprocess.PIPE,
        stderr: int | IO[Any] | None = subprocess.PIPE,
        env: dict[str, str] | None = None,
    ) -> "subprocess.Popen[str]":
        """Start a command from this address; the caller ends it."""
        return subprocess.Popen(
            in_netns(self._netns, argv),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
            env={**os.environ, **(env or {})},
        )
