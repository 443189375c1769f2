"""One run: a cluster on a bare lab under writes, and one total power loss after the other.

A writer goes through the proxies' port 5000, and on each node a watcher writes at its member, so
that a second leader would be seen. After a round that did not end whole the lab is made bare.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg

from tests.e2e.membership import is_whole, leading
from tests.e2e.running_operator import QUICK_RESYNC_S, ROOT, RunningOperator
from tests.e2e.swarm_facts import (
    cluster_table,
    container_of,
    eventually,
    quick_manifest,
    read_secret,
)
from tests.lab.lab import Lab
from tests.power_losses import acts
from tests.power_losses.acts import MEMBERS, Scene
from tests.power_losses.judge import (
    Figures,
    Row,
    line,
    newly_lost,
    other_rows,
    why_no_amount,
)
from tests.power_losses.script import Round
from tests.soak.clients import Client
from tests.soak.database import Database
from tests.soak.judge import Acknowledged, beside

WHOLE_S = 300.0
"""Time to become whole, on a machine that does other things besides."""
HOLDS_S = 240.0
AWAY_S = 45.0
"""Time for which a member that comes later is missed, after the others have a leader."""
CALM_S = 3.0
BY_ITSELF_S = 240.0
"""Time to get a leader with damaged Raft files, before the files are set aside by hand."""
HURRIED = ROOT / "tests/e2e/cluster/hurried_operator.py"


@dataclass
class Run:
    """The lab, the operator, the clients, and the rows that earlier rounds have lost."""

    lab: Lab
    operator: RunningOperator
    database: Database = field(init=False)
    clients: list[Client] = field(default_factory=list)
    gone: frozenset[Row] = frozenset()

    @property
    def writer(self) -> Client:
        return self.clients[0]

    def write(self, extra: str = "") -> None:
        self.operator.write(quick_manifest(self.lab, extra))

    def told(self) -> list[Acknowledged]:
        return [row for client in self.clients for row in list(client.told)]

    def has_leader(self, since: float) -> bool:
        return any(row.at > since for row in self.writer.told[-1:])

    def rows_of(self, member: str) -> frozenset[Row]:
        """The rows that a member itself has; psycopg.Error where it does not answer."""
        where = {"host": self.lab.node(MEMBERS[member]).address, "port": 5432}
        login = {"user": "postgres", "dbname": "postgres", "password": self.database.password}
        with psycopg.connect(**where, **login, connect_timeout=5) as connection:
            return frozenset(connection.execute("SELECT client, id FROM soak").fetchall())


@contextmanager
def begun(lab: Lab, directory: Path) -> Iterator[Run]:
    """A whole cluster on a bare lab with clients; what its nodes pulled is on their disks."""
    lab.reset()
    operator = RunningOperator(
        lab, directory, [sys.executable, str(HURRIED)], resync_s=QUICK_RESYNC_S
    )
    run = Run(lab, operator)
    run.write()
    with operator:
        operator.wait_converged(480)
        eventually(lambda: is_whole(lab, MEMBERS), "a whole cluster", 120)
        acts.sync(lab.nodes)
        run.database = Database(lab, MEMBERS.values(), read_secret(lab, "pg_superuser_pw"))
        eventually(run.database.makes_table, "a proxy to lead to the leader", 60)
        hosts = ",".join(lab.node(node).address for node in MEMBERS.values())
        login = {"password": run.database.password}
        run.clients.append(Client("writer:5000", {"host": hosts, "port": 5000, **login}))
        for node in (lab.node(name) for name in MEMBERS.values()):
            where = {"host": node.address, "port": 5432, **login}
            netns = Path("/run/netns") / lab.settings.netns(node.name)
            run.clients.append(Client(f"{node.name}:5432", where, netns))
        for client in run.clients:
            client.start()
        eventually(lambda: run.writer.told, "a row through port 5000", 60)
        try:
            yield run
        finally:
            for client in run.clients:
                client.end()


def suffer(run: Run, plan: Round) -> Figures:
    """One round from the writes before it to the whole cluster after it, and its figures."""
    time.sleep(plan.calm_s)
    before = len(run.told())
    found = Figures(plan, 0.0, 0.0, 0, 0, 0)
    try:
        names = acts.roles(run.lab, swap=random.Random(plan.number).random() < 0.5)
        scene = Scene(run.lab, run.database, names)
        with acts.going_on(scene, plan.variant.during) as then:
            scene = replace(scene, roles=then)
            found = replace(found, led=(then["leader"], ""))
            acts.cut(scene, plan)
        acts.damage(scene, plan)
        time.sleep(plan.off_s)
        found = come_back(run, scene, found)
    except AssertionError as error:
        found = replace(found, wrong=f"{str(error).splitlines()[0]}; {run.operator.holds()}")
    if plan.variant.waits:
        run.write()
    time.sleep(CALM_S)
    return judged(run, found, before)


def come_back(run: Run, scene: Scene, found: Figures) -> Figures:
    """Switch the nodes on, and wait for a leader and then for a whole cluster; return the figures
    with these times. AssertionError where one of them does not come."""
    plan = found.round
    acts.start(scene, plan)
    since = time.monotonic()
    acts.wait_up(run.lab.nodes)
    if plan.variant.waits:
        found = replace(found, held=accepted(run, scene))
        since = time.monotonic()
    found = replace(found, held=found.held or by_hand(run, scene, plan, since))
    eventually(lambda: run.has_leader(since), "a leader that acknowledges rows", WHOLE_S)
    found = replace(found, leads_s=time.monotonic() - since)
    if away := plan.variant.away:
        time.sleep(CALM_S if plan.variant.waits else AWAY_S)
        if plan.variant.emptied:
            acts.empty(scene, away)
        since = time.monotonic()
        acts.switch_on(scene.node(away))
    eventually(lambda: is_whole_again(run, since), "a whole cluster", WHOLE_S)
    return replace(found, whole_s=time.monotonic() - since)


def by_hand(run: Run, scene: Scene, plan: Round, since: float) -> str:
    """Set damaged journals aside as a person would, where nobody leads otherwise; return that."""
    if not plan.damaged:
        return ""
    try:
        eventually(lambda: run.has_leader(since), "a leader", BY_ITSELF_S)
    except AssertionError:
        holds = run.operator.holds()
        acts.set_aside(scene, plan)
        return f"Raft's damaged journals were renamed by hand; holds before: {holds}"
    return ""


def judged(run: Run, found: Figures, before: int) -> Figures:
    """Return the figures with what the round cost, by what each member has afterwards."""
    told = run.told()
    found = replace(found, told=len(told) - before, load=os.getloadavg()[0])
    found = replace(found, beside=len(beside(told[before:])))
    if found.wrong:
        return found
    differs: tuple[str, ...] = ()
    for _ in range(3):  # a replica is some rows behind while the clients write
        leader = leading(run.lab, MEMBERS)
        found = replace(found, led=(found.led[0], str(leader or "")))
        until = len(run.told())
        seen = frozenset((row.client, row.number) for row in run.told()[:until])
        time.sleep(CALM_S)
        try:
            held = {member: run.rows_of(member) & seen for member in MEMBERS}
        except psycopg.Error as error:
            differs = (str(error).strip(),)
            continue
        differs = other_rows(held, leader) if leader else ("nobody leads",)
        lost = newly_lost(told, held.get(leader, frozenset()), run.gone)
        if not differs:
            run.gone |= lost
            return replace(found, lost=len(lost))
    return replace(found, differs=differs)


def accepted(run: Run, scene: Scene) -> str:
    """Wait for the hold of the loss, judge its words, and answer it with its own field; return it.
    AssertionError where it does not come or does not tell the amount."""

    def hold() -> str:
        words = run.operator.holds().get("failover/main", "")
        return words if "acceptLoss: {" in words else ""

    words = str(eventually(hold, "the hold with what would be lost", HOLDS_S))
    field = words.partition("acceptLoss: {")[2].partition("}")[0]
    named = field.partition("leader: ")[2].partition(",")[0]
    if wrong := why_no_amount(words, named, scene.roles["leader"]):
        raise AssertionError(f"{wrong}: {words}")
    run.write(f"  acceptLoss: {{{field}}}\n")
    return words


def is_whole_again(run: Run, since: float) -> bool:
    if not run.has_leader(since) or not is_whole(run.lab, MEMBERS):
        time.sleep(0.3)
        return False
    return True


def last_words(run: Run) -> str:
    """Return the operator's holds and the ends of its and the members' logs."""
    found = [f"-- holds: {run.operator.holds()}", f"-- {cluster_table(run.lab, MEMBERS.values())}"]
    found += ["-- the operator", *(text.rstrip() for text in run.operator.lines[-15:])]
    for name, node in ((name, run.lab.node(node)) for name, node in MEMBERS.items()):
        container = container_of(node, f"main_{name}") if node.is_up() else ""
        log = node.docker("logs", "--tail", "40", container, check=False) if container else None
        found.append(f"-- {name} on {node.name}: {log.stdout + log.stderr if log else 'none'}")
    return "\n".join(found)


def show(lab: Lab, directory: Path, script: Sequence[Round], until: float) -> list[Figures]:
    """Do the rounds that can begin before ``until`` (monotonic); return the figures of each."""
    found: list[Figures] = []
    left = list(script)
    while left and time.monotonic() < until:
        with begun(lab, directory / str(len(found))) as run:
            while left and time.monotonic() < until:
                found.append(suffer(run, left.pop(0)))
                print(line(found[-1]), flush=True)
                if found[-1].faults:
                    print(last_words(run), flush=True)
                if found[-1].wrong or found[-1].differs:
                    break
    if left:
        print(f"the time is over; {len(left)} rounds left out", flush=True)
    return found
