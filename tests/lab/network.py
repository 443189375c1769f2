"""The lab's LAN: one bridge in a namespace of its own, one cable to each party.

The bridge is not in the host's namespace, so neither the host's firewall nor its connection
tracking sees what nodes say to each other; the host itself is one more party, with the first
address of the subnet. Invariant: everything made here carries the instance's name, and only what
carries it is removed.
"""

import contextlib
import ipaddress
import json
import os
import signal
from pathlib import Path

from tests.lab.settings import LabError, LabSettings
from tests.lab.shell import attempt, in_netns, run

_NETNS_DIRECTORY = Path("/run/netns")
_LAN = "lan"
_BRIDGE = "lan0"
_UPLINK = "uplink"


def ensure_lan(settings: LabSettings) -> None:
    """Bring up the bridge and the host's own address on it, unless they are there."""
    lan = settings.netns(_LAN)
    require_ownership(settings)
    if _lan_is_up(settings):
        return
    remove_lan(settings)
    _refuse_taken_subnet(settings)
    run("ip", "netns", "add", lan)
    mac, quick = _mac(settings, 1), "forward_delay 0 stp_state 0 mcast_snooping 0"
    _batch(
        [
            f"link add {settings.name} address {mac} type veth peer name {_UPLINK} netns {lan}",
            f"link set {settings.name} addrgenmode none alias {settings.directory}",
            f"address add {settings.gateway}/{settings.subnet.prefixlen} dev {settings.name}",
            f"link set {settings.name} up",
        ]
    )
    _batch(
        [
            f"link add {_BRIDGE} address {_mac(settings, 254)} type bridge {quick}",
            f"link set {_BRIDGE} addrgenmode none up",
            f"link set {_UPLINK} master {_BRIDGE} addrgenmode none up",
        ],
        lan,
    )
    for family in ("ip", "ip6", "arp"):
        switch = f"/proc/sys/net/bridge/bridge-nf-call-{family}tables"
        run(*in_netns(lan, ["sh", "-c", f"[ ! -e {switch} ] || echo 0 > {switch}"]))


def require_ownership(settings: LabSettings) -> None:
    """LabError when another directory's lab has this subnet: its parts have the same names."""
    result = attempt("ip", "-j", "link", "show", "dev", settings.name)
    if result.returncode != 0:
        return
    (link,) = json.loads(result.stdout)
    owner = link.get("ifalias", "unknown")
    if owner != str(settings.directory):
        raise LabError(
            f"{settings.subnet} belongs to the lab in {owner}: choose another LAB_SUBNET,"
            f" or that LAB_DIR (this one is {settings.directory})"
        )


def remove_lan(settings: LabSettings) -> None:
    """Remove the bridge, the host's interface and the namespace; no error when there is none."""
    attempt("ip", "link", "delete", settings.name)
    remove_netns(settings, _LAN)


def add_party(settings: LabSettings, name: str, address: str) -> None:
    """A namespace `name` with `eth0` on the LAN, replacing whatever is left of an earlier one.

    An address within the LAN's subnet is an ordinary host there, with the host as its gateway.
    Any other address is *outside*: it reaches the LAN directly (every LAN party knows the way
    back), so nothing on this machine has to forward for it.
    """
    if not (_NETNS_DIRECTORY / settings.netns(_LAN)).exists():
        raise LabError("the lab is not up: `make lab-up`")
    remove_party(settings, name)
    lan, netns = settings.netns(_LAN), settings.netns(name)
    inside = ipaddress.IPv4Address(address) in settings.subnet
    run("ip", "netns", "add", netns)
    mac = _mac(settings, int(address.rpartition(".")[2]), inside=inside)
    _batch(
        [
            f"link add {name} type veth peer name eth0 address {mac} netns {netns}",
            f"link set {name} master {_BRIDGE} addrgenmode none up",
        ],
        lan,
    )
    ours = ["link set lo up", "link set eth0 addrgenmode none"]
    if inside:
        ours += [
            f"address add {address}/{settings.subnet.prefixlen} dev eth0",
            "link set eth0 up",
            f"route add default via {settings.gateway}",
            f"route add {settings.outside} dev eth0",
        ]
    else:
        ours += [
            f"address add {address}/32 dev eth0",
            "link set eth0 up",
            f"route add {settings.subnet} dev eth0 src {address}",
        ]
    _batch(ours, netns)


