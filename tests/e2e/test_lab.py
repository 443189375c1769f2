"""The lab itself: what each fault does to a real swarm, and what the lab leaves behind.

A small instance of its own (two nodes, another subnet, another directory), so that a lab that a
person has running is never touched.
"""

import io
import ipaddress
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.lab import packages
from tests.lab.cgroups import Hierarchies
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.processes import ProcessRecord
from tests.lab.settings import LabError, LabSettings

pytestmark = pytest.mark.lab

DIRECTORY = Path("/var/lib/queenright-lab-selftest")
SETTINGS = LabSettings(DIRECTORY, nodes=2, subnet=ipaddress.IPv4Network("10.78.0.0/24"))
REPOSITORY = Path(__file__).parents[2]
PORT = 8080

#: Says who asks; notes in its volume when it started and when it was told to stop.
_SERVER = """#!/bin/sh
trap 'echo stopped >> /data/history; exit 0' TERM
echo started >> /data/history
busybox httpd -f -p 0.0.0.0:8080 -h /www &
while :; do wait; sleep 1; done
"""
_WHO = (
    '#!/bin/sh\nprintf "Content-Type: text/plain\\r\\n\\r\\n%s %s" "$(hostname)" "$REMOTE_ADDR"\n'
)


@pytest.fixture(scope="module")
def small() -> Iterator[Lab]:
    """An instance of two nodes that only this module uses; nothing of it stays."""
    if os.geteuid() != 0:
        pytest.skip("the lab needs root")
    packages.ensure_programs({"busybox": "busybox-static"})
    lab = Lab(SETTINGS)
    lab.purge()
    yield lab
    lab.purge()


@pytest.fixture
def served(small: Lab) -> Lab:
    """The small lab, whole, with one task of a service on each node that says who asks it."""
    small.up()
    manager = small.manager
    if manager.docker("service", "inspect", "who", check=False).returncode != 0:
        if manager.docker("pull", _image(small), check=False).returncode != 0:
            _push_image(small)
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
        manager.docker("service", "create", *options, _image(small))
    for node in small.nodes:
        _eventually(partial(_answer, small, node), f"{node.name} serves", 60)
    return small


def test_up_again_leaves_everything_as_it_is(served: Lab) -> None:
    records = {path.name: path.read_text() for path in SETTINGS.pid_directory.iterdir()}
    containers = [_containers(node) for node in served.nodes]
    served.up()
    assert {path.name: path.read_text() for path in SETTINGS.pid_directory.iterdir()} == records
    assert [_containers(node) for node in served.nodes] == containers


def test_clients_come_from_where_they_say(served: Lab) -> None:
    for node in served.nodes:
        assert _answer(served, node, "host") == (node.name, "10.78.0.200")
        assert _answer(served, node, "outside") == (node.name, "198.51.100.10")
    from_here = subprocess.run(
        _ask(served.node("node2").address), capture_output=True, text=True, check=True
    )
    assert from_here.stdout == "node2 10.78.0.1"


def test_tasks_reach_each_other_over_the_overlay(served: Lab) -> None:
    ours, theirs = (_containers(node)[0] for node in served.nodes)
    form = '{{(index .NetworkSettings.Networks "lan").IPAddress}}'
    address = served.node("node2").docker("inspect", "-f", form, theirs).stdout.strip()
    ask = f"printf 'GET /cgi-bin/who HTTP/1.0\\r\\n\\r\\n' | busybox nc -w 5 {address} {PORT}"
    assert "node2 10." in served.manager.docker("exec", ours, "sh", "-c", ask).stdout


def test_power_cut_loses_the_node_but_not_its_disk(served: Lab) -> None:
    node = served.node("node2")
    identity = _swarm_id(node)
    before = _history(node)
    node.power_cut()
    assert not node.is_powered()
    assert node.link == "none"
    served.wait_for(node2="down", timeout_s=30)
    node.start()
    served.wait_ready()
    assert _swarm_id(node) == identity
    _eventually(lambda: _history(node) == [*before, "started"], "a new task, and no goodbye")


def test_halt_lets_containers_say_goodbye(served: Lab) -> None:
    node = served.node("node2")
    before = _history(node)
    node.halt()
    assert not node.is_powered()
    node.start()
    served.wait_ready()
    _eventually(lambda: _history(node) == [*before, "stopped", "started"], "an orderly stop")


