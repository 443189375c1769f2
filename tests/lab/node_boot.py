"""Starts the processes of a node of the lab: its cgroups, its namespaces, and the init in them."""

import subprocess
from pathlib import Path

from tests.lab.cgroups import NodeCgroup
from tests.lab.processes import ProcessRecord
from tests.lab.settings import LabSettings
from tests.lab.shell import PATH

_INIT = Path(__file__).with_name("node-init.sh")
#: Writes itself into the cgroups named before `--`, then becomes the command after it.
_ENTER_CGROUPS = 'while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; exec "$@"'
_UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount", "--uts", "--ipc")


def boot(
    settings: LabSettings, name: str, cgroup: NodeCgroup, console: Path
) -> ProcessRecord | None:
    """Start a node's supervisor, tini and init in namespaces of their own; return the supervisor,
    None where it has ended.

    The directory, the network and the files of the node have to be there.
    """
    environment = {
        "PATH": PATH,
        "HOME": "/root",
        "LAB_NODE": name,
        "LAB_NODE_DIR": str(settings.node_directory(name)),
        "LAB_DIR": str(settings.directory),
        "LAB_NODE_DISK": str(settings.disk(name) or ""),
    }
    doors = [str(door) for door in cgroup.create()]
    machine = [*_UNSHARE, "--propagation", "private", "tini", "-s", "--", str(_INIT)]
    net = f"--net=/run/netns/{settings.netns(name)}"
    argv = ["sh", "-c", _ENTER_CGROUPS, "node", *doors, "--", "nsenter", net, "--", *machine]
    with console.open("ab") as output:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env=environment,
            cwd="/",
        )
    return ProcessRecord.of(process.pid)
