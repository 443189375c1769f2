"""One run: a cluster with a mode of replication, clients, and one fault after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    cluster_table,
    container_of,
    eventually,
    is_whole,
    quick_manifest,
    read_secret,
)
from tests.lab.lab import Lab
from tests.soak.clients import Client
from tests.soak.database import Database
from tests.soak.faults import MEMBER_OF, scene_of, strike
from tests.soak.judge import Acknowledged, beside, longest_pause_s, lost
from tests.soak.script import Step

WHOLE_S = 300.0
"""Time to become whole after a repair, on a machine that does other things besides."""
CALM_S = 3.0
"""Time after that in which the clients write before they are judged."""


@dataclass
class Outcome:
    """The figures of a run. ``through_proxy`` and ``at_members`` are rows that are lost, by the
    clients that wrote them."""

    mode: str
    faults: int = 0
    told: int = 0
    through_proxy: list[Acknowledged] = field(default_factory=list)
    at_members: list[Acknowledged] = field(default_factory=list)
    beside: list[Acknowledged] = field(default_factory=list)
    pauses_s: list[float] = field(default_factory=list)
    not_whole: list[int] = field(default_factory=list)

    @property
    def keeps_promise(self) -> bool:
        return not (self.through_proxy or self.at_members or self.beside or self.not_whole)


@dataclass
class Run:
    """The lab, the operator, the file as it is edited, and the clients."""

    lab: Lab
    operator: RunningOperator
    mode: str
    database: Database = field(init=False)
    fields: dict[str, str] = field(default_factory=dict)
    clients: list[Client] = field(default_factory=list)

    def write(self) -> None:
        fields = dict(self.fields)
        if self.mode != "asynchronous":
            fields["replication"] = f"{{mode: {self.mode}}}"
        text = "".join(f"  {name}: {value}\n" for name, value in sorted(fields.items()))
        self.operator.write(quick_manifest(self.lab, text))

    def edit(self, step: Step) -> None:
        values = {
            "primary": f"member-{1 + step.which % 3}",
            "stopGracePeriod": f"{60 + step.which % 60}s",
            "work_mem": f"{{parameters: {{work_mem: {4 + step.which % 8}MB}}}}",
        }
        name = {"work_mem": "postgresql"}.get(step.edit, step.edit)
        self.fields[name] = values[step.edit]
        self.write()

    def told(self) -> list[Acknowledged]:
        return [row for client in self.clients for row in list(client.told)]


@contextmanager
def begun(lab: Lab, directory: Path, mode: str) -> Iterator[Run]:
    """A whole cluster on a bare lab, with a client at each proxy and one at each member."""
    lab.reset()
    run = Run(lab, RunningOperator(lab, directory, resync_s=QUICK_RESYNC_S), mode)
    run.write()
    with run.operator:
        run.operator.wait_converged()
        eventually(lambda: is_whole(lab), "a whole cluster", 120)
        run.database = Database(lab, MEMBER_NODES, read_secret(lab, "pg_superuser_pw"))
        eventually(run.database.makes_table, "a proxy to lead to the leader", 60)
        login = {"password": run.database.password}
        for node in MEMBER_NODES:
            address, netns = lab.node(node).address, Path("/run/netns") / lab.settings.netns(node)
            run.clients += [
                Client(f"{node}:5000", {"host": address, "port": 5000, **login}),
                Client(f"{node}:5432", {"host": address, "port": 5432, **login}, netns),
            ]
        for client in run.clients:
            client.start()
        try:
            yield run
        finally:
            for client in run.clients:
                client.end()


def is_whole_again(lab: Lab, run: Run, since: float) -> bool:
    written = any(row.at > since for client in run.clients for row in client.told[-1:])
    return written and len(cluster_table(lab)) == len(MEMBER_NODES) and is_whole(lab)


def last_words(lab: Lab) -> str:
    """Return the ends of the members' logs: a lab that is used again keeps none of them."""
    found = []
    for node in (lab.node(name) for name in MEMBER_NODES):
        container = container_of(node, MEMBER_OF[node.name]) if node.is_up() else ""
        log = node.docker("logs", "--tail", "40", container, check=False) if container else None
        found.append(f"-- {node.name}: {log.stdout + log.stderr if log else 'no container'}")
    return "\n".join(found)


def soak(lab: Lab, directory: Path, mode: str, steps: Sequence[Step], until: float) -> Outcome:
    """Do the steps that can begin before ``until`` (monotonic), and judge what they cost."""
    outcome = Outcome(mode)
    with begun(lab, directory, mode) as run:
        time.sleep(CALM_S)
        for step in steps:
            if time.monotonic() > until:
                print(f"{mode}: the time is over; {len(steps) - step.number + 1} faults left out")
                break
            suffer(run, step, outcome)
        for client in run.clients:
            client.end()
        time.sleep(CALM_S)
        judge(run.told(), run.database.present(), outcome)
    return outcome


def suffer(run: Run, step: Step, outcome: Outcome) -> None:
    """One fault from the edit before it to the whole cluster after it; prints what it cost."""
    if step.edit:
        run.edit(step)
        time.sleep(step.wait_s)
    before = {(row.client, row.number) for row in run.told()}
    began = time.monotonic()
    repair = strike(scene_of(run.lab, run.operator, step), step)
    time.sleep(step.hold_s)
    repair()
    repaired = time.monotonic()
    try:
        eventually(lambda: is_whole_again(run.lab, run, repaired), "a whole cluster", WHOLE_S)
    except AssertionError:
        outcome.not_whole.append(step.number)
        print(last_words(run.lab), flush=True)
    took_s = time.monotonic() - repaired
    time.sleep(CALM_S)
    told = run.told()
    present = run.database.present()
    pause_s = longest_pause_s(told, began, time.monotonic())
    gone = len(lost(told, present))
    outcome.faults += 1
    outcome.pauses_s.append(pause_s)
    edited = f" after an edit of {step.edit}" if step.edit else ""
    again = f"whole {took_s:.0f} s after its repair"
    if step.number in outcome.not_whole:
        again = f"NOT whole {took_s:.0f} s after its repair: {cluster_table(run.lab)}"
    print(
        f"{outcome.mode} {step.number}: {step.fault} for {step.hold_s:.0f} s{edited}; {again}, no "
        f"acknowledgement for {pause_s:.1f} s; {len(told) - len(before)} rows, lost so far {gone}, "
        f"by two leaders at once {len(beside(told))}",
        flush=True,
    )


def judge(told: list[Acknowledged], present: set[tuple[str, int]], outcome: Outcome) -> None:
    outcome.told = len(told)
    gone = lost(told, present)
    outcome.through_proxy = [row for row in gone if row.client.endswith(":5000")]
    outcome.at_members = [row for row in gone if not row.client.endswith(":5000")]
    outcome.beside = beside(told)
