"""Arguments and options that commands on a live cluster share."""

from __future__ import annotations

import os
from pathlib import Path

import click


class GivenPath(click.Path):
    """A path that a person gives. An empty one, such as a variable of the shell that is not set,
    would be the present directory."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not os.fspath(value):
            self.fail("the path is empty; write one, or leave it out", param, ctx)
        return super().convert(value, param, ctx)


cluster_argument = click.argument("cluster", required=False)
"""Which cluster; without it the only one that the files describe."""

force_option = click.option("--force", is_flag=True, help="Do it without asking.")

json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")

manifests_option = click.option(
    "--manifests",
    type=GivenPath(path_type=Path),
    metavar="PATH",
    help="The files; without it, what QUEENRIGHT_MANIFESTS names.",
)
