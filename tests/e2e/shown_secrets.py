"""Looks for secrets in all that a deployment shows: logs, state, Docker's objects, and the
arguments and environments of processes."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.running_operator import RunningOperator
from tests.lab.lab import Lab
from tests.lab.psql import ASKED_BY

LOOK_S = 0.05
"""Between two looks at all processes: a program that asks Docker lives longer."""


@dataclass
class Watch:
    """Arguments and environment of every process that was seen on this machine, whose labs are
    namespaces of it; of what the lab asks by itself, the arguments alone."""

    arguments: set[bytes] = field(default_factory=set)
    environments: set[bytes] = field(default_factory=set)
    over: threading.Event = field(default_factory=threading.Event)
    look_s: float = LOOK_S

    def run(self) -> None:
        known = dict[str, bytes]()
        while not self.over.wait(self.look_s):
            seen = dict[str, bytes]()
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    arguments = (process / "cmdline").read_bytes()
                    seen[process.name] = arguments
                    if known.get(process.name) != arguments:
                        self.arguments.add(arguments)
                        environment = (process / "environ").read_bytes()
                        if f"{ASKED_BY}=1".encode() not in environment.split(b"\0"):
                            self.environments.add(environment)
                except OSError:
                    continue
            known = seen


@contextmanager
def watching(look_s: float = LOOK_S) -> Iterator[Watch]:
    """Watch this machine's processes for the length of the block."""
    watch = Watch(look_s=look_s)
    thread = threading.Thread(target=watch.run, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch.over.set()
        thread.join(5)


def places(lab: Lab, operator: RunningOperator, watch: Watch) -> dict[str, str]:
    """Return all that is shown, by its place: of containers that have ended since, only what the
    watch has seen."""
    found: dict[str, str] = {"the operator's log": "".join(operator.lines)}
    for file in operator.state.rglob("*"):
        if file.is_file():
            found[f"state: {file.name}"] = file.read_text(errors="replace")
    for node in (lab.manager, *lab.workers):
        for container in node.docker("ps", "-aq").stdout.split():
            logs = node.docker("logs", container, check=False)
            found[f"logs of {container} on {node.name}"] = logs.stdout + logs.stderr
            shown = node.docker("inspect", container, check=False).stdout
            found[f"container {container} on {node.name}"] = shown
    for kind in ("service", "secret", "config", "node"):
        ids = lab.manager.docker(kind, "ls", "-q").stdout.split()
        found[f"every {kind}"] = lab.manager.docker(kind, "inspect", *ids).stdout
    found["arguments"] = b"\n".join(watch.arguments).decode(errors="replace")
    found["environments"] = b"\n".join(watch.environments).decode(errors="replace")
    return found


def shown_in(found: Mapping[str, str], secrets: Collection[str]) -> list[str]:
    """Return the places that show one of the secrets, as it is or as JSON writes it."""
    return [
        place
        for place, told in found.items()
        for secret in secrets
        if secret in told or json.dumps(secret)[1:-1] in told
    ]
