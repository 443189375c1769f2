"""``queenright run``: run the operator."""

from __future__ import annotations

from typing import get_args

import anyio
import click
from docker.errors import DockerException

from queenright.adapters.audit.file import AuditBusyError
from queenright.adapters.logging import configure_logging
from queenright.adapters.page.access import TokenError
from queenright.cli.environment import settings_from_environment
from queenright.cli.exit_codes import OK, UNREACHABLE, USAGE, CommandError
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
  QUEENRIGHT_RESYNC_INTERVAL       the longest time between passes (15s)
  QUEENRIGHT_FILE_POLL_INTERVAL    time between looks at the files (100ms)
  QUEENRIGHT_MEMBER_POLL_INTERVAL  time between looks at a member (1s)
  QUEENRIGHT_DOCKER_TIMEOUT        for each call (10s)
  QUEENRIGHT_MEMBER_TIMEOUT        for each call (2s)
  QUEENRIGHT_LISTEN                ADDRESS:PORT of the page (empty: none)
  QUEENRIGHT_LISTEN_TOKEN_FILE     file with the token that the page asks for
  QUEENRIGHT_LISTEN_NAMES          host names of the page, besides localhost
  DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH
                                   a swarm manager's engine

\b
Examples:
  queenright run
  queenright run ./manifests --log-format json
  queenright run --listen 8790           the page is http://127.0.0.1:8790/
"""


@click.command(epilog=EPILOG)
@click.argument("path", type=GivenPath(), required=False)
@click.option("--log-format", type=click.Choice(get_args(LogFormat)), help="Form of the log.")
@click.option("--log-level", type=click.Choice(get_args(LogLevel)), help="Lowest level logged.")
@click.option("--listen", metavar="[ADDRESS:]PORT", help="Show a page there, read-only.")
def run(path: str | None, log_format: str | None, log_level: str | None, listen: str | None) -> int:
    """Keep the swarm as the files in PATH describe it, until SIGTERM or SIGINT.

    The log goes to standard output; its audit lines record every action before and after it. After
    a signal the current action is finished, and the command ends with 0.
    """
    settings = settings_from_environment(
        {
            "QUEENRIGHT_MANIFESTS": path,
            "QUEENRIGHT_LOG_FORMAT": log_format,
            "QUEENRIGHT_LOG_LEVEL": log_level,
            "QUEENRIGHT_LISTEN": listen,
        }
    )
    configure_logging(settings.log_format, settings.log_level)
    try:
        anyio.run(run_operator, settings)
    except TokenError as error:
        raise CommandError(str(error), USAGE) from error
    except AuditBusyError as error:
        raise CommandError(str(error)) from error
    except DockerException as error:
        raise CommandError(f"DOCKER_HOST {settings.docker.host}: {error}", UNREACHABLE) from error
    return OK
