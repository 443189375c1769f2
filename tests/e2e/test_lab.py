"""The lab itself: what each fault does to a real swarm, and what the lab leaves behind.

A small instance of its own (two nodes, another subnet, another directory), so that a lab that a
person has running is never touched.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.e2e.small_lab import (
    DIRECTORY,
    PORT,
    SETTINGS,
    answer,
    ask,
    container_ids,
    ensure_service,
    eventually,
    history,
    image_name,
    remains,
    run_command,
    swarm_id,
)
from tests.lab import packages
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.processes import ProcessRecord
from tests.lab.settings import LabError, LabSettings

pytestmark = pytest.mark.lab


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
    ensure_service(small)
    for node in small.nodes:
        eventually(partial(answer, small, node), f"{node.name} serves", 60)
    return small


def test_up_again_leaves_everything_as_it_is(served: Lab) -> None:
    records = {path.name: path.read_text() for path in SETTINGS.pid_directory.iterdir()}
    containers = [container_ids(node) for node in served.nodes]
    served.up()
    assert {path.name: path.read_text() for path in SETTINGS.pid_directory.iterdir()} == records
    assert [container_ids(node) for node in served.nodes] == containers


def test_clients_come_from_where_they_say(served: Lab) -> None:
    for node in served.nodes:
        assert answer(served, node, "host") == (node.name, "10.78.0.200")
        assert answer(served, node, "outside") == (node.name, "198.51.100.10")
    from_here = subprocess.run(
        ask(served.node("node2").address), capture_output=True, text=True, check=True
    )
    assert from_here.stdout == "node2 10.78.0.1"


def test_tasks_reach_each_other_over_the_overlay(served: Lab) -> None:
    ours, theirs = (container_ids(node)[0] for node in served.nodes)
    form = '{{(index .NetworkSettings.Networks "lan").IPAddress}}'
    address = served.node("node2").docker("inspect", "-f", form, theirs).stdout.strip()
    request = f"printf 'GET /cgi-bin/who HTTP/1.0\\r\\n\\r\\n' | busybox nc -w 5 {address} {PORT}"
    assert "node2 10." in served.manager.docker("exec", ours, "sh", "-c", request).stdout


def test_power_cut_loses_the_node_but_not_its_disk(served: Lab) -> None:
    node = served.node("node2")
    identity = swarm_id(node)
    before = history(node)
    node.power_cut()
    assert not node.is_powered()
    assert node.link == "none"
    served.wait_for(node2="down", timeout_s=30)
    served.mend()
    served.wait_ready()
    assert swarm_id(node) == identity
    eventually(lambda: history(node) == [*before, "started"], "a new task, and no goodbye")


def test_halt_lets_containers_say_goodbye(served: Lab) -> None:
    node = served.node("node2")
    before = history(node)
    node.halt()
    assert not node.is_powered()
    node.start()
    served.wait_ready()
    eventually(lambda: history(node) == [*before, "stopped", "started"], "an orderly stop")


def test_partition_is_silent_and_heals(served: Lab) -> None:
    node = served.node("node2")
    identity = swarm_id(node)
    node.partition()
    assert node.link == "partitioned"
    assert node.exec("cat", "/sys/class/net/eth0/carrier").stdout.strip() == "1"
    assert answer(served, node) is None
    assert node.is_up(), "the node itself goes on"
    served.wait_for(node2="down", timeout_s=30)
    node.heal()
    served.wait_ready()
    assert swarm_id(node) == identity
    eventually(lambda: answer(served, node) is not None, "node2 serves again")


def test_unplugging_takes_the_carrier(served: Lab) -> None:
    node = served.node("node2")
    node.unplug()
    assert node.link == "unplugged"
    assert node.exec("cat", "/sys/class/net/eth0/carrier").stdout.strip() == "0"
    node.plug()
    assert node.link == "plugged"
    eventually(lambda: answer(served, node) is not None, "node2 serves again")


def test_a_frozen_node_is_silent_until_it_thaws(served: Lab) -> None:
    node = served.node("node2")
    container = container_ids(node)
    # A moment, shorter than the six seconds after which Swarm starts its tasks anew.
    node.freeze()
    assert node.is_frozen()
    node.thaw()
    assert node.is_up()
    assert container_ids(node) == container, "the same processes go on"
    node.freeze()
    assert not node.is_up()
    assert answer(served, node) is None
    assert run_command("up").returncode == 0, "up ends every fault"
    assert not node.is_frozen()
    eventually(lambda: answer(served, node) is not None, "node2 serves again")


@pytest.mark.parametrize("end", [Node.crash_dockerd, Node.restart_dockerd])
def test_dockerd_comes_back_by_itself(served: Lab, end: Callable[[Node], None]) -> None:
    node = served.node("node2")
    before = node.exec("cat", "/run/docker.pid").stdout
    identity, old = swarm_id(node), container_ids(node)
    end(node)
    assert node.exec("cat", "/run/docker.pid").stdout != before
    assert swarm_id(node) == identity
    eventually(lambda: container_ids(node) not in ([], old), "a task in place of the old one", 60)
    served.wait_ready()


def test_up_mends_what_a_crashed_run_left(served: Lab) -> None:
    identities = [swarm_id(node) for node in served.nodes]
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
    assert [swarm_id(node) for node in served.nodes] == identities


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
    assert run_command("fault", "node2", "partition").returncode == 0
    assert "partitioned" in run_command("status").stdout
    assert run_command("fault", "node2", "heal").returncode == 0
    assert run_command("run", "node2", "--", "hostname").stdout == "node2\n"
    assert run_command("run", "outside", "--", "hostname", "-I").stdout.split() == ["198.51.100.10"]
    unknown = run_command("fault", "node9", "heal")
    assert unknown.returncode == 1
    assert unknown.stderr == "lab: node9: no such node; there are node1, node2\n"


def test_the_exports_lead_any_client_to_the_manager(served: Lab) -> None:
    del served
    exports = run_command("env").stdout
    listed = subprocess.run(
        ["sh", "-c", f"{exports}\ndocker node ls --format '{{{{.Hostname}}}}'"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(listed.stdout.split()) == ["node1", "node2"]


def test_reset_makes_the_swarm_bare_and_keeps_the_layers(served: Lab) -> None:
    served.manager.docker("node", "update", "--label-add", "pg-node=1", "node2")
    before = [swarm_id(node) for node in served.nodes]
    served.reset()
    assert served.manager.docker("service", "ls", "-q").stdout == ""
    assert served.manager.docker("network", "ls", "-qf", "name=lan").stdout == ""
    assert [row.labels for row in served.status()] == [{}, {}]
    assert not set(before) & {swarm_id(node) for node in served.nodes}
    for node in served.nodes:
        assert node.docker("ps", "-aq").stdout == ""
        assert node.docker("volume", "ls", "-q").stdout == ""
        assert image_name(served) in node.docker("image", "ls").stdout
        layers = node.directory / "data/overlay2"
        assert len([p for p in layers.iterdir() if p.name != "l"]) == 1, "no container's layer"


def test_down_keeps_what_the_nodes_have_pulled_if_asked(served: Lab) -> None:
    served.down(keep_images=True)
    assert remains() == []
    served.up()
    for node in served.nodes:
        assert node.docker("ps", "-aq").stdout == ""
        assert node.docker("volume", "ls", "-q").stdout == ""
        assert image_name(served) in node.docker("image", "ls").stdout


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
    assert remains() == []
    assert sorted(p.name for p in DIRECTORY.iterdir() if p.is_dir()) == ["registry"]
    served.up()
    served.manager.docker("pull", image_name(served))
    served.purge()
    assert remains() == []
    assert not DIRECTORY.exists()
