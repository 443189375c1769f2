"""A live cluster for commands: observe it, change it, and record every action in a trail.

Finds the cluster by its name, and keeps the trail of commands beside the operator's own, because
only the operator writes that. Invariant: every write is recorded, with the person who asked for it,
before it is tried.
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

from queenright.adapters.audit.file import AuditBusyError
from queenright.adapters.logging import configure_logging
from queenright.cli import read_only
from queenright.cli.audit_trail import COMMANDS_DIRECTORY
from queenright.cli.exit_codes import FAILURE, INVALID, UNREACHABLE, USAGE, CommandError
from queenright.core.actions import AnyAction
from queenright.core.audit.record import Trigger
from queenright.core.kinds.claims import claims_of
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.expansion import expand_here
from queenright.core.kinds.postgres_cluster.planner import is_deployed
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.registry import key_of
from queenright.core.manifest.document import Document, documents_of
from queenright.core.manifest.suggestions import did_you_mean
from queenright.core.observed import Known, MemberStatus, Observed, Unknown
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.preflight import swarm_or_hold
from queenright.core.postgres.catalog import NO_CATALOG, DesiredCatalog
from queenright.engine.execute import Result, execute
from queenright.engine.observe import observe
from queenright.engine.observe_cluster import observe_members
from queenright.ports import Ports
from queenright.settings import Settings
from queenright.wiring import open_ports


@dataclass(frozen=True, slots=True)
class ClusterAtHand:
    """One observation of the cluster."""

    observed: Observed
    state: ClusterState

    @property
    def leader_at(self) -> tuple[str, int] | None:
        """The leader's name and timeline; None if no member proves to lead."""
        leader = self.state.leader
        status = self.state.status(leader) if leader else None
        if leader is None or status is None or status.timeline is None:
            return None
        return leader.name, status.timeline


@dataclass
class Session:
    """One cluster, by its document. ``command`` is its name in the trail; ``settings`` name the
    engine in an error; ``claims`` are the roles and databases that applications in the files
    claim."""

    ports: Ports
    document: Document[PostgresCluster]
    command: str
    settings: Settings = field(default_factory=Settings)
    claims: DesiredCatalog = NO_CATALOG

    async def look(self) -> ClusterAtHand:
        """Observe the cluster. CommandError if the swarm can't be used."""
        look = await observe(self.ports, [self.document], {}, with_catalogs=False)
        observed = look.observed
        swarm = swarm_or_hold(observed)
        if isinstance(observed.swarm, Unknown):
            raise read_only.unreachable(observed.swarm.why, self.settings)
        if isinstance(swarm, Hold):
            raise CommandError(swarm.reason, UNREACHABLE)
        name = self.document.name
        desired = expand_here(self.document, swarm, self.claims)
        if desired is None or not is_deployed(self.document, swarm):
            raise CommandError(
                f"cluster {name}: not deployed in this swarm by queenright; `queenright plan` "
                "shows the reason"
            )
        return ClusterAtHand(
            observed, ClusterState(desired, swarm, observed, self.ports.clock.now())
        )

    async def members(self, view: ClusterAtHand) -> Mapping[str, Known[MemberStatus] | Unknown]:
        """Return only the members' status, by service name: faster than a whole observation."""
        state = view.state
        return await observe_members(self.ports, state.desired, state.swarm)

    async def settings_at(
        self, view: ClusterAtHand, member: DesiredMember
    ) -> Known[Mapping[str, Any]] | Unknown:
        access = view.state.access(member)
        return await self.ports.patroni.settings(access.address, access.rest_api_port)

    async def carry_out(self, view: ClusterAtHand, actions: Sequence[AnyAction]) -> Result:
        """Try the actions in order, each recorded before and after; stops where the operator
        would."""
        plan = self.plan(view, actions)
        return await execute(self.ports, plan, Trigger("command", self.command), lambda: False)

    def plan(self, view: ClusterAtHand, actions: Sequence[AnyAction]) -> Plan:
        return Plan(self.document.name, view.state.desired.digest, tuple(actions))


def on_cluster(
    path: Path | None,
    cluster: str | None,
    command: str,
    act: Callable[[Session], Awaitable[int]],
    *,
    writes: bool = True,
) -> int:
    """Open the adapters, find the cluster, and act on it; without ``writes`` there is no trail."""
    settings = read_only.settings_for_looking(path)
    written = read_only.read_desired(settings, path)
    document = chosen(written, cluster)
    claims = claims_of(written.documents).get(key_of(document), NO_CATALOG)
    directory = settings.state_dir / COMMANDS_DIRECTORY if settings.state_dir else None
    if writes and (directory is None or not can_be_written(directory)):
        settings, directory = with_trail_in_the_log(settings), None

    async def go() -> int:
        async with open_ports(settings, audit=writes, trail_directory=directory) as ports:
            return await act(Session(ports, document, f"{command}, by {who()}", settings, claims))

    try:
        try:
            return anyio.run(go)
        except AuditBusyError:
            # A person may have left a question unanswered; an emergency must not wait for that.
            settings, directory = with_trail_in_the_log(settings), None
            return anyio.run(go)
    except DockerException as error:
        raise read_only.unreachable(str(error), settings) from error


def with_trail_in_the_log(settings: Settings) -> Settings:
    """Return the settings with the audit trail in the log: without a state directory, a command's
    trail goes to its standard error."""
    configure_logging(settings.log_format, "info", sys.stderr)
    return replace(settings, state_dir=None)


def chosen(written: read_only.Written, name: str | None) -> Document[PostgresCluster]:
    """Return the document of the named cluster, or of the only one."""
    if not written.is_valid and not written.documents:
        raise CommandError("\n".join(str(problem) for problem in written.errors), INVALID)
    clusters = documents_of(PostgresCluster, written.documents)
    names = [document.name for document in clusters]
    if name is None and len(names) == 1:
        return clusters[0]
    for document in clusters:
        if document.name == name:
            return document
    if not names:
        raise CommandError("no file describes a cluster; give the files with --manifests", USAGE)
    if name is None:
        raise CommandError(f"the cluster's name is missing; there are {', '.join(names)}", USAGE)
    meant = did_you_mean(name, names) or f"; there is {', '.join(names)}"
    raise CommandError(f"no file describes a cluster {name}{meant}", USAGE)


def member_named(view: ClusterAtHand, name: str) -> DesiredMember:
    """Return the member of that name. CommandError with the names there are."""
    found = view.state.member(name)
    if found is not None:
        return found
    names = [member.name for member in view.state.desired.members]
    meant = did_you_mean(name, names) or f"; there are {', '.join(names)}"
    raise CommandError(f"{view.state.desired.name} has no member {name}{meant}", USAGE)


def failed(result: Result) -> CommandError | None:
    """Return the first failure of a result as the command's error."""
    return CommandError(result.failures[0], FAILURE) if result.failures else None


def can_be_written(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return os.access(directory, os.W_OK)
    except OSError:
        return False


def who() -> str:
    """Return the person for the trail: the user on this host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user} on {socket.gethostname()}"
