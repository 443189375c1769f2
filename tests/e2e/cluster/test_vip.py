"""The virtual address on real nodes: it answers, goes with its node's proxy, has one holder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg
import pytest

from tests.e2e.address_watch import AddressWatch
from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    container_of,
    eventually,
    is_whole,
    quick_manifest,
    read_secret,
    service,
    vip_address,
    vip_fields,
)
from tests.lab.lab import Lab
from tests.lab.product_images import publish
from tests.support.vip_error_cases import with_vip
from tests.unit.core.kinds.postgres_cluster.desired.test_keepalived_conf import render

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]

ADVERT_S = 1.0
"""Of the default: two that held the address apart hear each other's next advert."""
SLACK_S = 1.0
"""A longer wait for a busy machine."""
CALM_S = 3.0
"""Three adverts: who would take the address from its holder has done so."""
AWAY_S = 20.0
"""While keepalived is made anew on all nodes: four seconds on an idle machine."""


def with_address(lab: Lab) -> str:
    return quick_manifest(lab, vip_fields(lab))


@dataclass(frozen=True)
class Vip:
    """A deployed cluster with a virtual address, watched from outside."""

    lab: Lab
    operator: RunningOperator
    watch: AddressWatch

    @property
    def holder(self) -> str:
        (only,) = self.watch.holders
        return only

    def settle(self) -> str:
        """One holder, and proxy and keepalived on each node; returns the holder."""

        def settled() -> bool:
            runs = [
                container_of(self.lab.node(node), name)
                for node in MEMBER_NODES
                for name in ("main_proxy", "main_vip")
            ]
            answers = self.watch.answers_since(time.monotonic() - 1)
            return all(runs) and len(self.watch.holders) == 1 and answers > 5

        eventually(settled, "one holder, and a proxy on each node", 120)
        time.sleep(CALM_S)
        eventually(settled, "one holder that stays", 60)
        return self.holder

    def moves_from(self, old: str, since: float, unheard: bool = False) -> str:
        """Waits for another holder that answers; ``unheard`` is whether the old one keeps it,
        where nobody hears it."""
        spared = frozenset({old} if unheard else ())

        def moved() -> frozenset[str]:
            found = self.watch.holders - {old}
            answers = self.watch.answers_since(time.monotonic() - 0.5) > 4
            gone = unheard or old not in self.watch.holders
            return found if found and answers and gone else frozenset()

        (new,) = eventually(moved, "another holder that answers", 30)
        assert self.watch.together_s(since, spared) <= ADVERT_S + SLACK_S
        return str(new)

    def container(self, name: str) -> str:
        return container_of(self.lab.node(self.holder), name)


@pytest.fixture(scope="module")
def vip(
    lab: Lab, images: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Vip]:
    publish(lab.registry, ["vip"], lab.settings)
    lab.reset()
    operator = RunningOperator(lab, tmp_path_factory.mktemp("operator"), resync_s=QUICK_RESYNC_S)
    operator.write(with_address(lab))
    with operator, AddressWatch(lab, vip_address(lab), MEMBER_NODES) as watch:
        operator.wait_converged()
        eventually(lambda: is_whole(lab), "one leader and two streaming replicas")
        yield Vip(lab, operator, watch)


def asked(lab: Lab, port: int) -> bool:
    """Return True if the server at the address is a replica."""
    with psycopg.connect(
        host=vip_address(lab),
        port=port,
        user="postgres",
        password=read_secret(lab, "pg_superuser_pw"),
        dbname="postgres",
        connect_timeout=5,
    ) as connection:
        row = connection.execute("select pg_is_in_recovery()").fetchone()
        assert row is not None
        return bool(row[0])


def test_the_address_leads_to_the_leader_and_to_replicas(vip: Vip) -> None:
    """The client is the lab's host, which is no node."""
    vip.settle()
    eventually(lambda: container_of(vip.lab.node("node2"), "main_proxy"), "a proxy")
    assert asked(vip.lab, 5000) is False
    assert asked(vip.lab, 5001) is True


def told_holder(vip: Vip) -> str | None:
    """Return the node that has the address, as ``queenright status`` says."""
    shown = vip.operator.command("status", "--json")
    found: str | None = json.loads(shown.stdout)["clusters"][0]["virtual_ip"]["node"]
    return found


def test_the_status_names_the_node_that_has_the_address(vip: Vip) -> None:
    vip.settle()
    eventually(lambda: told_holder(vip) == vip.holder, "the node that has the address", 30)


def test_the_password_is_nowhere_but_in_its_secret(vip: Vip) -> None:
    node = vip.lab.node(vip.settle())
    keepalived = container_of(node, "main_vip")
    password = node.docker("exec", keepalived, "cat", "/run/secrets/vrrp_pw").stdout
    assert len(password) > 40
    assert service(vip.lab, "main_vip")["Spec"]["Name"] == "main_vip"
    told = [
        vip.lab.manager.docker("service", "inspect", "main_vip").stdout,
        node.docker("inspect", keepalived).stdout,
        node.docker("top", keepalived).stdout,
        node.docker("logs", keepalived).stdout + node.docker("logs", keepalived).stderr,
        *vip.operator.lines,
    ]
    configs = vip.lab.manager.docker("config", "ls", "-q").stdout.split()
    told += [vip.lab.manager.docker("config", "inspect", name).stdout for name in configs]
    assert not [text for text in told if password[:8] in text]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"peers": "multicast", "prefixLength": "24"},
        {"authentication": "none", "advertInterval": "10ms", "preempt": "true"},
        {"downTimerAdverts": "1", "check": "{interval: 3s, timeout: 2500ms, fall: 10, rise: 100}"},
    ],
)
def test_keepalived_takes_whatever_fields_there_are(vip: Vip, fields: dict[str, str]) -> None:
    node = vip.lab.node("node3")
    keepalived = container_of(node, "main_vip")
    text = render(with_vip(**fields))
    node.docker("exec", "-i", keepalived, "tee", "/tmp/k.conf", text=text)
    checked = node.docker(
        "exec", keepalived, "keepalived", "--config-test", "--log-console", "--use-file",
        "/tmp/k.conf", "--config-id", "node3", check=False,
    )  # fmt: skip
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


