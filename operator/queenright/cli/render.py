"""``queenright render``: the texts and services that a document comes to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import yaml

from queenright.cli import look
from queenright.cli.exits import INVALID, OK, CommandError
from queenright.core.desired import DesiredCluster, expand
from queenright.core.planner import expand_here
from queenright.core.resources import Service
from queenright.core.spec.problems import Document

EPILOG = """\b
Members without an address of their own have that of their node, which the
swarm is asked for; with addresses in the file no swarm is needed.

\b
Exit codes: 0 shown, 64 no such path, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright render cluster.yaml
  queenright render --services | less
"""


@click.command(epilog=EPILOG)
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True), required=False)
@click.option("--services", is_flag=True, help="Also the services, as YAML.")
def render(path: Path | None, *, services: bool) -> int:
    """Show the configs that would be deployed: Patroni's template and HAProxy's configuration."""
    settings = look.settings_for_looking(path)
    written = look.read_files([settings.manifests])
    for problem in written.problems:
        click.echo(str(problem), err=True)
    if not written.is_valid:
        return INVALID
    if all(has_addresses(document) for document in written.documents):
        clusters = [expand(document.cluster, {}) for document in written.documents]
    else:
        swarm = look.seen_swarm(look.take_look(settings, ()), settings)
        clusters = [
            expand_here(document, swarm) or missing_node(document, [n.name for n in swarm.nodes])
            for document in written.documents
        ]
    for cluster in clusters:
        show_configs(cluster)
        if services:
            show_services(cluster)
    return OK


def has_addresses(document: Document) -> bool:
    return all(member.address for member in document.cluster.spec.members)


def missing_node(document: Document, known: Sequence[str]) -> DesiredCluster:
    wanted = {m.node for m in document.cluster.spec.members if not m.address}
    names = ", ".join(sorted(wanted - set(known)))
    raise CommandError(
        f"{document.name}: the swarm has no node {names}, so that its member's address is not "
        f"known; there are {', '.join(sorted(known))}",
        INVALID,
    )


def show_configs(cluster: DesiredCluster) -> None:
    for config in (cluster.template, cluster.follower_template, cluster.haproxy, cluster.route):
        click.echo(f"# --- config {config.name}")
        click.echo(config.data.decode())


def show_services(cluster: DesiredCluster) -> None:
    for service in cluster.services:
        click.echo(f"# --- service {service.name}")
        click.echo(yaml.safe_dump(written_out(service), sort_keys=False, allow_unicode=True))


def written_out(service: Service) -> dict[str, object]:
    """A service's fields that are set, by name."""
    blank = Service(name="", image="")
    return {
        field.name: plain(getattr(service, field.name))
        for field in dataclasses.fields(service)
        if getattr(service, field.name) != getattr(blank, field.name)
    }


def plain(value: object) -> object:
    """A value as YAML can say it, without what is empty."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        if "mode" in fields and isinstance(fields["mode"], int):
            fields["mode"] = f"{fields['mode']:04o}"
        return {name: item for name, item in fields.items() if item not in ("", [], {}, None)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value
