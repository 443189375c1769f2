"""The composition root: the only module that imports both the engine and the adapters."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import structlog

from queenright import __version__
from queenright.adapters.audit.log import AuditLog
from queenright.adapters.docker.readiness_probe import ReadinessService
from queenright.adapters.docker.secrets import DockerSecrets
from queenright.adapters.docker.swarm import DockerSwarm
from queenright.adapters.files.last_known_good import LastGoodFiles
from queenright.adapters.files.manifests import ManifestFiles
from queenright.adapters.patroni.http import PatroniHttp
from queenright.adapters.patroni.raft_membership import PysyncobjMembership
from queenright.adapters.postgres.archiving import PostgresArchiving
from queenright.adapters.postgres.connections import PostgresSql
from queenright.adapters.postgres.databases import PostgresCatalogs
from queenright.adapters.readiness_http import ReadinessHttp
from queenright.adapters.system_clock import SystemClock
from queenright.adapters.turns import allow_many_files
from queenright.core.kinds.ruleset import GUARDS
from queenright.core.planning.guards import guard_name
from queenright.engine.document_store import DesiredState
from queenright.engine.loop import Loop
from queenright.engine.world import Ports, Tempo
from queenright.settings import Settings

log = structlog.get_logger()


@asynccontextmanager
async def open_ports(
    settings: Settings,
    *,
    audit: bool,
    trail_directory: Path | None = None,
    is_operator: bool = False,
) -> AsyncGenerator[Ports, None]:
    """Open the real adapters.

    ``audit`` False is for read-only commands: it leaves the audit trail alone, and starts no
    service to read a secret. The trail is the operator's, in the state directory, unless
    ``trail_directory`` names another one. ``is_operator`` allows to create and remove readiness
    probes."""
    clock = SystemClock()
    swarm = DockerSwarm(settings.docker.environment, settings.docker_timeout_s)
    allow_many_files()
    patroni = PatroniHttp(settings.member_timeout_s)
    patroni_watch = PatroniHttp(settings.member_timeout_s)
    secrets = DockerSecrets(
        settings.docker.environment,
        settings.docker_timeout_s,
        settings.secrets_dir,
        may_create=audit,
    )
    readiness = ReadinessHttp(
        ReadinessService(
            settings.docker.environment, settings.docker_timeout_s, may_create=is_operator
        )
    )
    trail = (
        AuditLog(
            trail_directory or settings.state_dir,
            clock,
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
    """Run until SIGTERM or SIGINT; the current action is finished first."""
    async with open_ports(settings, audit=True, is_operator=True) as ports:
        await run_loop(ports, settings)


async def run_loop(ports: Ports, settings: Settings) -> None:
    tempo = Tempo(
        resync_s=settings.resync_interval_s,
        file_poll_s=settings.file_poll_interval_s,
        member_poll_s=settings.member_poll_interval_s,
    )
    loop = Loop(ports, DesiredState(ports), tempo)
    async with anyio.create_task_group() as group:
        group.start_soon(stop_on_signal, loop)
        await loop.run()
        group.cancel_scope.cancel()


async def stop_on_signal(loop: Loop) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            log.info("stopping after the current action", signal=number.name)
            loop.stop()
