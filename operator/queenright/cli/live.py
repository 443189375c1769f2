"""A live cluster as commands act on it: looked at, written to, and every deed in the audit trail.

Decides which cluster is meant, and keeps the trail of commands beside the operator's own, since
that one is written by the operator alone. Invariant: nothing is written that is not recorded, with
who asked for it, before it is tried.
"""

from __future__ import annotations

import getpass
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
from docker.errors import DockerException

from queenright.adapters.logging import configure_logging
from queenright.adapters.trail_file import AuditBusyError
from queenright.cli import look
from queenright.cli.exits import FAILURE, INVALID, UNREACHABLE, USAGE, CommandError
from queenright.cli.trail import COMMANDS_DIRECTORY
from queenright.core.actions import Action
from queenright.core.app.wishes import wishes_of
from queenright.core.audit import Trigger
from queenright.core.catalog import NO_CATALOG, DesiredCatalog
from queenright.core.desired import DesiredMember
from queenright.core.observed import Known, MemberStatus, Observed, Unknown
from queenright.core.plan import Hold, Plan
from queenright.core.planner import expand_here, is_deployed
from queenright.core.preflight import swarm_or_hold
from queenright.core.situation import Situation
from queenright.core.spec.problems import Document
from queenright.core.spec.wording import did_you_mean
from queenright.engine.execute import Result, execute
from queenright.engine.observe import observe, observe_members
from queenright.engine.world import Ports
from queenright.settings import Settings
from queenright.wiring import open_ports


@dataclass(frozen=True, slots=True)
class View:
    """One look at the cluster."""

    observed: Observed
    situation: Situation

    @property
    def leader_at(self) -> tuple[str, int] | None:
        """Who leads on which timeline; None where no member proves it."""
        leader = self.situation.leader
        status = self.situation.status(leader) if leader else None
        if leader is None or status is None or status.timeline is None:
            return None
        return leader.name, status.timeline


@dataclass
class Live:
    """One cluster, by its document. ``command`` is what the trail says was asked for; ``settings``
    name the engine in an error; ``wishes`` are the roles and databases that applications of the
    files need of it."""

    ports: Ports
    document: Document
    command: str
    settings: Settings = field(default_factory=Settings)
    wishes: DesiredCatalog = NO_CATALOG

    async def look(self) -> View:
        """What is there now. CommandError when the swarm can't be worked with."""
        observed = await observe(self.ports, [self.document], {}, with_catalogs=False)
        swarm = swarm_or_hold(observed)
        if isinstance(observed.swarm, Unknown):
            raise look.unreachable(observed.swarm.why, self.settings)
        if isinstance(swarm, Hold):
            raise CommandError(swarm.reason, UNREACHABLE)
        name = self.document.name
        desired = expand_here(self.document, swarm, self.wishes)
        if desired is None or not is_deployed(self.document, swarm):
            raise CommandError(
                f"cluster {name} was not deployed in this swarm by queenright; `queenright plan` "
                "tells more"
            )
        settings = observed.settings.get(name, Unknown("not asked yet"))
        return View(
            observed,
            Situation(
                desired,
                swarm,
                observed.members,
                observed.images,
                settings,
                self.ports.clock.now(),
                observed.raft,
            ),
        )

    async def members(self, view: View) -> Mapping[str, Known[MemberStatus] | Unknown]:
        """The members' own word alone, by service name: quicker than a whole look."""
        situation = view.situation
        return await observe_members(self.ports, situation.desired, situation.swarm)

    async def settings_at(
        self, view: View, member: DesiredMember
    ) -> Known[Mapping[str, Any]] | Unknown:
        port = view.situation.desired.rest_api_port
        return await self.ports.patroni.settings(member.address, port)

    async def carry_out(self, view: View, actions: Sequence[Action]) -> Result:
        """Try the actions in order, each recorded before and after; stops as the operator does."""
        plan = self.plan(view, actions)
        return await execute(self.ports, plan, Trigger("command", self.command), lambda: False)

    def plan(self, view: View, actions: Sequence[Action]) -> Plan:
        return Plan(self.document.name, view.situation.desired.digest, tuple(actions))


def on_cluster(
    path: Path | None,
    cluster: str | None,
    command: str,
    act: Callable[[Live], Awaitable[int]],
    *,
    writes: bool = True,
) -> int:
    """Open the world, find the cluster, and act on it; without ``writes`` there is no trail."""
    settings = look.settings_for_looking(path)
    written = look.read_desired(settings, path)
    document = chosen(written, cluster)
    wishes = wishes_of(written.documents).get(document.name, NO_CATALOG)
    directory = settings.state_dir / COMMANDS_DIRECTORY if settings.state_dir else None
    if writes and (directory is None or not can_be_written(directory)):
        settings, directory = with_trail_in_the_log(settings), None

    async def go() -> int:
        async with open_ports(settings, audit=writes, trail_directory=directory) as ports:
            return await act(Live(ports, document, f"{command}, by {who()}", settings, wishes))

    try:
        try:
            return anyio.run(go)
        except AuditBusyError:
            # Somebody may have left a question unanswered; an emergency does not wait for that.
            settings, directory = with_trail_in_the_log(settings), None
            return anyio.run(go)
    except DockerException as error:
        raise look.unreachable(str(error), settings) from error


def with_trail_in_the_log(settings: Settings) -> Settings:
    """Without a directory of its own the log stream alone is the trail, and a command's is its
    standard error."""
    configure_logging(settings.log_format, "info", sys.stderr)
    return replace(settings, state_dir=None)


def chosen(written: look.Written, name: str | None) -> Document:
    """The document of the cluster that is meant."""
    if not written.is_valid and not written.documents:
        raise CommandError("\n".join(str(problem) for problem in written.errors), INVALID)
    clusters = [document for document in written.documents if document.is_cluster]
    names = [document.name for document in clusters]
    if name is None and len(names) == 1:
        return clusters[0]
    for document in clusters:
        if document.name == name:
            return document
    if not names:
        raise CommandError("no file describes a cluster; name the files with --manifests", USAGE)
    if name is None:
        raise CommandError(f"which cluster? There are {', '.join(names)}", USAGE)
    meant = did_you_mean(name, names) or f"; there is {', '.join(names)}"
    raise CommandError(f"no file describes a cluster {name}{meant}", USAGE)


def member_named(view: View, name: str) -> DesiredMember:
    """The member of that name. CommandError with what would be right."""
    found = view.situation.member(name)
    if found is not None:
        return found
    names = [member.name for member in view.situation.desired.members]
    meant = did_you_mean(name, names) or f"; there are {', '.join(names)}"
    raise CommandError(f"{view.situation.desired.name} has no member {name}{meant}", USAGE)


def failed(result: Result) -> CommandError | None:
    """The first of a result's failures, as the command's own."""
    return CommandError(result.failures[0], FAILURE) if result.failures else None


def can_be_written(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return os.access(directory, os.W_OK)
    except OSError:
        return False


def who() -> str:
    """Who asks, for the trail: the user on this host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user} on {socket.gethostname()}"
