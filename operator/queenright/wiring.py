"""The composition root: the only module that imports both the engine and the adapters."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from queenright import __version__
from queenright.adapters.audit.file import FILE_NAME
from queenright.adapters.audit.log import AuditLog, Sink, log_record
from queenright.adapters.audit.reader import newest_records
from queenright.adapters.docker.lease import DockerLease
from queenright.adapters.docker.readiness_probe import ReadinessService
from queenright.adapters.docker.secrets import DockerSecrets
from queenright.adapters.docker.swarm import DockerSwarm
from queenright.adapters.files.last_known_good import LastGoodFiles
from queenright.adapters.files.manifests import ManifestFiles
from queenright.adapters.garbage_collector import collect_rarely, spare_present_objects
from queenright.adapters.page.access import Access, read_token
from queenright.adapters.page.server import Server
from queenright.adapters.patroni.http import PatroniHttp
from queenright.adapters.patroni.raft_membership import PysyncobjMembership
from queenright.adapters.postgres.archiving import PostgresArchiving
from queenright.adapters.postgres.connections import PostgresSql
from queenright.adapters.postgres.databases import PostgresCatalogs
from queenright.adapters.process import has_ended, own_lease
from queenright.adapters.readiness_http import ReadinessHttp
from queenright.adapters.system_clock import SystemClock, boot_time_s
from queenright.adapters.turns import allow_many_files
from queenright.core.audit.chain import Record
from queenright.core.kinds.ruleset import GUARDS
from queenright.core.planning.guards import guard_name
from queenright.engine.document_store import DocumentStore
from queenright.engine.lease import LeaseKeeper
from queenright.engine.loop import Loop
from queenright.engine.pages import SightPages
from queenright.engine.sight import Sight
from queenright.engine.tenure import Tenure
from queenright.engine.trail_memory import TrailMemory
from queenright.ports import Ports
from queenright.ports.lease import allowed, forbidden
from queenright.settings import Listen, PollIntervals, Settings

PRELOADED = 2_000
"""Records of earlier processes that the page knows."""

log = structlog.get_logger()


@asynccontextmanager
async def open_ports(
    settings: Settings,
    *,
    audit: bool,
    trail_directory: Path | None = None,
    is_operator: bool = False,
    may_write: Callable[[], bool] = allowed,
    sink: Sink = log_record,
) -> AsyncGenerator[Ports, None]:
    """Open the real adapters.

    ``audit`` False is for read-only commands: it leaves the audit trail alone, and starts no
    service to read a secret. The trail is the operator's, in the state directory, unless
    ``trail_directory`` names another one. ``is_operator`` allows to create and remove readiness
    probes. ``may_write`` is asked before each write to the swarm. ``sink`` is given each record
    of the trail."""
    clock = SystemClock()
    swarm = DockerSwarm(settings.docker.environment, settings.docker_timeout_s, may_write)
    allow_many_files()
    patroni = PatroniHttp(settings.member_timeout_s)
    patroni_watch = PatroniHttp(settings.member_timeout_s)
    secrets = DockerSecrets(
        settings.docker.environment,
        settings.docker_timeout_s,
        settings.secrets_dir,
        may_create=may_write if audit else forbidden,
    )
    readiness = ReadinessHttp(
        ReadinessService(
            settings.docker.environment,
            settings.docker_timeout_s,
            may_create=may_write if is_operator else forbidden,
        )
    )
    trail = (
        AuditLog(
            trail_directory or settings.state_dir,
            clock,
            sink,
            version=__version__,
            guards=[guard_name(guard) for guard in GUARDS] if is_operator else (),
        )
        if audit
        else AuditLog(None, clock, sink=lambda _: None, version=__version__)
    )
    try:
        yield Ports(
            swarm=swarm,
            patroni=patroni,
            patroni_watch=patroni_watch,
            raft=PysyncobjMembership(settings.member_timeout_s),
            secrets=secrets,
            database=PostgresSql(),
            catalogs=PostgresCatalogs(),
            archiving=PostgresArchiving(),
            readiness=readiness,
            manifests=ManifestFiles(settings.manifests),
            last_good=LastGoodFiles(settings.state_dir),
            audit=trail,
            clock=clock,
        )
    finally:
        trail.close()
        await secrets.aclose()
        await readiness.aclose()
        await patroni.aclose()
        await patroni_watch.aclose()
        await swarm.aclose()


async def run_operator(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT; the current action is finished first. Raises TokenError."""
    collect_rarely()
    tenure = Tenure(boot_time_s)
    opened = partial(open_ports, settings, audit=True, is_operator=True, may_write=tenure.holds)
    if settings.listen is None:
        async with opened() as ports, keep_lease(ports, settings, tenure) as lease:
            await run_loop(ports, settings, lease=lease)
        return
    token = read_token(settings.listen.token_file) if settings.listen.token_file else ""
    sight = Sight(SystemClock(), await remembered_trail(settings.state_dir))

    def sink(record: Record) -> None:
        log_record(record)
        sight.take(record)

    async with opened(sink=sink) as ports, keep_lease(ports, settings, tenure) as lease:
        await run_loop(ports, settings, Shown(sight, settings.listen, token), lease)


@asynccontextmanager
async def keep_lease(
    ports: Ports, settings: Settings, tenure: Tenure
) -> AsyncGenerator[LeaseKeeper, None]:
    """Open the lease of this operator's swarm; the loop keeps it."""
    store = DockerLease(settings.docker.environment, settings.docker_timeout_s)
    own = own_lease(ports.audit.lock)
    try:
        yield LeaseKeeper(store, own, ports.audit, tenure, partial(has_ended, own))
    finally:
        await store.aclose()


@dataclass(frozen=True, slots=True)
class Shown:
    """A page: what it shows, where, and to whom."""

    sight: Sight
    listen: Listen
    token: str = field(repr=False)


async def run_loop(
    ports: Ports,
    settings: Settings,
    shown: Shown | None = None,
    lease: LeaseKeeper | None = None,
) -> None:
    intervals = PollIntervals(
        resync_s=settings.resync_interval_s,
        file_poll_s=settings.file_poll_interval_s,
        member_poll_s=settings.member_poll_interval_s,
    )
    sight = shown.sight if shown else None
    state = DocumentStore(ports)
    loop = Loop(ports, state, intervals, sight=sight, lease=lease, settled=spare_present_objects)
    async with anyio.create_task_group() as group:
        group.start_soon(stop_on_signal, loop)
        if shown is not None:
            group.start_soon(serve_page, ports, shown)
        await loop.run()
        group.cancel_scope.cancel()


async def serve_page(ports: Ports, shown: Shown) -> None:
    """Serve the page until cancelled; a fault of the server is logged and ends only the page."""
    access = Access(shown.listen.names, shown.token)
    try:
        server = Server(SightPages(shown.sight, ports.clock), access)
        await server.serve(shown.listen.address, shown.listen.port)
    except Exception:
        log.exception("page", doing="serving; the operator goes on without it")


async def remembered_trail(state_dir: Path | None) -> TrailMemory:
    """Return the newest records of earlier processes, as far as they can be read."""
    memory = TrailMemory()
    if state_dir is not None:
        with suppress(OSError):
            path = state_dir / FILE_NAME
            await anyio.to_thread.run_sync(
                lambda: memory.preload([*islice(newest_records(path), PRELOADED)])
            )
    return memory


async def stop_on_signal(loop: Loop) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            log.info("stopping after the current action", signal=number.name)
            loop.stop()
