"""One run: a cluster on a bare lab, clients that write all the time, and one edit after the other.

A writer goes through the proxies' port 5000, and on each node a watcher writes at whichever member
is there, so that a second leader would be seen.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.e2e.membership import is_whole, leading, voters, with_members
from tests.e2e.running_operator import QUICK_RESYNC_S, ROOT, RunningOperator
from tests.e2e.swarm_facts import (
    cluster_table,
    container_of,
    eventually,
    manifest,
    patroni,
    quick_manifest,
    read_secret,
)
from tests.lab.lab import Lab
from tests.lab.swarm import wait_for_states
from tests.soak.clients import Client
from tests.soak.database import Database
from tests.soak.judge import Acknowledged, beside, longest_pause_s, lost
from tests.topology.bound import beyond, bound_lines
from tests.topology.cuts import Cutting, power_is_lost
from tests.topology.judge import Figures, line, longest_gaps_s, pauses
from tests.topology.script import FIRST, Edit, Members, Step, edit_of, line_of

CALM_S = 3.0
"""Time before an edit and after it in which the clients write."""
CHANGE_S = 150.0
"""Time for each change of Raft's voters, a minute of which all nodes have to have known the last
one, on a machine that does other things besides."""
PATIENCE = 5
"""So many times as long may an edit take in which power is lost after each of its steps."""
RETURN_S = 20.0
"""As long as it takes a container to start on a node that is back, and to be heard."""
HURRIED = ROOT / "tests/e2e/cluster/hurried_operator.py"
FIELDS = """\
  canary: {enabled: true}
  postgresql: {parameters: {max_replication_slots: 10}}
"""
"""More slots than the contract's 5: Patroni keeps those of former names for half an hour, in which
there are more edits here than these leave room for (docs/guide.md, "Change the topology")."""


@dataclass
class Run:
    """The lab, the operator, the members as the file has them, and the clients."""

    lab: Lab
    operator: RunningOperator
    hurried: bool
    members: Members
    database: Database = field(init=False)
    writer: Client = field(init=False)
    clients: list[Client] = field(default_factory=list)

    @property
    def nodes(self) -> dict[str, str]:
        """The members with their nodes."""
        return {name: place.node for name, place in self.members.items()}

    def write(self, members: Members, more: str = "") -> None:
        text = quick_manifest(self.lab) if self.hurried else manifest(self.lab)
        lines = [line_of(name, place) for name, place in members.items()]
        self.operator.write(with_members(text, lines, more + FIELDS))

    def told(self) -> list[Acknowledged]:
        return [row for client in self.clients for row in list(client.told)]

    def enter(self, name: str, nodes: Iterable[str]) -> None:
        """Let a new writer go through these nodes' proxies, and then end the former one."""
        self.database.nodes = tuple(nodes)
        hosts = ",".join(self.lab.node(node).address for node in self.database.nodes)
        where = {"host": hosts, "port": 5000, "password": self.database.password}
        writer, former = Client(f"{name}:5000", where), self.clients[-1:]
        self.clients.append(writer)
        writer.start()
        eventually(lambda: writer.told, "a row through port 5000", 60)
        for client in former:
            if client.name.endswith(":5000"):
                client.end()
        self.writer = writer

    def address(self, member: str) -> str:
        place = self.members[member]
        return place.address or self.lab.node(place.node).address


@contextmanager
def begun(lab: Lab, directory: Path, count: int, *, hurried: bool) -> Iterator[Run]:
    """A whole cluster of ``count`` members on a bare lab, with a watcher on each other node."""
    lab.reset()
    command = [sys.executable, str(HURRIED)] if hurried else []
    operator = RunningOperator(lab, directory, command, resync_s=QUICK_RESYNC_S)
    run = Run(lab, operator, hurried, dict(list(FIRST.items())[:count]))
    run.write(run.members)
    with operator:
        operator.wait_converged(360)
        eventually(lambda: is_whole(lab, run.nodes), "a whole cluster", 120)
        run.database = Database(lab, run.nodes.values(), read_secret(lab, "pg_superuser_pw"))
        eventually(run.database.makes_table, "a proxy to lead to the leader", 60)
        for node in lab.nodes:
            where = {"host": node.address, "port": 5432, "password": run.database.password}
            netns = Path("/run/netns") / lab.settings.netns(node.name)
            run.clients.append(Client(f"{node.name}:5432", where, netns))
            run.clients[-1].start()
        try:
            yield run
        finally:
            for client in run.clients:
                client.end()


