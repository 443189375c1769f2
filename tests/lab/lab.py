"""The whole lab: up, down, reset, purge, and the way to its nodes and clients.

Every operation looks at what there is and does what is missing, so each may be repeated, and each
copes with what a crashed earlier run or a reboot left. Invariant: only things that carry this
instance's name, lie in its directory or match its pid records are ever ended or removed.
"""

import re
import shutil
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.lab import builder, network, packages, preflight, registry, swarm
from tests.lab.cgroups import Hierarchies
from tests.lab.client import Client
from tests.lab.node import Node
from tests.lab.settings import LabError, LabSettings
from tests.lab.shell import run, say

_PARTY_NAME = re.compile(r"[a-z][a-z0-9]{0,11}")


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """One row of the status table."""

    name: str
    role: str
    address: str
    power: str
    dockerd: str
    link: str
    swarm: str
    labels: dict[str, str]


class Lab:
    """A lab instance; made from settings, it holds no state, so any process may use it."""

    def __init__(self, settings: LabSettings | None = None) -> None:
        self.settings = settings or LabSettings.from_environment()

    # -- life ------------------------------------------------------------------------------

    def up(self) -> None:
        """Bring up registry, nodes and swarm, and end every fault; what is well is not touched."""
        preflight.require_root()
        packages.ensure_programs()
        preflight.check_machine()
        with registry.exclusively(self.settings):
            registry.prepare_directory(self.settings)
            network.require_ownership(self.settings)
            self._up()

    def mend(self) -> None:
        """End every fault: links whole, nodes on; what is deployed stays as it is."""
        preflight.require_root()
        with registry.exclusively(self.settings):
            _in_parallel(_make_well, self.nodes)

    def reset(self) -> None:
        """A bare swarm: every node anew, without volumes, services or labels.

        Image layers that the nodes have pulled stay, so the next deployment pulls nothing.
        """
        preflight.require_root()
        with registry.exclusively(self.settings):
            registry.prepare_directory(self.settings)
            network.require_ownership(self.settings)
            _in_parallel(lambda node: node.power_cut(), self._all_nodes())
            _in_parallel(lambda node: node.wipe(keep_images=True), self._all_nodes())
            self._up()

    def down(self, *, keep_images: bool = False) -> None:
        """Stop everything and remove the nodes' disks; the registry's images stay.

        With ``keep_images`` the layers that the nodes have pulled stay too, for the next lab here:
        to remove them takes minutes on a busy machine.
        """
        preflight.require_root()
        network.require_ownership(self.settings)
        with registry.exclusively(self.settings):
            _in_parallel(lambda node: node.power_cut(), self._all_nodes())
            for name in network.netns_of(self.settings):
                if name != "lan":
                    network.remove_party(self.settings, name)
            registry.stop(self.settings)
            network.remove_lan(self.settings)
            if keep_images:
                _in_parallel(lambda node: node.wipe(keep_images=True), self._all_nodes())
            for leftover in ("pids", "docker-client", *(() if keep_images else ("nodes",))):
                shutil.rmtree(self.settings.directory / leftover, ignore_errors=True)
            self.settings.forget()

    def purge(self) -> None:
        """Take the lab down, and remove the directory with the registry's images too."""
        self.down()
        directory = self.settings.directory
        builder.stop(builder.Builder(directory / "builder"))
        for point in sorted(_mount_points(), reverse=True):
            if directory in point.parents:
                run("umount", str(point))
        shutil.rmtree(directory, ignore_errors=True)

    # -- parts -----------------------------------------------------------------------------

    @property
    def nodes(self) -> list[Node]:
        return [Node(self.settings, name) for name in self.settings.node_names]

    @property
    def manager(self) -> Node:
        return self.nodes[0]

    @property
    def workers(self) -> list[Node]:
        return self.nodes[1:]

    def node(self, name: str) -> Node:
        """A node by its name; LabError when the lab has none of that name."""
        if name not in self.settings.node_names:
            known = ", ".join(self.settings.node_names)
            raise LabError(f"{name}: no such node; there are {known}")
        return Node(self.settings, name)

    @property
    def registry(self) -> str:
        """`host:port` of the image registry."""
        return self.settings.registry

    def client(self, name: str = "host", address: str | None = None) -> Client:
        """A place to run clients in, made on first use.

        `host` is one more host on the LAN; `outside` has an address in none of the ranges that
        the cluster allows; any other name needs an `address`.
        """
        known = {"host": self.settings.host_address, "outside": self.settings.outside_address}
        wanted = address or known.get(name)
        if wanted is None or not _PARTY_NAME.fullmatch(name) or name == "lan":
            raise LabError(f"client {name}: take `host`, `outside`, or give a name and an address")
        if name.startswith("node"):
            raise LabError(f"client {name}: that is a node's name")
        if network.link_state(self.settings, name) == "none":
            network.add_party(self.settings, name, wanted)
        return Client(self.settings, name, wanted)

    # -- views -----------------------------------------------------------------------------

    def is_up(self) -> bool:
        """Return True if registry and all nodes run and the manager sees every node Ready."""
        states = swarm.states(self.manager)
        return (
            registry.is_running(self.settings)
            and all(states.get(node.name) == "ready" for node in self.nodes)
            and all(node.is_up() for node in self.nodes)
        )

    def node_states(self) -> dict[str, str]:
        """The manager's view: node name -> `ready` or `down`; empty if it does not answer."""
        return swarm.states(self.manager)

    def wait_for(self, timeout_s: float = 60, **states: str) -> None:
        """Wait until the manager sees nodes so: `wait_for(node2="down", node3="ready")`."""
        swarm.wait_for_states(self.manager, states, timeout_s)

    def wait_ready(self, timeout_s: float = 60) -> None:
        """Wait until the manager sees all nodes Ready."""
        swarm.wait_ready(self.nodes, timeout_s)

    def environment(self) -> dict[str, str]:
        """Variables with which any Docker client, and any later command, finds this lab."""
        return {
            **self.manager.client_environment(),
            "LAB_DIR": str(self.settings.directory),
            "LAB_SUBNET": str(self.settings.subnet),
            "LAB_NODES": str(self.settings.nodes),
            "LAB_DISK_GIB": str(self.settings.disk_gib),
            "LAB_NODE_NAMES": " ".join(self.settings.node_names),
            "LAB_REGISTRY": self.settings.registry,
            "LAB_OUTSIDE": self.settings.outside_address,
        }

    def status(self) -> list[NodeStatus]:
        """Return one row a node, from the node's and the manager's present state."""
        entries = swarm.entries(self.manager)
        rows = []
        for node in self.nodes:
            entry = entries.get(node.name, {})
            power = "frozen" if node.is_frozen() else "on" if node.is_powered() else "off"
            rows.append(
                NodeStatus(
                    name=node.name,
                    role="manager" if node.name == self.manager.name else "worker",
                    address=node.address,
                    power=power,
                    dockerd="up" if power == "on" and node.engine.answers() else "down",
                    link=node.link,
                    swarm=str(entry.get("Status", {}).get("State", "-")),
                    labels=dict(entry.get("Spec", {}).get("Labels") or {}),
                )
            )
        return rows

    # -- the inside ------------------------------------------------------------------------

    def _up(self) -> None:
        began = time.monotonic()
        registry.start(self.settings)
        off = [node for node in self.nodes if not node.is_powered()]
        _in_parallel(_make_well, self.nodes)
        swarm.ensure_swarm(self.nodes)
        took = time.monotonic() - began
        count = f"{self.settings.nodes} nodes on {self.settings.subnet}"
        say(f"{count} ready, {len(off)} of them started, registry {self.registry} ({took:.1f} s)")

    def _all_nodes(self) -> list[Node]:
        """The lab's nodes and any others that an earlier run with more nodes left."""
        names = {*self.settings.node_names, *network.netns_of(self.settings)}
        places = [self.settings.directory / "nodes", self.settings.pid_directory]
        places += [root / self.settings.name for root in Hierarchies.read().roots]
        for place in places:
            if place.is_dir():
                names |= {entry.stem for entry in place.iterdir()}
        ours = sorted(name for name in names if re.fullmatch(r"node[1-9][0-9]?", name))
        return [Node(self.settings, name) for name in ours]


def _make_well(node: Node) -> None:
    node.mend()
    node.start()


def _in_parallel(act: Callable[[Node], None], nodes: Iterable[Node]) -> None:
    """Do it to all nodes at once; the first error is raised when all are done."""
    chosen = list(nodes)
    if chosen:
        with ThreadPoolExecutor(len(chosen)) as pool:
            list(pool.map(act, chosen))


def _mount_points() -> list[Path]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [Path(line.split()[4]) for line in lines]
