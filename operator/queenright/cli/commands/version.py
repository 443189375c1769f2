"""``queenright version``: print the version."""

from __future__ import annotations

import click

from queenright import __version__


@click.command(epilog="\b\nExample:\n  queenright version")
def version() -> None:
    """Print the version."""
    click.echo(f"queenright {__version__}")
