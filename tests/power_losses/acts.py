"""Acts of a round on the lab: what goes on at the cut, the cut, and what is done without power."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from tests.e2e.membership import leading
from tests.e2e.swarm_facts import container_of, eventually
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.settings import LabError
from tests.power_losses.script import Round
from tests.soak.database import Database

MEMBERS = {"member-1": "node2", "member-2": "node3", "member-3": "node4"}
DAMAGE = {
    "cut": 'for f in "$1"/volumes/*-raft/_data/*.journal; do end=$(od -An -tu4 -j36 -N4 "$f"); '
    'truncate -s $(((end + 40) / 2)) "$f"; done',
    "empty": 'for f in "$1"/volumes/*-raft/_data/*.journal; do : >"$f"; done',
    "gone": 'for d in "$1"/volumes/*-raft/_data; do find "$d" -mindepth 1 -delete; done',
}
"""Shell commands on a node's disk, each of which fails where there is nothing to damage. A journal
is cut in the middle of what is used of it: its entries are from byte 40 to where byte 36 says."""
BY_HAND = (
    'for f in "$1"/volumes/*-raft/_data/*.journal "$1"/volumes/*-raft/_data/*.dump; do '
    '[ ! -e "$f" ] || mv "$f" "$f.by-hand"; done'
)
EMPTY = 'for d in "$1"/volumes/*/_data; do find "$d" -mindepth 1 -delete; done'
BURST = "CREATE TABLE IF NOT EXISTS burst (id bigint, filler text)"
FILL = "INSERT INTO burst SELECT g, repeat('x', 200) FROM generate_series(1, 20000) g"
STALE_S = 15.0
ALONE_S = 5.0
"""Time in which a new leader alone has what it acknowledges: Patroni's history has its timeline by
then, and each Raft journal is on its disk."""


@dataclass(frozen=True)
class Scene:
    """The lab, and the members by their role in this round."""

    lab: Lab
    database: Database
    roles: Mapping[str, str]

    def node(self, role: str) -> Node:
        return self.lab.node(MEMBERS[self.roles[role]])

    def patronictl(self, role: str, *words: str) -> None:
        found = container_of(self.node(role), f"main_{self.roles[role]}")
        argv = ["exec", found, "patronictl", "-c", "/tmp/patroni.yml", *words]
        self.node(role).docker(*argv, check=False, timeout_s=60)


def roles(lab: Lab, swap: bool) -> dict[str, str]:
    """Return the members by role; the replicas in their order, or the other way round."""
    leader = str(eventually(lambda: leading(lab, MEMBERS), "a leader", 60))
    first, second = sorted(MEMBERS.keys() - {leader}, reverse=swap)
    return {"leader": leader, "first": first, "second": second}


@contextmanager
def going_on(scene: Scene, what: str) -> Iterator[dict[str, str]]:
    """Begin what goes on at the cut; yield the roles as they are then. Ends it after the cut."""
    after = dict(scene.roles)
    threads: list[threading.Thread] = []
    ended = threading.Event()

    def start(act: threading.Thread) -> None:
        threads.append(act)
        act.start()

    match what:
        case "burst":
            start(threading.Thread(target=burst, args=(scene.database, ended), daemon=True))
            time.sleep(2)
        case "switchover":
            words = ("switchover", "main", "--force", "--candidate", scene.roles["first"])
            start(threading.Thread(target=scene.patronictl, args=("leader", *words), daemon=True))
            time.sleep(1.5)
        case "copy":
            words = ("reinit", "main", scene.roles["first"], "--force")
            start(threading.Thread(target=scene.patronictl, args=("leader", *words), daemon=True))
            time.sleep(2)
        case "stale":
            scene.node("first").power_cut()
            time.sleep(STALE_S)
        case "alone":
            after = new_leader(scene, alone=True)
        case "partition":
            after = new_leader(scene, alone=False)
    try:
        yield after
    finally:
        ended.set()
        for act in threads:
            act.join(1)  # what it waits for may be a node that is off


def burst(database: Database, ended: threading.Event) -> None:
    """Write a few megabytes at a time until the end, or until the connection breaks."""
    for node in database.nodes:
        try:
            with database.connect(node) as connection:
                connection.autocommit = True
                connection.execute(BURST)
                while not ended.is_set():
                    connection.execute("TRUNCATE burst")
                    connection.execute(FILL)
        except psycopg.Error:
            if ended.is_set():
                return


def new_leader(scene: Scene, *, alone: bool) -> dict[str, str]:
    """Let another member be elected, the former leader without power, or (not ``alone``) cut off;
    ``alone``, the other replica does not hear the new leader's WAL. Return the roles after it, the
    former leader as the first replica."""
    if alone:
        for one, other in (("first", "second"), ("second", "first")):
            rule = ["-d", scene.node(other).address, "-p", "tcp", "--dport", "5432", "-j", "DROP"]
            scene.node(one).exec("iptables", "-I", "DOCKER-USER", *rule)
        scene.node("leader").power_cut()
    else:
        scene.node("leader").partition()
    left = {name: MEMBERS[name] for name in MEMBERS if name != scene.roles["leader"]}
    leader = str(eventually(lambda: leading(scene.lab, left), "another leader", 120))
    if alone:  # its control file then has its timeline, by which Patroni judges it when it is back
        checkpoint(scene, leader)
    time.sleep(ALONE_S)
    second = next(name for name in left if name != leader)
    return {"leader": leader, "first": scene.roles["leader"], "second": second}


def checkpoint(scene: Scene, member: str) -> None:
    login = {"user": "postgres", "dbname": "postgres", "password": scene.database.password}
    host = scene.lab.node(MEMBERS[member]).address
    with psycopg.connect(host=host, port=5432, connect_timeout=5, **login) as connection:
        connection.autocommit = True
        connection.execute("CHECKPOINT")


def cut(scene: Scene, plan: Round) -> None:
    """Cut the power of all members' nodes, each at its moment; and the manager's with the last."""
    began = time.monotonic()

    def one(role: str, after_s: float) -> None:
        time.sleep(max(0.0, began + after_s - time.monotonic()))
        scene.node(role).power_cut()

    with ThreadPoolExecutor(len(plan.cut_after) + 1) as pool:
        cuts = [pool.submit(one, role, at) for role, at in plan.cut_after]
        if plan.with_manager:
            cuts.append(pool.submit(scene.lab.manager.power_cut))
        for done in cuts:
            done.result()


def damage(scene: Scene, plan: Round) -> None:
    """Damage Raft's files of the round's members; LabError where there are none."""
    for role in plan.damaged:
        on_disk(scene.node(role), DAMAGE[plan.variant.damage])


def empty(scene: Scene, role: str) -> None:
    """Take the data of a member that is off: its node came back with a new disk for it."""
    on_disk(scene.node(role), EMPTY)


def set_aside(scene: Scene, plan: Round) -> None:
    """Rename the damaged journals, as the guide tells a person to (docs/guide.md, "Trouble")."""
    for role in plan.damaged:
        node = scene.node(role)
        node.exec("sh", "-euc", BY_HAND, "sh", str(node.directory / "data"))


def on_disk(node: Node, script: str) -> None:
    node.on_disk("sh", "-euc", script, "sh", str(node.directory / "data"))


def start(scene: Scene, plan: Round) -> None:
    """Switch the nodes on that come back by themselves, each at its moment, the manager first."""
    if plan.with_manager:
        scene.lab.manager.start(wait=False)
    began = time.monotonic()
    for role, at in plan.returning:
        time.sleep(max(0.0, began + at - time.monotonic()))
        switch_on(scene.node(role))


def switch_on(node: Node) -> None:
    node.start(wait=False)


def wait_up(nodes: Iterable[Node]) -> None:
    for node in nodes:
        if node.is_powered():
            node.wait_until_up()


def sync(nodes: Sequence[Node]) -> None:
    """Write what the nodes have to their disks: pulled images, which are older than a power cut."""
    for node in nodes:
        if node.exec("sync", "-f", str(node.directory / "data"), check=False).returncode:
            raise LabError(f"{node.name}: its disk could not be synced")
