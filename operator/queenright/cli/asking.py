"""Asking a person before something that can't be taken back.

Invariant: without a terminal nothing is guessed: the command ends, and says what would be right.
"""

from __future__ import annotations

import sys

import click

from queenright.cli.exits import FAILURE, USAGE, CommandError


def confirm(question: str, *, force: bool) -> None:
    """Goes on with a yes, or with ``force``; CommandError otherwise."""
    if force:
        return
    refuse_without_terminal()
    if not click.confirm(question, err=True):
        raise CommandError("nothing was done", FAILURE)


def confirm_by_name(question: str, name: str, *, force: bool) -> None:
    """Goes on when ``name`` is typed in full, or with ``force``."""
    if force:
        return
    refuse_without_terminal()
    typed = click.prompt(
        f"{question}\nType {name} to go on", default="", show_default=False, err=True
    )
    if str(typed).strip() != name:
        raise CommandError(f"{str(typed).strip()!r} is not {name}: nothing was done", FAILURE)


def refuse_without_terminal(
    instead: str = "with --force it is done without asking",
) -> None:
    if not is_terminal():
        raise CommandError(f"there is no terminal to ask at; {instead}", USAGE)


def is_terminal() -> bool:
    return sys.stdin.isatty()
