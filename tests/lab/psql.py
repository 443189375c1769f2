"""psql in a running member's container, through a node's proxy, as the superuser.

``python3 -m tests.lab.psql NODE PORT [ARGUMENT ...]``: the password never leaves the container.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.lab.docker_client import docker_command
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.settings import LabError

_MEMBER = "label=queenright.cluster"
ASKED_BY = "LAB_ASKS"
"""A variable of the processes that the lab itself starts in a container, beside a password."""
SIGNED_IN = f"export {ASKED_BY}=1 PGPASSWORD=$(cat /run/secrets/pg_superuser_pw);"
_SCRIPT = f'{SIGNED_IN} exec psql "$@"'


def member_container(lab: Lab) -> tuple[Node, str]:
    """A node and a container on it in which a member runs; LabError when there is none."""
    for node in lab.workers:
        if not node.is_up():
            continue
        listed = node.docker("ps", "--filter", _MEMBER, "--format", "{{.ID}} {{.Names}}").stdout
        for line in listed.splitlines():
            identifier, _, name = line.partition(" ")
            if "_proxy." not in name:
                return node, identifier
    raise LabError("no member runs on any node: look at make status and make lab-status")


def psql_command(
    lab: Lab, node: str, port: int, *arguments: str, tty: bool
) -> tuple[Node, list[str]]:
    """The docker command that runs psql, and the node whose engine it is for."""
    host, container = member_container(lab)
    address = ("-h", lab.node(node).address, "-p", str(port), "-U", "postgres")
    terminal = "-it" if tty else "-i"
    inside = ("sh", "-c", _SCRIPT, "psql", *address, *arguments)
    return host, ["exec", terminal, container, *inside]


def run_psql(lab: Lab, node: str, port: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """psql to its end, with what it printed; its exit status is not checked."""
    host, command = psql_command(lab, node, port, *arguments, tty=False)
    return host.docker(*command, check=False)


def main(argv: list[str]) -> int:
    if len(argv) < 2 or not argv[1].isdigit():
        print(__doc__, file=sys.stderr)
        return 64
    try:
        lab = Lab()
        host, command = psql_command(lab, argv[0], int(argv[1]), *argv[2:], tty=sys.stdin.isatty())
        environment = {**os.environ, **host.client_environment()}
    except LabError as error:
        print(f"psql: {error}", file=sys.stderr)
        return 1
    docker = docker_command()
    return subprocess.run([docker, *command], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