def show(
    lab: Lab,
    directory: Path,
    steps: Sequence[Step],
    seed: int,
    *,
    hurried: bool,
    cuts: bool = False,
) -> list[Figures]:
    """Do the steps, up to one that breaks a promise; return the figures of each."""
    found: list[Figures] = []
    with begun(lab, directory, steps[0].members, hurried=hurried) as run:
        for step in steps:
            found.append(take(run, step, random.Random(f"{seed} {step.name}"), cuts=cuts))
            print(line(found[-1]), flush=True)
            if not found[-1].keeps_promise:
                print(last_words(run), flush=True)
                break
    return found


def take(run: Run, step: Step, rng: random.Random, *, cuts: bool = False) -> Figures:
    """One step from the calm before it to the calm after it, and its figures. With ``cuts`` power
    is lost after each action of the operator."""
    leader = leading(run.lab, run.nodes)
    free = {node.name for node in run.lab.nodes} - {*run.nodes.values()}
    edit = edit_of(step, run.members, leader, sorted(free), rng)
    stays = {*run.nodes.values()} & {place.node for place in edit.after.values()}
    run.enter(step.name, sorted(stays - {*edit.dead, edit.readdressed}))
    before, measured = len(run.told()), len(run.operator.audit("measured"))
    time.sleep(CALM_S)
    since = time.monotonic()
    nodes = {**run.nodes, **{name: place.node for name, place in edit.after.items()}}

    def begin() -> Cutting:
        return Cutting(run.lab, run.operator, run.database, nodes, rng)

    with power_is_lost(begin if cuts else None) as cutting:
        began, wrong = change(run, edit), ""
        try:
            reach(run, step, patience=PATIENCE if cuts else 1)
        except AssertionError as error:
            wrong = f"{str(error).splitlines()[0]}; holds: {run.operator.holds()}"
    if cutting is not None:
        wrong = wrong or cutting.failed or why_not_settled(run)
    whole_s = time.monotonic() - began
    time.sleep(CALM_S)
    told, load = run.told(), os.getloadavg()[0]
    until = time.monotonic()
    losses = cutting.cuts if cutting is not None else []
    gap_s, power_gap_s = longest_gaps_s(run.writer.told, [cut.at for cut in losses], since, until)
    direct = [row for row in told if row.client.endswith(":5432")]
    acts = [
        (float(record["seen_at"]), str(record["action"]["key"]))
        for record in run.operator.audit("intent")
        if record["seen_at"] >= since
    ]
    long = pauses(run.writer.told, acts, since, step.gap_bound_s)
    gone = lost(told, run.database.present())
    unbounded = beyond(gone, told, losses)
    moves = run.operator.audit("measured")[measured:]
    wrong = wrong or back_again(run, edit)
    return Figures(
        step,
        whole_s,
        gap_s,
        longest_pause_s(direct, since, until),
        len(told) - before,
        len(unbounded),
        len(beside(run.told())),
        tuple(int(move["write_gap_ms"]) for move in moves if move.get("write_gap_ms")),
        0 if losses else sum(int(move.get("lost_rows") or 0) for move in moves),
        load,
        tuple(long),
        wrong,
        tuple(bound_lines(told, losses)),
        len(gone) - len(unbounded),
        power_gap_s,
    )


def change(run: Run, edit: Edit) -> float:
    """Do the edit, and what happens before it; return when it began (monotonic)."""
    spares = "".join(f"  replaceAfter: 60s\n  spareNodes: [{node}]\n" for node in edit.spares)
    if spares:
        run.write(run.members, spares)
        settle(run)
    if edit.readdressed:
        edit = readdress(run, edit)
    began = time.monotonic()
    for node in edit.dead:
        run.lab.node(node).power_cut()
    if edit.dead and not spares:
        wait_for_states(run.lab.manager, dict.fromkeys(edit.dead, "down"), 60)
        began = time.monotonic()
    if not spares:
        run.write(edit.after)
    run.members = edit.after
    return began


