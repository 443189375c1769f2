"""Arguments and options that commands on a live cluster share."""

from __future__ import annotations

from pathlib import Path

import click

cluster_argument = click.argument("cluster", required=False)
"""Which cluster; without it the only one that the files describe."""

force_option = click.option("--force", is_flag=True, help="Do it without asking.")

json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")

manifests_option = click.option(
    "--manifests",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The files; without it, what QUEENRIGHT_MANIFESTS names.",
)
