"""The command line's entry: names the commands, and turns every way out into an exit code.

A command's module is imported when it is asked for, so that help and completion are quick and
``run`` loads nothing that only people need.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from queenright import __version__
from queenright.cli.exits import FAILURE, INTERRUPTED, OK, USAGE, CommandError

COMMANDS = {
    "run": ("queenright.cli.run:run", "Keep the swarm as the files say, until told to stop."),
    "plan": ("queenright.cli.plan:plan", "Show what would be done now, what is held, and why."),
    "status": ("queenright.cli.status:status", "Show members, proxies, holds and last actions."),
    "list": ("queenright.cli.members:list_members", "Show the members: role, state, lag."),
    "switchover": ("queenright.cli.switchover:switchover", "Move the lead, losing nothing."),
    "failover": ("queenright.cli.failover:failover", "Make a member the leader in an emergency."),
    "pause": ("queenright.cli.pausing:pause", "Suspend Patroni's automatic management."),
    "resume": ("queenright.cli.pausing:resume", "Resume it."),
    "history": ("queenright.cli.history:history", "Show the changes of leader, with their causes."),
    "edit-config": ("queenright.cli.edit_config:edit_config", "Change Patroni's settings by hand."),
    "restart": ("queenright.cli.restart:restart", "Restart PostgreSQL where settings wait for it."),
    "create-db": ("queenright.cli.create_db:create_db", "Make a database and its user."),
    "validate": ("queenright.cli.validate:validate", "Check files: every problem, a line each."),
    "render": ("queenright.cli.render:render", "Show the configs that would be deployed."),
    "schema": ("queenright.cli.schema:schema", "Print a kind's JSON Schema, for editors."),
    "audit": ("queenright.cli.audit:audit", "Verify or show the audit trail."),
    "completion": ("queenright.cli.completion:completion", "Print a shell's completion script."),
    "version": ("queenright.cli.version:version", "Print the version."),
}

EPILOG = """\b
Exit codes:
  0   it went well (plan: nothing to do)
  1   it failed or was refused, or the audit trail is broken
  2   plan only: something is to be done or held
  64  the command line or an environment variable is wrong
  65  the manifests are not valid
  69  the swarm can't be reached or worked with from here

\b
Examples:
  queenright validate cluster.yaml
  queenright plan
  queenright status --watch
  queenright switchover --candidate member-2
  DOCKER_HOST=tcp://10.0.0.5:2375 queenright status
"""


class Commands(click.Group):
    """Commands by name, imported when needed; every way out has a documented exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        extra["standalone_mode"] = False
        sys.exit(exit_code_of(lambda: super(Commands, self).main(*args, **extra)))


def exit_code_of(command: Callable[[], object]) -> int:
    """Run a command; its result or its error as an exit code, the error told in plain words."""
    try:
        result = command()
        sys.stdout.flush()
    except CommandError as error:
        error.show()
        return error.code
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        error.show()
        return FAILURE
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe has seen enough; keep the interpreter from flushing into it. (Where
        # the pipe breaks earlier, click ends in the same way.)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    return result if isinstance(result, int) else OK


@click.group(
    "queenright",
    cls=Commands,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "-V", "--version", message="queenright %(version)s")
def main() -> None:
    """Queenright keeps replicated PostgreSQL clusters on Docker Swarm as your files describe them.

    Edit the file, and the operator carries the edit out; its log is the audit trail.
    """
