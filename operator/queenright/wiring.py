"""The composition root: the only module that knows both the engine and the adapters."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import structlog

from queenright import __version__
from queenright.adapters.audit_log import AuditLog
from queenright.adapters.docker_secrets import DockerSecrets
from queenright.adapters.docker_swarm import DockerSwarm
from queenright.adapters.last_good_files import LastGoodFiles
from queenright.adapters.manifest_files import ManifestFiles
from queenright.adapters.patroni_http import PatroniHttp
from queenright.adapters.postgres_catalog import PostgresCatalogs
from queenright.adapters.postgres_sql import PostgresSql
from queenright.adapters.readiness_http import ReadinessHttp
from queenright.adapters.readiness_service import ReadinessService
from queenright.adapters.system_clock import SystemClock
from queenright.engine.desired_state import DesiredState
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
    """The real world; ``audit`` False keeps the audit trail untouched, and makes no service that
    reads a secret (for looking only). The trail is the operator's, in the state directory, unless
    ``trail_directory`` names another one. ``is_operator`` lets it set up and take down what asks an
    application's replicas."""
    clock = SystemClock()
    swarm = DockerSwarm(settings.docker.environment, settings.docker_timeout_s)
    patroni = PatroniHttp(settings.member_timeout_s)
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
        AuditLog(trail_directory or settings.state_dir, clock, version=__version__)
        if audit
        else AuditLog(None, clock, sink=lambda _: None, version=__version__)
    )
    try:
        yield Ports(
            swarm=swarm,
            patroni=patroni,
            secrets=secrets,
            database=PostgresSql(),
            catalogs=PostgresCatalogs(),
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
        await swarm.aclose()


async def run_operator(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT; the step in hand is finished first."""
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
            log.info("stopping: the step in hand is finished first", signal=number.name)
            loop.stop()
