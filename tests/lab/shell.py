"""Runs the system's own tools and turns their failure into words."""

import os
import subprocess
import sys
from collections.abc import Sequence

from tests.lab.settings import LabError

#: Where Debian keeps programs; a person's own PATH often lacks the sbin half.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def run(*argv: str, text: str | None = None, timeout_s: float = 60) -> str:
    """Run a command to its end and return its output; LabError with its words when it fails."""
    result = attempt(*argv, text=text, timeout_s=timeout_s)
    if result.returncode != 0:
        said = (result.stderr or result.stdout).strip()
        raise LabError(f"`{' '.join(argv)}` failed ({result.returncode}): {said}")
    return result.stdout


def attempt(
    *argv: str, text: str | None = None, timeout_s: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run a command that may fail; the caller looks at its return code."""
    try:
        return subprocess.run(
            argv,
            input=text,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            env={**os.environ, "PATH": PATH},
        )
    except FileNotFoundError:
        raise LabError(f"{argv[0]}: command not found") from None


def in_netns(netns: str, argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` in a named network namespace and in no other new one.

    Not ``ip netns exec``: that one mounts a new /sys, which hides the cgroups.
    """
    return ["nsenter", f"--net=/run/netns/{netns}", "--", *argv]


def say(message: str) -> None:
    """Progress for a person, on standard error."""
    print(f"lab: {message}", file=sys.stderr, flush=True)
