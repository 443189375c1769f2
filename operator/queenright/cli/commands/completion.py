"""``queenright completion``: the script with which a shell completes commands and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

EPILOG = """\b
Examples:
  bash:  echo 'eval "$(queenright completion bash)"' >> ~/.bashrc
  zsh:   echo 'eval "$(queenright completion zsh)"' >> ~/.zshrc
  fish:  queenright completion fish > ~/.config/fish/completions/queenright.fish
"""


@click.command(epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a SHELL: commands, options, kinds, files, names in them."""
    kind = get_completion_class(shell)
    assert kind is not None, "the choice allows only shells that click knows"  # noqa: S101
    script = kind(context.find_root().command, {}, "queenright", "_QUEENRIGHT_COMPLETE")
    click.echo(script.source())
