"""Decides whether this machine can carry a lab, and says in plain words what it lacks."""

import os
import platform
import shutil
from pathlib import Path

from tests.lab.cgroups import Hierarchies
from tests.lab.settings import LabError
from tests.lab.shell import PATH, attempt

_MODULES = ("overlay", "bridge", "veth", "vxlan", "br_netfilter", "nf_nat", "xt_addrtype")
#: What must work in an empty network namespace, and how to say that it does not.
_TRIALS = {
    "bridge": ("ip link add qrb type bridge", "bridges (CONFIG_BRIDGE)"),
    "veth": ("ip link add qrv type veth peer name qrw", "veth pairs (CONFIG_VETH)"),
    "vxlan": (
        "ip link add qrx type vxlan id 9 dstport 4789",
        "VXLAN, for overlay networks (CONFIG_VXLAN)",
    ),
    "nat": (
        "iptables -t nat -S",
        "iptables with NAT (CONFIG_NF_TABLES, CONFIG_NFT_COMPAT, CONFIG_NF_NAT)",
    ),
}


def require_root() -> None:
    """LabError unless this is root on Linux."""
    if platform.system() != "Linux":
        raise LabError("the lab needs Linux")
    if os.geteuid() != 0:
        raise LabError("the lab needs root (network namespaces, mounts): run it with sudo")


def check_machine() -> None:
    """LabError naming everything that the kernel lacks."""
    require_root()
    if shutil.which("modprobe", path=PATH):
        attempt("modprobe", "-q", "-a", *_MODULES)
    lacks = _missing_features()
    if lacks:
        raise LabError("this machine's kernel lacks what the lab needs: " + "; ".join(lacks))


def _missing_features() -> list[str]:
    lacks = []
    if "overlay" not in Path("/proc/filesystems").read_text().split():
        lacks.append("the overlay file system (CONFIG_OVERLAY_FS)")
    kinds = ("net", "pid", "mnt", "uts", "ipc")
    lacks += [f"{kind} namespaces" for kind in kinds if not Path("/proc/self/ns", kind).exists()]
    found = Hierarchies.read()
    if found.v1 and found.freezer is None:
        lacks.append("a mounted freezer cgroup (needed to freeze a node)")
    lacks += _missing_network_features()
    return lacks


def _missing_network_features() -> list[str]:
    """Try each kind of device and the firewall in a namespace that is gone right after."""
    script = " ; ".join(f"{trial} >&2 || echo {name}" for name, (trial, _) in _TRIALS.items())
    result = attempt("unshare", "--net", "sh", "-c", script)
    if result.returncode != 0:
        return [f"network namespaces ({result.stderr.strip()})"]
    return [_TRIALS[name][1] for name in result.stdout.split()]
