"""``queenright schema``: print the JSON Schema of a kind."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from queenright.cli.exit_codes import CommandError
from queenright.cli.options import GivenPath
from queenright.core.kinds.json_schema import schema_text
from queenright.core.kinds.registry import KINDS

EPILOG = """\b
Examples:
  queenright schema                      the names of the kinds
  queenright schema PostgresCluster > postgrescluster.schema.json
  queenright schema --output crds        a file for each kind

\b
In a manifest, for editors:
  # yaml-language-server: $schema=postgrescluster.schema.json
"""


class KindName(click.ParamType[str]):
    """A kind's name, in any case; completes."""

    name = "kind"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        named = [kind for kind in kinds() if kind.lower() == value.lower()]
        if not named:
            self.fail(f"unknown kind {value!r}; the kinds are {', '.join(kinds())}", param, ctx)
        return named[0]

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        found = [kind for kind in kinds() if kind.lower().startswith(incomplete.lower())]
        return [CompletionItem(kind) for kind in found]


def kinds() -> list[str]:
    return sorted(KINDS)


@click.command(epilog=EPILOG)
@click.argument("kind", type=KindName(), required=False)
@click.option(
    "-o",
    "--output",
    type=GivenPath(file_okay=False, path_type=Path),
    help="Write a file for each kind into this directory instead.",
)
def schema(kind: str | None, output: Path | None) -> None:
    """Print the JSON Schema of KIND; without one, the names of the kinds."""
    wanted = [KINDS[kind]] if kind else list(KINDS.values())
    if output is not None:
        write(output, {found.schema_file: schema_text(found.model) for found in wanted})
    elif kind:
        click.echo(schema_text(KINDS[kind].model), nl=False)
    else:
        click.echo("\n".join(kinds()))


def write(directory: Path, texts: dict[str, str]) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (directory / name).write_text(text, encoding="utf-8")
            click.echo(directory / name)
    except OSError as error:
        raise CommandError(f"{error.filename or directory}: {error.strerror}") from error