def readdress(run: Run, edit: Edit) -> Edit:
    """Give a node a further address, by which the swarm knows it from then on; return the edit with
    that in its member's line. The engine's restart stops the member: that is not the edit's."""
    node = run.lab.node(edit.readdressed)
    address = str(run.lab.settings.subnet[50 + int(node.name.removeprefix("node"))])
    subnet = str(run.lab.settings.subnet)
    node.exec("ip", "address", "add", f"{address}/32", "dev", "eth0")
    node.exec("ip", "route", "replace", subnet, "dev", "eth0", "src", address)
    node.restart_dockerd()
    run.lab.wait_ready()
    settle(run, converged=False)
    print(f"the swarm knows {node.name} by {address}; holds: {run.operator.holds()}", flush=True)
    name = next(name for name, place in edit.after.items() if place.node == node.name)
    place = edit.after[name]
    return Edit({**edit.after, name: type(place)(place.node, address, place.priority)})


def settle(run: Run, *, converged: bool = True) -> None:
    """Wait until the members are whole, and a pass from now on finds everything as desired."""
    since = len(list(run.operator.passes())) + 1
    eventually(lambda: not converged or is_converged(run, since), "a converged pass", CHANGE_S)
    eventually(lambda: is_whole(run.lab, run.nodes), "a whole cluster", CHANGE_S)


def why_not_settled(run: Run) -> str:
    """Return why the cluster is not whole and converged in time; empty if it is."""
    try:
        settle(run)
    except AssertionError as error:
        return f"{str(error).splitlines()[0]}; holds: {run.operator.holds()}"
    return ""


def is_converged(run: Run, since: int) -> bool:
    """Return True if the last pass, after the first ``since`` ones, found everything as desired."""
    return any(found["converged"] for found in list(run.operator.passes())[since:][-1:])


def reach(run: Run, step: Step, patience: int = 1) -> None:
    """Wait until the operator has nothing to do, and members, voters and priorities are those of
    the edit; AssertionError otherwise."""
    since = len(list(run.operator.passes())) + 1
    limit_s = patience * (240 + CHANGE_S * step.changes)
    eventually(partial(has_reached, run, since), "the members of the edit", limit_s)


def has_reached(run: Run, since: int) -> bool:
    if not is_converged(run, since) or not is_whole(run.lab, run.nodes):
        time.sleep(0.4)
        return False
    wanted = frozenset(run.address(name) for name in run.members)
    tags = {row["name"]: row.get("tags", {}) for row in cluster_table(run.lab, run.nodes.values())}
    written = {name: place.priority for name, place in run.members.items() if place.priority}
    told = {name: int(tags[name].get("failover_priority", 1)) for name in written}
    return told == written and all(voters(address) == wanted for address in wanted)


def back_again(run: Run, edit: Edit) -> str:
    """Switch the dead nodes on again; return why their former members take part, empty if not."""
    if not edit.dead:
        return ""
    for node in edit.dead:
        run.lab.node(node).start()
    run.lab.wait_ready()
    time.sleep(RETURN_S)
    wanted = frozenset(run.address(name) for name in run.members)
    serving = [node for node in edit.dead if patroni(run.lab, node)]
    if serving:
        return f"the former members on {', '.join(serving)} serve"
    if not is_whole(run.lab, run.nodes) or any(voters(a) != wanted for a in wanted):
        return f"not whole beside the former members: {cluster_table(run.lab, run.nodes.values())}"
    if edit.spares:  # the line that the operator asks for
        run.write(run.members)
        settle(run)
    return ""


def last_words(run: Run) -> str:
    """Return the ends of the operator's and the members' logs."""
    found = ["-- the operator", *(text.rstrip() for text in run.operator.lines[-40:])]
    for name, node in ((name, run.lab.node(place.node)) for name, place in run.members.items()):
        container = container_of(node, f"main_{name}") if node.is_up() else ""
        log = node.docker("logs", "--tail", "30", container, check=False) if container else None
        found.append(f"-- {name} on {node.name}: {log.stdout + log.stderr if log else 'none'}")
    return "\n".join(found)
