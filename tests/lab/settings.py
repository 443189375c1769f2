"""Decides where a lab lives and what its parts are called, from LAB_* variables.

Every name and address of an instance derives from its subnet and its directory, so two labs with
different LAB_SUBNET and LAB_DIR never meet; they may share one image builder. A directory that
already holds a lab remembers the node count and subnet it was brought up with.
"""

import ipaddress
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

DEFAULT_DIRECTORY = Path("/var/lib/queenright-lab")
DEFAULT_NODES = 4
DEFAULT_SUBNET = ipaddress.IPv4Network("10.77.0.0/24")
#: The network that stands for the world outside the LAN (TEST-NET-2, RFC 5737).
DEFAULT_OUTSIDE = ipaddress.IPv4Network("198.51.100.0/24")
REGISTRY_PORT = 5000
_FIRST_NODE = 10
_MAX_NODES = 100
_MAX_DISK_GIB = 1000
_HOST_OFFSET = 200
_OUTSIDE_OFFSET = 10


class LabError(Exception):
    """The lab cannot do what was asked; the message says why, in words for a person."""


@dataclass(frozen=True, slots=True)
class LabSettings:
    """The settings that distinguish one lab instance from another."""

    directory: Path = DEFAULT_DIRECTORY
    nodes: int = DEFAULT_NODES
    subnet: ipaddress.IPv4Network = DEFAULT_SUBNET
    outside: ipaddress.IPv4Network = DEFAULT_OUTSIDE
    builder: Path | None = None
    disk_gib: int = 0
    """Size of each node's own disk, which loses unsynced data at a power cut; 0: it has none."""

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= _MAX_NODES:
            raise LabError(f"LAB_NODES={self.nodes}: from 1 to {_MAX_NODES} nodes are possible")
        if not 0 <= self.disk_gib <= _MAX_DISK_GIB:
            raise LabError(f"LAB_DISK_GIB={self.disk_gib}: from 0 to {_MAX_DISK_GIB} are possible")
        if self.subnet.prefixlen != 24:
            raise LabError(f"LAB_SUBNET={self.subnet}: a /24 is needed, such as {DEFAULT_SUBNET}")
        if not self.directory.is_absolute() or len(self.directory.parts) < 3:
            raise LabError(
                f"LAB_DIR={self.directory}: give an absolute path at least two levels deep, "
                "its contents are the lab's to remove"
            )
        if len(str(self.socket("node100"))) > 100:
            raise LabError(f"LAB_DIR={self.directory}: too long for a socket's path")

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> "LabSettings":
        """Settings from LAB_DIR, LAB_NODES, LAB_SUBNET, LAB_BUILDER, LAB_DISK_GIB.

        LabError on a bad value.

        A variable that is not set takes the value that the lab in LAB_DIR was brought up with,
        then the default.
        """
        directory = Path(environ.get("LAB_DIR") or DEFAULT_DIRECTORY)
        kept = _remembered(directory)
        nodes_text = environ.get("LAB_NODES") or str(kept.get("nodes", DEFAULT_NODES))
        subnet_text = environ.get("LAB_SUBNET") or str(kept.get("subnet", DEFAULT_SUBNET))
        disk_text = environ.get("LAB_DISK_GIB") or str(kept.get("disk_gib", 0))
        nodes, disk = _whole("LAB_NODES", nodes_text), _whole("LAB_DISK_GIB", disk_text)
        try:
            subnet = ipaddress.IPv4Network(subnet_text)
        except ValueError as error:
            raise LabError(f"LAB_SUBNET={subnet_text}: {error}") from None
        builder = environ.get("LAB_BUILDER")
        chosen = Path(builder) if builder else None
        return cls(directory, nodes, subnet, builder=chosen, disk_gib=disk)

    def beside(self, number: int) -> "LabSettings":
        """The `number`-th lab beside this one (0: this one itself), which shares its builder.

        Its directory is this one's name with a number, its subnet the `number`-th /24 after.
        """
        if number == 0:
            return self
        first = self.subnet.network_address + number * self.subnet.num_addresses
        return replace(
            self,
            directory=self.directory.with_name(f"{self.directory.name}-{number + 1}"),
            subnet=ipaddress.IPv4Network((first, self.subnet.prefixlen)),
            builder=self.builder_directory,
        )

    def variables(self) -> dict[str, str]:
        """The environment with which any command finds this lab."""
        return {
            "LAB_DIR": str(self.directory),
            "LAB_NODES": str(self.nodes),
            "LAB_SUBNET": str(self.subnet),
            "LAB_BUILDER": str(self.builder_directory),
            "LAB_DISK_GIB": str(self.disk_gib),
        }

    def remember(self) -> None:
        """Keep node count, subnet and size of the disks in the directory, for later commands."""
        self.directory.mkdir(parents=True, exist_ok=True)
        kept = {"nodes": self.nodes, "subnet": str(self.subnet), "disk_gib": self.disk_gib}
        self._memory.write_text(json.dumps(kept))

    def forget(self) -> None:
        self._memory.unlink(missing_ok=True)

    def conflict(self) -> str | None:
        """Return the reason against this directory: it holds a lab on another subnet, or with
        other disks; or None."""
        kept = _remembered(self.directory)
        subnet, disk = kept.get("subnet", str(self.subnet)), kept.get("disk_gib", 0)
        if kept and disk != self.disk_gib:
            told = f"with LAB_DISK_GIB={disk}"
        elif subnet != str(self.subnet):
            told = f"on {subnet}"
        else:
            return None
        return f"{self.directory} holds a lab {told}: take it down first, or choose LAB_DIR"

    @property
    def _memory(self) -> Path:
        return self.directory / "lab.json"

    @property
    def name(self) -> str:
        """Prefix of every namespace and cgroup, and the name of the host's interface."""
        octets = str(self.subnet.network_address).split(".")
        return f"qr{octets[1]}-{octets[2]}"

    @property
    def gateway(self) -> str:
        """The host's own address on the lab's LAN."""
        return str(self.subnet[1])

    @property
    def builder_directory(self) -> Path:
        return self.builder or self.directory / "builder"

    @property
    def registry(self) -> str:
        return f"{self.gateway}:{REGISTRY_PORT}"

    @property
    def node_names(self) -> tuple[str, ...]:
        return tuple(f"node{k}" for k in range(1, self.nodes + 1))

    def node_address(self, name: str) -> str:
        return str(self.subnet[_FIRST_NODE + int(name.removeprefix("node"))])

    @property
    def host_address(self) -> str:
        """Address of the LAN client that is no node."""
        return str(self.subnet[_HOST_OFFSET])

    @property
    def outside_address(self) -> str:
        """Address of the client that is in no allowed range (spec: database-cluster §4.2)."""
        return str(self.outside[_OUTSIDE_OFFSET])

    def netns(self, name: str) -> str:
        return f"{self.name}-{name}"

    def node_directory(self, name: str) -> Path:
        return self.directory / "nodes" / name

    def disk(self, name: str) -> Path | None:
        """The file that holds the node's own disk, None where it has none."""
        return self.node_directory(name) / "disk.img" if self.disk_gib else None

    def socket(self, name: str) -> Path:
        return self.node_directory(name) / "docker.sock"

    @property
    def pid_directory(self) -> Path:
        return self.directory / "pids"


def _whole(variable: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise LabError(f"{variable}={text}: a whole number is needed") from None


def _remembered(directory: Path) -> dict[str, object]:
    try:
        kept = json.loads((directory / "lab.json").read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}
