"""A lab whose nodes have disks of their own: a power cut takes what was not synced."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.settings import LabError, LabSettings

pytestmark = pytest.mark.lab
DIRECTORY = Path("/var/lib/queenright-lab-own-disks")
SUBNET = ipaddress.IPv4Network("10.86.0.0/24")
SETTINGS = LabSettings(DIRECTORY, nodes=2, subnet=SUBNET, disk_gib=1)
KEPT = "volumes/kept/_data"


@pytest.fixture(scope="module")
def disks() -> Iterator[Lab]:
    """An instance of two nodes that only this module uses; nothing of it stays."""
    if os.geteuid() != 0:
        pytest.skip("the lab needs root")
    lab = Lab(SETTINGS)
    lab.purge()
    lab.up()
    yield lab
    lab.purge()


@pytest.fixture(autouse=True)
def _on(disks: Lab) -> None:
    """Start the nodes that a test before, or the first try of this one, has left off."""
    for node in disks.nodes:
        if not node.is_powered():
            node.start()


def shell(node: Node, script: str) -> str:
    return node.exec("sh", "-euc", f"cd {node.directory}/data/{KEPT}; {script}").stdout.strip()


def write(node: Node) -> None:
    """Write a file that is synced, then more to it and another one that are not."""
    node.docker("volume", "create", "kept")
    shell(node, "echo before >synced; sync synced; sync -f .")
    shell(node, "echo behind >>synced; echo all >unsynced")


def test_a_power_cut_takes_what_was_not_synced(disks: Lab) -> None:
    node = disks.node("node2")
    write(node)
    assert shell(node, "cat synced unsynced") == "before\nbehind\nall"
    node.power_cut()
    found = node.on_disk("cat", f"{node.directory}/data/{KEPT}/synced").stdout
    # On a busy machine the file's new size may be on the disk before its bytes: then these are 0.
    assert found.rstrip("\0") == "before\n"
    node.start()
    assert shell(node, "cat *synced | tr -d '\\000'") == "before"
    disks.wait_ready()


def test_an_orderly_halt_keeps_everything(disks: Lab) -> None:
    node = disks.node("node2")
    write(node)
    node.halt()
    node.start()
    assert shell(node, "cat unsynced") == "all"
    disks.wait_ready()


def test_the_manager_keeps_its_swarm(disks: Lab) -> None:
    known = disks.manager.docker("node", "ls", "-q").stdout
    for node in disks.nodes:
        node.power_cut()
    disks.up()
    assert disks.manager.docker("node", "ls", "-q").stdout == known


def test_the_disk_of_a_node_that_is_on_is_left_alone(disks: Lab) -> None:
    with pytest.raises(LabError, match="node2: it is on"):
        disks.node("node2").on_disk("true")


def test_a_reset_makes_the_disks_anew_and_nothing_is_left(disks: Lab) -> None:
    node = disks.node("node2")
    node.docker("volume", "create", "kept")
    disks.reset()
    assert node.docker("volume", "ls", "-q").stdout == ""
    disks.down()
    assert not (DIRECTORY / "nodes").exists()
    used = [path.read_text() for path in Path("/sys/block").glob("loop*/loop/backing_file")]
    assert not [text for text in used if str(DIRECTORY) in text]
