"""The small lab of tests/e2e/test_lab.py: its settings, its service, and how to ask it."""

import io
import ipaddress
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.lab.cgroups import Hierarchies
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.settings import LabSettings

DIRECTORY = Path("/var/lib/queenright-lab-selftest")
SETTINGS = LabSettings(DIRECTORY, nodes=2, subnet=ipaddress.IPv4Network("10.78.0.0/24"))
REPOSITORY = Path(__file__).parents[2]
PORT = 8080

#: Answers with its name; records in its volume when it started and when it was asked to stop.
SERVER = """#!/bin/sh
trap 'echo stopped >> /data/history; exit 0' TERM
echo started >> /data/history
busybox httpd -f -p 0.0.0.0:8080 -h /www &
while :; do wait; sleep 1; done
"""
WHO = '#!/bin/sh\nprintf "Content-Type: text/plain\\r\\n\\r\\n%s %s" "$(hostname)" "$REMOTE_ADDR"\n'


def remains() -> list[str]:
    """Processes, namespaces, links, mounts and cgroups of the small lab on this machine."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and process.name != str(os.getpid()):
            try:
                words = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            except OSError:
                continue
            if str(DIRECTORY).encode() in words:
                found.append(f"process {process.name}: {words[:80]!r}")
    found += [f"namespace {p}" for p in Path("/run/netns").glob("qr78-0*")]
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True)
    found += [f"link {line}" for line in links.stdout.splitlines() if "qr78-0" in line]
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    found += [f"mount {line}" for line in mounts if str(DIRECTORY) in line or "qr78-0" in line]
    found += [f"cgroup {p}" for root in Hierarchies.read().roots for p in root.glob("qr78-0*")]
    return found


def push_image(lab: Lab) -> None:
    """An image of one static program, pushed through the first node."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(shutil.which("busybox") or "busybox", "bin/busybox")
        for name, text in {"server": SERVER, "www/cgi-bin/who": WHO}.items():
            entry = tarfile.TarInfo(name)
            entry.mode, entry.size = 0o755, len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
        for name in ("sh", "hostname", "sleep", "cat"):
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
        for name in ("tmp", "data"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777
            tar.addfile(entry)
    path = DIRECTORY / "image.tar"
    path.write_bytes(archive.getvalue())
    command = 'CMD ["/bin/sh", "/server"]'
    lab.manager.docker("import", "-c", command, "-c", "ENV PATH=/bin", str(path), image_name(lab))
    lab.manager.docker("push", image_name(lab))


def ensure_service(lab: Lab) -> None:
    """Deploy the service, with one task on each node, unless it is there."""
    manager = lab.manager
    if manager.docker("service", "inspect", "who", check=False).returncode == 0:
        return
    if manager.docker("pull", image_name(lab), check=False).returncode != 0:
        push_image(lab)
    # A heartbeat every 2 s instead of 5: a lost node is noticed in six seconds.
    manager.docker("swarm", "update", "--dispatcher-heartbeat", "2s")
    manager.docker("network", "create", "--driver", "overlay", "--attachable", "lan")
    publish = f"mode=host,target={PORT},published={PORT}"
    options = ["--name=who", "--mode=global", "--network=lan", "--endpoint-mode=dnsrr"]
    options += [f"--publish={publish}", "--mount=type=volume,source=who,target=/data"]
    options += [
        "--hostname={{.Node.Hostname}}",
        "--restart-delay=500ms",
        "--stop-grace-period=5s",
        "--detach",
    ]
    manager.docker("service", "create", *options, image_name(lab))


def image_name(lab: Lab) -> str:
    return f"{lab.registry}/who"


def ask(address: str) -> list[str]:
    program = (
        "import sys, urllib.request;"
        "print(urllib.request.urlopen(sys.argv[1], timeout=2).read().decode(), end='')"
    )
    return [sys.executable, "-c", program, f"http://{address}:{PORT}/cgi-bin/who"]


def answer(lab: Lab, node: Node, client: str = "host") -> tuple[str, str] | None:
    """Host name of the task that answers on a node and the source address that it saw."""
    result = lab.client(client).run(*ask(node.address), check=False)
    if result.returncode != 0:
        return None
    name, _, source = result.stdout.partition(" ")
    return name, source


def container_ids(node: Node) -> list[str]:
    return node.docker("ps", "-q", "--no-trunc").stdout.split()


def history(node: Node) -> list[str]:
    volume = node.directory / "data/volumes/who/_data/history"
    return volume.read_text().split() if volume.exists() else []


def swarm_id(node: Node) -> str:
    return str(node.engine.get("/info")["Swarm"]["NodeID"])


def run_command(*argv: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LAB_DIR": str(DIRECTORY)}
    environment.pop("LAB_NODES", None)
    environment.pop("LAB_SUBNET", None)
    return subprocess.run(
        [sys.executable, "-m", "tests.lab", *argv],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def eventually(condition: Callable[[], object], what: str, timeout_s: float = 30) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"waited {timeout_s:.0f} s for: {what}"
        time.sleep(0.1)
