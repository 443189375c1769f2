"""The command line's entry: the commands by name, and their exit codes.

A command's module is imported when it is called, so that help and completion are quick and ``run``
loads nothing that only people need.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from queenright import __version__
from queenright.cli.exit_codes import FAILURE, INTERRUPTED, OK, USAGE, CommandError

COMMANDS = {
    "run": (
        "run:run",
        "Keep the swarm as the files describe it, until stopped.",
    ),
    "plan": (
        "plan:plan",
        "Show what the operator would do now, what is held, and why.",
    ),
    "status": (
        "status:status",
        "Show members, proxies, holds and last actions.",
    ),
    "dashboard": (
        "dashboard:dashboard",
        "Show the state of everything in a browser.",
    ),
    "explain": (
        "explain:explain",
        "Show why something was done, held or refused.",
    ),
    "list": ("list:list_members", "Show the members: role, state, lag."),
    "switchover": (
        "switchover:switchover",
        "Make another member the leader, without losing data.",
    ),
    "failover": (
        "failover:failover",
        "Make a member the leader in an emergency.",
    ),
    "pause": ("pause:pause", "Suspend Patroni's automatic management."),
    "resume": ("pause:resume", "Resume Patroni's automatic management."),
    "history": (
        "history:history",
        "Show the changes of leader, with their causes.",
    ),
    "data-end": (
        "data_end:data_end",
        "Show where each member's data end.",
    ),
    "backup": (
        "backup:backup",
        "List the base backups, show one, or ask for one.",
    ),
    "restore": (
        "restore:restore",
        "Restore a cluster in place, from its own backup.",
    ),
    "edit-config": (
        "edit_config:edit_config",
        "Change Patroni's settings by hand.",
    ),
    "restart": (
        "restart:restart",
        "Restart PostgreSQL where parameters need it.",
    ),
    "create-db": ("create_db:create_db", "Create a database and its user."),
    "validate": (
        "validate:validate",
        "Check files: every problem on a line of its own.",
    ),
    "render": ("render:render", "Show the configs that would be deployed."),
    "schema": ("schema:schema", "Print a kind's JSON Schema, for editors."),
    "audit": ("audit:audit", "Verify or show the audit trail."),
    "completion": (
        "completion:completion",
        "Print a shell's completion script.",
    ),
    "version": ("version:version", "Print the version."),
}

EPILOG = """\b
Exit codes:
  0   success (plan: nothing to do)
  1   failed or refused, or the audit trail is broken
  2   plan only: there are actions or holds
  64  the command line or an environment variable is wrong
  65  the manifests are not valid
  69  the swarm can't be reached or used from here

\b
Examples:
  queenright validate cluster.yaml
  queenright plan
  queenright status --watch
  queenright explain member-2
  queenright switchover --candidate member-2
  DOCKER_HOST=tcp://10.0.0.5:2375 queenright status
"""


class Commands(click.Group):
    """Commands by name, imported when needed; every result has a documented exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(
            importlib.import_module(f"queenright.cli.commands.{module}"), name
        )
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        extra["standalone_mode"] = False
        sys.exit(exit_code_of(lambda: super(Commands, self).main(*args, **extra)))


def exit_code_of(command: Callable[[], object]) -> int:
    """Run a command; return the exit code of its result or error, and print the error."""
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
        # The reader of a pipe has closed it; keep the interpreter from flushing into it. (If the
        # pipe breaks earlier, click ends in the same way.)
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

    Edit the file, and the operator applies the edit; its log is the audit trail.
    """
