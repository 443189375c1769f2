"""``queenright render``: the configs and services that a document expands to."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click
import yaml

from queenright.cli import names, read_only
from queenright.cli.exit_codes import INVALID, OK, CommandError
from queenright.cli.options import GivenPath
from queenright.core.kinds.claims import claims_of
from queenright.core.kinds.kind import Desired, Surroundings
from queenright.core.kinds.members import with_members
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.keepalived_conf import for_host
from queenright.core.kinds.registry import KINDS, key_of, kind_of, of_kind
from queenright.core.manifest.document import Document
from queenright.core.observed import Engine, SwarmState
from queenright.core.planning.faults import DocumentKey
from queenright.core.swarm.objects import Service
from queenright.settings import Settings

EPILOG = """\b
Members without an address of their own have that of their node, which comes
from the swarm; with addresses in the file no swarm is needed.

\b
Exit codes: 0 shown, 64 no such path, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright render cluster.yaml
  queenright render --services | less
  queenright render vip --node node2 > /etc/keepalived/keepalived.conf

\b
For keepalived as a daemon of the hosts, write the password into a file
authentication.conf beside that file (mode 0600): "auth_pass " and the first
8 characters of the secret's value. Its check is images/vip/check-proxy, to be
copied to /usr/local/bin.
"""

VIP = "vip"


@click.command(epilog=EPILOG)
@click.argument(
    "words", metavar="[vip] [PATH]", type=GivenPath(path_type=Path, allow_dash=True), nargs=-1
)
@click.option("--services", is_flag=True, help="Also show the services, as YAML.")
@click.option(
    "--node",
    metavar="NODE",
    help="With vip: only for this node.",
    shell_complete=names.node_name,
)
def render(words: tuple[Path, ...], node: str | None, *, services: bool) -> int:
    """Show the configs that would be deployed.

    They are Patroni's template and HAProxy's configuration, and of applications the edge's.

    With the word vip: keepalived's configuration instead, written out for each node, or for one,
    for hosts on which keepalived runs as a daemon. (A path of that name is ./vip.)
    """
    vip = words[:1] == (Path(VIP),)
    words = words[1:] if vip else words
    if len(words) > 1:
        raise click.UsageError(f"give one path, not {len(words)}")
    if node is not None and not vip:
        raise click.UsageError("--node is an option of `render vip`")
    settings = read_only.settings_for_looking(words[0] if words else None)
    written = read_only.read_files([settings.manifests])
    for problem in written.problems:
        click.echo(str(problem), err=True)
    if not written.is_valid:
        return INVALID
    found = expanded(written.documents, settings)
    if vip:
        for text in vip_texts([*with_members(found).values()], node):
            click.echo(text, nl=False)
        return OK
    for key, desired in found.items():
        for heading, text in KINDS[key.kind].texts(desired):
            click.echo(f"# --- {heading}")
            click.echo(text)
        if services:
            show_services(desired.services)
    return OK


def expanded(documents: Sequence[Document], settings: Settings) -> dict[DocumentKey, Desired]:
    """Return the documents' desired state, kind by kind; the swarm is read if the files do not say
    all that this takes."""
    swarm = SwarmState(Engine())
    if not all(kind_of(one).says_all(one.resource) for one in documents):
        swarm = read_only.seen_swarm(read_only.take_look(settings, ()).observed, settings)
    around = Surroundings(swarm, documents, claims_of(documents))
    found = {}
    for kind in KINDS.values():
        for document in of_kind(kind, documents):
            desired = kind.expand(document, around)
            if desired is None:
                why = kind.why_not_expanded(document, swarm)
                raise CommandError(f"{document.name}: {why}", INVALID)
            found[key_of(document)] = desired
    return found


def vip_texts(clusters: Sequence[DesiredCluster], node: str | None) -> Iterator[str]:
    """Yield keepalived's configuration for one node, or for each with a heading."""
    with_vip = [(cluster, cluster.vip) for cluster in clusters if cluster.vip is not None]
    if not with_vip:
        raise CommandError("no cluster in the files has a spec.vip", INVALID)
    for cluster, vip in with_vip:
        if vip.missing:
            names = ", ".join(vip.missing)
            raise CommandError(f"{cluster.name}: the swarm has no node {names}", INVALID)
    nodes = [name for cluster, _ in with_vip for name in cluster.proxy_nodes]
    if node is not None and node not in nodes:
        known = ", ".join(dict.fromkeys(nodes))
        raise click.UsageError(f"no proxy runs on {node}; their nodes are {known}")
    for cluster, vip in with_vip:
        for name in cluster.proxy_nodes:
            heading = "" if node else f"# --- node {name}\n"
            if node in (None, name):
                yield heading + for_host(vip.config.data.decode(), name)


def show_services(services: Iterable[Service]) -> None:
    for service in services:
        click.echo(f"# --- service {service.name}")
        click.echo(yaml.safe_dump(written_out(service), sort_keys=False, allow_unicode=True))


def written_out(service: Service) -> dict[str, object]:
    """Return a service's fields that are set, by name."""
    blank = Service(name="", image="")
    return {
        field.name: plain(getattr(service, field.name))
        for field in dataclasses.fields(service)
        if getattr(service, field.name) != getattr(blank, field.name)
    }


def plain(value: object) -> object:
    """Return a value as plain YAML data, without empty parts."""
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
