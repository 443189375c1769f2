"""``queenright run``: the operator itself."""

from __future__ import annotations

from typing import get_args

import anyio
import click
from docker.errors import DockerException

from queenright.adapters.logging import configure_logging
from queenright.adapters.trail_file import AuditBusyError
from queenright.cli.environment import settings_from_environment
from queenright.cli.exits import OK, UNREACHABLE, CommandError
from queenright.cli.options import GivenPath
from queenright.settings import LogFormat, LogLevel
from queenright.wiring import run_operator

EPILOG = """\b
Settings, from the environment (durations such as 15, 15s, 100ms):
  QUEENRIGHT_MANIFESTS             file or directory (/etc/queenright)
  QUEENRIGHT_STATE_DIR             audit trail and last good state
                                   (/var/lib/queenright; empty: keep none)
  QUEENRIGHT_SECRETS_DIR           secrets mounted here are read here
                                   (/run/secrets)
  QUEENRIGHT_LOG_FORMAT            json, console, or auto (auto)
  QUEENRIGHT_LOG_LEVEL             debug, info, warning, error (info)
  QUEENRIGHT_RESYNC_INTERVAL       the net under all wake-ups (15s)
  QUEENRIGHT_FILE_POLL_INTERVAL    how soon an edit is seen (100ms)
  QUEENRIGHT_MEMBER_POLL_INTERVAL  how soon a member's change is seen (1s)
  QUEENRIGHT_DOCKER_TIMEOUT        for each call (10s)
  QUEENRIGHT_MEMBER_TIMEOUT        for each call (2s)
  DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH
                                   a swarm manager's engine

\b
Examples:
  queenright run
  queenright run ./manifests --log-format json
"""


@click.command(epilog=EPILOG)
@click.argument("path", type=GivenPath(), required=False)
@click.option("--log-format", type=click.Choice(get_args(LogFormat)), help="How the log looks.")
@click.option("--log-level", type=click.Choice(get_args(LogLevel)), help="What the log tells.")
def run(path: str | None, log_format: str | None, log_level: str | None) -> int:
    """Keep the swarm as the files in PATH say, until SIGTERM or SIGINT.

    The log goes to standard output; its audit lines tell every action before and after. A signal
    lets the step in hand finish, and the command ends with 0.
    """
    settings = settings_from_environment(
        {
            "QUEENRIGHT_MANIFESTS": path,
            "QUEENRIGHT_LOG_FORMAT": log_format,
            "QUEENRIGHT_LOG_LEVEL": log_level,
        }
    )
    configure_logging(settings.log_format, settings.log_level)
    try:
        anyio.run(run_operator, settings)
    except AuditBusyError as error:
        raise CommandError(str(error)) from error
    except DockerException as error:
        raise CommandError(f"DOCKER_HOST {settings.docker.host}: {error}", UNREACHABLE) from error
    return OK
