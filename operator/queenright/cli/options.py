"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path

import click

from queenright.cli import names


class GivenPath(click.Path):
    """A path from a person. An empty one, such as an unset variable of the shell, would otherwise
    be the present directory."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not os.fspath(value):
            self.fail("the path is empty; write one, or leave it out", param, ctx)
        return super().convert(value, param, ctx)


cluster_argument = click.argument("cluster", required=False, shell_complete=names.cluster_name)
"""The cluster's name; without it the only cluster that the files describe."""

force_option = click.option("--force", is_flag=True, help="Do not ask for confirmation.")

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

manifests_option = click.option(
    "--manifests",
    type=GivenPath(path_type=Path),
    metavar="PATH",
    help="File or directory; by default QUEENRIGHT_MANIFESTS.",
)