def test_partition_is_silent_and_heals(served: Lab) -> None:
    node = served.node("node2")
    identity = _swarm_id(node)
    node.partition()
    assert node.link == "partitioned"
    assert node.exec("cat", "/sys/class/net/eth0/carrier").stdout.strip() == "1"
    assert _answer(served, node) is None
    assert node.is_up(), "the node itself goes on"
    served.wait_for(node2="down", timeout_s=30)
    node.heal()
    served.wait_ready()
    assert _swarm_id(node) == identity
    _eventually(lambda: _answer(served, node) is not None, "node2 serves again")


def test_unplugging_takes_the_carrier(served: Lab) -> None:
    node = served.node("node2")
    node.unplug()
    assert node.link == "unplugged"
    assert node.exec("cat", "/sys/class/net/eth0/carrier").stdout.strip() == "0"
    node.plug()
    assert node.link == "plugged"
    _eventually(lambda: _answer(served, node) is not None, "node2 serves again")


def test_a_frozen_node_is_silent_until_it_thaws(served: Lab) -> None:
    node = served.node("node2")
    container = _containers(node)
    node.freeze()
    assert node.is_frozen()
    assert not node.is_up()
    assert _answer(served, node) is None
    assert _command("up").returncode == 0, "up ends every fault"
    assert not node.is_frozen()
    node.freeze()
    node.thaw()
    assert node.is_up()
    assert _containers(node) == container
    _eventually(lambda: _answer(served, node) is not None, "node2 serves again")


@pytest.mark.parametrize("end", [Node.crash_dockerd, Node.restart_dockerd])
def test_dockerd_comes_back_by_itself(served: Lab, end: Callable[[Node], None]) -> None:
    node = served.node("node2")
    before = node.exec("cat", "/run/docker.pid").stdout
    identity, old = _swarm_id(node), _containers(node)
    end(node)
    assert node.exec("cat", "/run/docker.pid").stdout != before
    assert _swarm_id(node) == identity
    _eventually(lambda: _containers(node) not in ([], old), "a task in place of the old one", 60)
    served.wait_ready()


def test_up_mends_what_a_crashed_run_left(served: Lab) -> None:
    identities = [_swarm_id(node) for node in served.nodes]
    supervisors = [
        ProcessRecord.read(SETTINGS.pid_directory / f"{node.name}.json") for node in served.nodes
    ]
    for supervisor in supervisors:
        assert supervisor is not None
        assert supervisor.signal(signal.SIGKILL)
        assert supervisor.wait(10)
    # A run that died before it wrote the pid file, and one that died before it made the cable.
    (SETTINGS.pid_directory / "node1.json").unlink()
    subprocess.run(["ip", "-n", "qr78-0-lan", "link", "delete", "node2"], check=True)
    served.up()
    assert [_swarm_id(node) for node in served.nodes] == identities


def test_another_directory_cannot_take_over_the_subnet(served: Lab) -> None:
    other = Lab(LabSettings(DIRECTORY.with_name("queenright-lab-other"), 1, SETTINGS.subnet))
    try:
        for act in (other.up, other.reset, other.down, other.purge):
            with pytest.raises(LabError, match=f"belongs to the lab in {DIRECTORY}"):
                act()
    finally:
        shutil.rmtree(other.settings.directory, ignore_errors=True)
    assert all(node.is_up() for node in served.nodes)


def test_the_command_line_breaks_mends_and_shows(served: Lab) -> None:
    del served
    assert _command("fault", "node2", "partition").returncode == 0
    assert "partitioned" in _command("status").stdout
    assert _command("fault", "node2", "heal").returncode == 0
    assert _command("run", "node2", "--", "hostname").stdout == "node2\n"
    assert _command("run", "outside", "--", "hostname", "-I").stdout.split() == ["198.51.100.10"]
    unknown = _command("fault", "node9", "heal")
    assert unknown.returncode == 1
    assert unknown.stderr == "lab: node9: no such node; there are node1, node2\n"