def remove_party(settings: LabSettings, name: str) -> None:
    """Remove a party's cable and namespace; no error when there is none."""
    if (_NETNS_DIRECTORY / settings.netns(_LAN)).exists():
        attempt("ip", "-n", settings.netns(_LAN), "link", "delete", name)
    remove_netns(settings, name)


def has_party(settings: LabSettings, name: str) -> bool:
    return link_state(settings, name) != "none"


def partition(settings: LabSettings, name: str) -> None:
    """Take the party's port off the bridge: silence, with the carrier still there."""
    run("ip", "-n", settings.netns(_LAN), "link", "set", name, "nomaster")


def heal(settings: LabSettings, name: str) -> None:
    run("ip", "-n", settings.netns(_LAN), "link", "set", name, "master", _BRIDGE)


def unplug(settings: LabSettings, name: str) -> None:
    """Pull the cable: the party's eth0 loses its carrier."""
    run("ip", "-n", settings.netns(_LAN), "link", "set", name, "down")


def plug(settings: LabSettings, name: str) -> None:
    run("ip", "-n", settings.netns(_LAN), "link", "set", name, "up")


def link_state(settings: LabSettings, name: str) -> str:
    """`plugged`, `partitioned`, `unplugged` or `none`."""
    result = attempt("ip", "-n", settings.netns(_LAN), "-j", "link", "show", "dev", name)
    if result.returncode != 0:
        return "none"
    (link,) = json.loads(result.stdout)
    if "UP" not in link["flags"]:
        return "unplugged"
    return "plugged" if link.get("master") == _BRIDGE else "partitioned"


def netns_of(settings: LabSettings) -> list[str]:
    """Names (without the instance's prefix) of this instance's namespaces on the machine."""
    prefix = settings.netns("")
    if not _NETNS_DIRECTORY.is_dir():
        return []
    return sorted(
        entry.name.removeprefix(prefix)
        for entry in _NETNS_DIRECTORY.iterdir()
        if entry.name.startswith(prefix)
    )


def remove_netns(settings: LabSettings, name: str) -> None:
    """Remove one namespace of this instance, and end what still runs in it."""
    path = _NETNS_DIRECTORY / settings.netns(name)
    if not path.exists():
        return
    _end_processes_in(path)
    if attempt("ip", "netns", "delete", path.name).returncode != 0:
        path.unlink(missing_ok=True)  # a crash between creating the file and mounting it


def _end_processes_in(path: Path) -> None:
    """Kill what runs in a namespace that is ours alone (clients; a node's have their own init)."""
    inode = path.stat()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                theirs = (entry / "ns/net").stat()
                if (theirs.st_dev, theirs.st_ino) == (inode.st_dev, inode.st_ino):
                    os.kill(int(entry.name), signal.SIGKILL)


def _lan_is_up(settings: LabSettings) -> bool:
    lan = settings.netns(_LAN)
    if not (_NETNS_DIRECTORY / lan).exists():
        return False
    host = attempt("ip", "-j", "address", "show", "dev", settings.name, "up")
    bridge = attempt("ip", "-n", lan, "-j", "link", "show", "master", _BRIDGE)
    return (
        host.returncode == 0
        and settings.gateway in host.stdout
        and bridge.returncode == 0
        and _UPLINK in bridge.stdout
    )


def _refuse_taken_subnet(settings: LabSettings) -> None:
    for route in json.loads(run("ip", "-j", "-4", "route", "show", "table", "main")):
        if route["dst"] == "default":
            continue
        if ipaddress.IPv4Network(route["dst"], strict=False).overlaps(settings.subnet):
            raise LabError(
                f"{settings.subnet} is in use on this machine ({route['dst']} on"
                f" {route.get('dev', '?')}): choose another with LAB_SUBNET"
            )


def _batch(lines: list[str], netns: str | None = None) -> None:
    scope = ["-n", netns] if netns else []
    run("ip", *scope, "-batch", "-", text="\n".join(lines) + "\n")


def _mac(settings: LabSettings, last: int, *, inside: bool = True) -> str:
    """The same card for the same address after every start, as on a real machine."""
    first = 0x71 if inside else 0x72
    octets = (0x02, first, *settings.subnet.network_address.packed[:3], last)
    return ":".join(f"{octet:02x}" for octet in octets)
