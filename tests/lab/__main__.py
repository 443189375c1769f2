"""The lab's command line: ``python3 -m tests.lab COMMAND``, which the make targets call.

Exit codes: 0 done, 1 the lab could not do it (the message says why), 2 wrong usage; ``run`` and
``docker`` give the exit code of the command that they ran.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Callable

from tests.lab.docker_client import docker_command
from tests.lab.lab import Lab, NodeStatus
from tests.lab.node import Node
from tests.lab.registry import ensure_registry
from tests.lab.settings import LabError
from tests.lab.shell import in_netns, say

_FAULTS: dict[str, Callable[[Node], None]] = {
    "power-cut": Node.power_cut,
    "halt": Node.halt,
    "start": Node.start,
    "partition": Node.partition,
    "heal": Node.heal,
    "unplug": Node.unplug,
    "plug": Node.plug,
    "freeze": Node.freeze,
    "thaw": Node.thaw,
    "crash-dockerd": Node.crash_dockerd,
    "restart-dockerd": Node.restart_dockerd,
}


def main(argv: list[str]) -> int:
    """Run one command; returns the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        code = arguments.act(arguments)
    except LabError as error:
        say(str(error))
        return 1
    return int(code or 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.lab",
        description="A real Docker Swarm of several nodes on this machine.",
        epilog="LAB_NODES, LAB_SUBNET, LAB_DIR, LAB_BUILDER, LAB_DISK_GIB choose the instance.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, words: str, act: Callable[..., int | None]) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=words, description=words)
        sub.set_defaults(act=act)
        return sub

    command("up", "bring the lab up", lambda _: Lab().up())
    command("down", "stop it, remove the nodes' disks, keep the images", lambda _: Lab().down())
    command("purge", "as down, and remove the images too", lambda _: Lab().purge())
    command("reset", "a bare swarm again; pulled layers stay", lambda _: Lab().reset())
    command("status", "a table of the nodes", lambda _: _status())
    command("env", "shell exports for any Docker client", lambda _: _environment())
    command("registry-up", "the registry alone", lambda _: print(ensure_registry()))
    fault = command("fault", "break or mend a node", _fault)
    fault.add_argument("node", help="node1 ... or `all`")
    fault.add_argument("fault", choices=sorted(_FAULTS))
    run = command("run", "run a command on a node, or as client `host` or `outside`", _run)
    run.add_argument("name")
    run.add_argument("argv", nargs=argparse.REMAINDER, metavar="COMMAND ...")
    docker = command("docker", "run the docker client against a node", _docker)
    docker.add_argument("node")
    docker.add_argument("argv", nargs=argparse.REMAINDER, metavar="ARGUMENT ...")
    return parser


def _status() -> int:
    rows = Lab().status()
    header = NodeStatus("NODE", "ROLE", "ADDRESS", "POWER", "DOCKERD", "LINK", "SWARM", {})
    table = [[*_cells(header), "LABELS"]]
    table += [[*_cells(r), ",".join(f"{k}={v}" for k, v in sorted(r.labels.items()))] for r in rows]
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
    return 0


def _cells(row: NodeStatus) -> list[str]:
    return [row.name, row.role, row.address, row.power, row.dockerd, row.link, row.swarm]


def _environment() -> int:
    lab = Lab()
    if not lab.manager.is_up():
        say(f"{lab.manager.name} is not up: these variables work after `make lab-up`")
    print("unset DOCKER_CONTEXT DOCKER_TLS_VERIFY DOCKER_CERT_PATH")
    for name, value in lab.environment().items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


def _fault(arguments: argparse.Namespace) -> int:
    lab = Lab()
    nodes = lab.nodes if arguments.node == "all" else [lab.node(arguments.node)]
    for node in nodes:
        _FAULTS[arguments.fault](node)
        say(f"{node.name}: {arguments.fault}")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    lab = Lab()
    argv = arguments.argv[1:] if arguments.argv[:1] == ["--"] else arguments.argv
    if not argv:
        raise LabError("give a command to run")
    if arguments.name.startswith("node"):
        command = lab.node(arguments.name).enter_command(argv)
    else:
        lab.client(arguments.name)
        command = in_netns(lab.settings.netns(arguments.name), argv)
    sys.stdout.flush()
    os.execvp(command[0], command)  # noqa: S606 - the command takes this process's place


def _docker(arguments: argparse.Namespace) -> int:
    node = Lab().node(arguments.node)
    argv = arguments.argv[1:] if arguments.argv[:1] == ["--"] else arguments.argv
    sys.stdout.flush()
    environment = {**os.environ, **node.client_environment()}
    os.execvpe(docker_command(), ["docker", *argv], environment)  # noqa: S606 - as above


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