def test_the_exports_lead_any_client_to_the_manager(served: Lab) -> None:
    del served
    exports = _command("env").stdout
    listed = subprocess.run(
        ["sh", "-c", f"{exports}\ndocker node ls --format '{{{{.Hostname}}}}'"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(listed.stdout.split()) == ["node1", "node2"]


def test_reset_makes_the_swarm_bare_and_keeps_the_layers(served: Lab) -> None:
    served.manager.docker("node", "update", "--label-add", "pg-node=1", "node2")
    before = [_swarm_id(node) for node in served.nodes]
    served.reset()
    assert served.manager.docker("service", "ls", "-q").stdout == ""
    assert served.manager.docker("network", "ls", "-qf", "name=lan").stdout == ""
    assert [row.labels for row in served.status()] == [{}, {}]
    assert not set(before) & {_swarm_id(node) for node in served.nodes}
    for node in served.nodes:
        assert node.docker("ps", "-aq").stdout == ""
        assert node.docker("volume", "ls", "-q").stdout == ""
        assert _image(served) in node.docker("image", "ls").stdout
        layers = node.directory / "data/overlay2"
        assert len([p for p in layers.iterdir() if p.name != "l"]) == 1, "no container's layer"


def test_a_frozen_node_can_lose_its_power(small: Lab) -> None:
    small.up()
    node = small.node("node2")
    node.freeze()
    node.power_cut()
    assert not node.is_frozen()
    node.start()
    small.wait_ready()


def test_a_stale_pid_file_never_kills_a_stranger(small: Lab) -> None:
    small.up()
    node = small.node("node2")
    node.power_cut()
    with subprocess.Popen(["sleep", "600"]) as stranger:
        true = ProcessRecord.of(stranger.pid)
        assert true is not None
        stale = ProcessRecord(true.pid, true.start_ticks - 1, true.boot_id)
        stale.write(SETTINGS.pid_directory / "node2.json")
        assert not node.is_powered()
        node.power_cut()
        ProcessRecord(true.pid, true.start_ticks, "another boot").write(
            SETTINGS.pid_directory / "node2.json"
        )
        node.power_cut()
        assert true.is_running()
        stranger.kill()


def test_up_replaces_a_node_whose_pid_file_is_lost(small: Lab) -> None:
    small.up()
    lost = ProcessRecord.read(SETTINGS.pid_directory / "node2.json")
    assert lost is not None
    (SETTINGS.pid_directory / "node2.json").unlink()
    small.up()
    assert not lost.is_running(), "two daemons would share one disk"


def test_down_leaves_nothing_behind_but_the_images(served: Lab) -> None:
    client = served.client("host").popen("sleep", "600")
    served.down()
    assert client.wait(timeout=5) == -signal.SIGKILL
    assert _remains() == []
    assert sorted(p.name for p in DIRECTORY.iterdir() if p.is_dir()) == ["registry"]
    served.up()
    served.manager.docker("pull", _image(served))
    served.purge()
    assert _remains() == []
    assert not DIRECTORY.exists()


def _remains() -> list[str]:
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


def _push_image(lab: Lab) -> None:
    """An image of one static program, pushed through the first node."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(shutil.which("busybox") or "busybox", "bin/busybox")
        for name, text in {"server": _SERVER, "www/cgi-bin/who": _WHO}.items():
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
    lab.manager.docker("import", "-c", command, "-c", "ENV PATH=/bin", str(path), _image(lab))
    lab.manager.docker("push", _image(lab))


def _image(lab: Lab) -> str:
    return f"{lab.registry}/who"


def _ask(address: str) -> list[str]:
    program = (
        "import sys, urllib.request;"
        "print(urllib.request.urlopen(sys.argv[1], timeout=2).read().decode(), end='')"
    )
    return [sys.executable, "-c", program, f"http://{address}:{PORT}/cgi-bin/who"]


def _answer(lab: Lab, node: Node, client: str = "host") -> tuple[str, str] | None:
    """Host name of the task that answers on a node and the source address that it saw."""
    result = lab.client(client).run(*_ask(node.address), check=False)
    if result.returncode != 0:
        return None
    name, _, source = result.stdout.partition(" ")
    return name, source


def _containers(node: Node) -> list[str]:
    return node.docker("ps", "-q", "--no-trunc").stdout.split()


def _history(node: Node) -> list[str]:
    volume = node.directory / "data/volumes/who/_data/history"
    return volume.read_text().split() if volume.exists() else []


def _swarm_id(node: Node) -> str:
    return str(node.engine.get("/info")["Swarm"]["NodeID"])


def _command(*argv: str) -> subprocess.CompletedProcess[str]:
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


def _eventually(condition: Callable[[], object], what: str, timeout_s: float = 30) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"waited {timeout_s:.0f} s for: {what}"
        time.sleep(0.1)