@pytest.mark.parametrize("how", ["kill", "stop", "pause"])
def test_a_node_whose_proxy_does_not_answer_gives_the_address_up(vip: Vip, how: str) -> None:
    """It does not take the address back when its proxy is there again; a proxy that is stopped
    leads new clients to the database until the address has left."""
    old = vip.settle()
    proxy = vip.container("main_proxy")
    with AddressWatch(vip.lab, vip_address(vip.lab), MEMBER_NODES, port=5000) as clients:
        eventually(lambda: clients.answers_since(0) > 4, "answers of the database", 30)
        began = time.monotonic()
        vip.lab.node(old).docker(how, proxy)
        new = vip.moves_from(old, began)
        time.sleep(1)
    gap_s = clients.gap_s(began)
    print(f"{how}: new clients had to wait {gap_s:.2f} s")
    assert how != "stop" or gap_s < ADVERT_S
    if how == "pause":
        vip.lab.node(old).docker("unpause", proxy)
    assert vip.settle() == new


def test_without_a_leader_the_address_stays_where_it_is(vip: Vip) -> None:
    """All proxies are equal then."""
    holder, began = vip.settle(), time.monotonic()
    members = [
        (vip.lab.node(node), container_of(vip.lab.node(node), f"main_member-{number}"))
        for number, node in enumerate(MEMBER_NODES, start=1)
    ]
    for node, container in members:
        node.docker("pause", container)
    try:
        time.sleep(15)
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(
                host=vip_address(vip.lab), port=5000, user="postgres", connect_timeout=2
            )
    finally:
        for node, container in members:
            node.docker("unpause", container)
    held = {node for at, nodes in vip.watch.looks if at >= began for node in nodes}
    assert held == {holder}
    assert vip.watch.gap_s(began) < ADVERT_S
    eventually(lambda: is_whole(vip.lab), "a whole cluster", 120)


def power_cut(lab: Lab, holder: str) -> Callable[[], None]:
    lab.node(holder).power_cut()

    def start() -> None:
        lab.wait_for(**{holder: "down"}, timeout_s=60)
        lab.node(holder).start()

    return start


def partition(lab: Lab, holder: str) -> Callable[[], None]:
    lab.node(holder).partition()
    return lambda: lab.node(holder).heal()


@pytest.mark.parametrize("event", [power_cut, partition])
def test_a_node_that_nobody_hears_is_replaced_and_gives_way_when_it_is_back(
    vip: Vip, event: Callable[[Lab, str], Callable[[], None]]
) -> None:
    old, began = vip.settle(), time.monotonic()
    mend = event(vip.lab, old)
    vip.moves_from(old, began, unheard=True)
    healed = time.monotonic()
    mend()
    vip.settle()
    assert vip.watch.together_s(healed) <= ADVERT_S + SLACK_S
    eventually(lambda: is_whole(vip.lab), "a whole cluster", 180)


def test_an_interface_that_no_node_has_is_told_with_its_name(vip: Vip) -> None:
    vip.settle()

    def is_in_the_log() -> bool:
        """Docker gives no log at all when a task of the list has gone meanwhile."""
        said = vip.lab.manager.docker("service", "logs", "main_vip", check=False)
        return (
            "FATAL: node node2 has no network interface eth9; it has " in said.stdout + said.stderr
        )

    vip.operator.write(with_address(vip.lab).replace("interface: eth0", "interface: eth9"))
    try:
        eventually(is_in_the_log, "the container's own words", 90)
        vip.operator.wait_for(
            lambda: "eth9" in vip.operator.holds().get("vip/main/node2", ""),
            "the hold that names it",
        )
        eventually(lambda: not vip.watch.holders, "nobody has the address")
    finally:
        vip.operator.carry_out(with_address(vip.lab), timeout_s=180)
    vip.settle()


def test_what_all_nodes_must_agree_on_is_changed_for_all_at_once(vip: Vip) -> None:
    vip.settle()
    began = time.monotonic()
    vip.operator.carry_out(with_address(vip.lab).replace("routerId: 51", "routerId: 52"))
    vip.settle()
    assert vip.watch.gap_s(began) < AWAY_S
    assert vip.watch.together_s(began) <= ADVERT_S + SLACK_S


def test_taken_out_of_the_file_it_goes_and_its_secret_stays(vip: Vip) -> None:
    vip.settle()
    vip.operator.carry_out(quick_manifest(vip.lab), timeout_s=180)
    eventually(lambda: not vip.watch.holders, "nobody has the address")
    assert service(vip.lab, "main_vip") == {}
    assert "main_vrrp_pw" in vip.lab.manager.docker("secret", "ls").stdout
    assert "main_keepalived" not in vip.lab.manager.docker("config", "ls").stdout
