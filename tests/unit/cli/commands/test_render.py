"""``render``: the files of members, proxies and the virtual address, with and without a swarm."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.support.app_builders import APP
from tests.support.builders import MANIFEST, VIP
from tests.support.command_line import ADDRESSED, start


def test_render_needs_no_swarm_when_the_file_has_addresses(tmp_path: Path, manifest: Path) -> None:
    found = start(tmp_path, "render", "--services")
    assert found.returncode == 0, found.stderr
    configs, *services = found.stdout.split("# --- service ")
    assert "# --- config main_patroni-" in configs
    assert "server member-1 10.77.0.12:5432" in configs
    names = [text.partition("\n")[0] for text in services]
    assert names == ["main_member-1", "main_member-2", "main_member-3", "main_proxy"]
    member = yaml.safe_load(services[0].partition("\n")[2])
    assert member["endpoint_mode"] == "dnsrr"
    assert {"published": 5432, "target": 5432, "protocol": "tcp", "mode": "host"} in member["ports"]
    assert {file["mode"] for file in member["secrets"]} == {"0400"}


WITH_VIP = ADDRESSED + f"  vip: {VIP}\n"


def test_render_tells_an_applications_way_in_without_a_swarm(
    tmp_path: Path, manifest: Path
) -> None:
    """The proxies run where the members do, whose addresses the file has; elsewhere it says so."""
    manifest.write_text(f"{ADDRESSED}---\n{APP}")
    found = start(tmp_path, "render")
    assert found.returncode == 0, found.stderr
    assert "@10.77.0.12:5000,10.77.0.13:5000,10.77.0.14:5000/notes?" in found.stdout
    manifest.write_text(f"{ADDRESSED}    nodes: [node1, node2]\n---\n{APP}")
    found = start(tmp_path, "render")
    assert "# unknown: the swarm has the proxies' addresses" in found.stdout


def test_render_vip_writes_keepalived_conf_for_one_node(tmp_path: Path, manifest: Path) -> None:
    manifest.write_text(WITH_VIP)
    for words in ((), (str(manifest),)):
        found = start(tmp_path, "render", "vip", "--node", "node3", *words)
        assert found.returncode == 0, found.stderr
        assert "    unicast_src_ip 10.77.0.13\n" in found.stdout
        assert "        10.77.0.100/32 dev eth0\n" in found.stdout
        assert "@" not in found.stdout


def test_render_vip_without_a_node_writes_all_of_them(tmp_path: Path, manifest: Path) -> None:
    manifest.write_text(WITH_VIP)
    found = start(tmp_path, "render", "vip")
    headings = [line for line in found.stdout.splitlines() if line.startswith("# --- ")]
    assert headings == ["# --- node node2", "# --- node node3", "# --- node node4"]
    assert "# --- config main_keepalived-" in start(tmp_path, "render").stdout


def test_render_vip_says_what_is_amiss(tmp_path: Path, manifest: Path) -> None:
    without = start(tmp_path, "render", "vip")
    assert (without.returncode, without.stdout) == (65, "")
    assert "no cluster in the files has a spec.vip" in without.stderr
    manifest.write_text(WITH_VIP)
    stranger = start(tmp_path, "render", "vip", "--node", "node9")
    assert stranger.returncode == 64
    assert "no proxy runs on node9; their nodes are node2, node3, node4" in stranger.stderr
    assert start(tmp_path, "render", "--node", "node2").returncode == 64
    assert start(tmp_path, "render", "vip", "a.yaml", "b.yaml").returncode == 64
    further = WITH_VIP.replace(
        "proxy:3.0-alpine\n", "proxy:3.0-alpine\n    nodes: [node1, node2]\n"
    )
    manifest.write_text(further)
    assert start(tmp_path, "render", "vip").returncode == 69  # node1's address only swarm knows


def test_render_asks_the_swarm_for_addresses(tmp_path: Path, manifest: Path) -> None:
    manifest.write_text(MANIFEST)
    assert start(tmp_path, "render").returncode == 69
