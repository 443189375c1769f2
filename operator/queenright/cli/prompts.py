"""Ask a person to confirm a step that can't be undone.

Invariant: without a terminal nothing is guessed: the command ends with the option to use.
"""

from __future__ import annotations

import sys

import click

from queenright.cli.exit_codes import FAILURE, USAGE, CommandError


def confirm(question: str, *, force: bool) -> None:
    """Return after a yes, or with ``force``; CommandError otherwise."""
    if force:
        return
    refuse_without_terminal()
    if not click.confirm(question, err=True):
        raise CommandError("not confirmed; nothing was done", FAILURE)


def confirm_by_name(question: str, name: str, *, force: bool) -> None:
    """Return if ``name`` is typed in full, or with ``force``."""
    if force:
        return
    refuse_without_terminal()
    typed = click.prompt(
        f"{question}\nType {name} to go on", default="", show_default=False, err=True
    )
    if str(typed).strip() != name:
        raise CommandError(f"{str(typed).strip()!r} is not {name}: nothing was done", FAILURE)


def refuse_without_terminal(
    instead: str = "use --force to go on without a question",
) -> None:
    if not is_terminal():
        raise CommandError(f"no terminal to ask for confirmation; {instead}", USAGE)


def is_terminal() -> bool:
    return sys.stdin.isatty()
