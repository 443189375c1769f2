"""``queenright render``: the texts and services that a document comes to."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click
import yaml

from queenright.cli import look
from queenright.cli.exits import INVALID, OK, CommandError
from queenright.cli.options import GivenPath
from queenright.core.app.desired import DesiredApp, SwarmFacts, expand_app
from queenright.core.app.planner import cluster_of, expand_app_here
from queenright.core.desired import DesiredCluster, expand
from queenright.core.observed import Engine, SwarmState
from queenright.core.planner import expand_here
from queenright.core.render.keepalived_conf import for_host
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
  queenright render vip --node node2 > /etc/keepalived/keepalived.conf

\b
Where keepalived runs as a daemon of the hosts, write the password, beside
that file, into authentication.conf (mode 0600): "auth_pass " and the first
8 characters of the secret's value. Its check is images/vip/check-proxy, to be
put into /usr/local/bin.
"""

VIP = "vip"


@click.command(epilog=EPILOG)
@click.argument(
    "words", metavar="[vip] [PATH]", type=GivenPath(path_type=Path, allow_dash=True), nargs=-1
)
@click.option("--services", is_flag=True, help="Also the services, as YAML.")
@click.option("--node", metavar="NODE", help="With vip: for this node alone.")
def render(words: tuple[Path, ...], node: str | None, *, services: bool) -> int:
    """Show the configs that would be deployed: Patroni's template and HAProxy's configuration, and
    of applications the edge's.

    With the word vip, keepalived's configuration in its place, written out for each node, or for
    one: for hosts on which keepalived runs as a daemon. (A path of that name is ./vip.)
    """
    vip = words[:1] == (Path(VIP),)
    words = words[1:] if vip else words
    if len(words) > 1:
        raise click.UsageError(f"one path, not {len(words)}")
    if node is not None and not vip:
        raise click.UsageError("--node is an option of `render vip`")
    settings = look.settings_for_looking(words[0] if words else None)
    written = look.read_files([settings.manifests])
    for problem in written.problems:
        click.echo(str(problem), err=True)
    if not written.is_valid:
        return INVALID
    documents = [document for document in written.documents if document.is_cluster]
    swarm = SwarmState(Engine())
    if all(has_addresses(document) for document in documents):
        clusters = [expand(document.cluster, {}) for document in documents]
    else:
        swarm = look.seen_swarm(look.take_look(settings, ()), settings)
        clusters = [
            expand_here(document, swarm) or missing_node(document, [n.name for n in swarm.nodes])
            for document in documents
        ]
    if vip:
        for text in vip_texts(clusters, node):
            click.echo(text, nl=False)
        return OK
    for cluster in clusters:
        show_configs(cluster)
        if services:
            show_services(cluster.services)
    for document in written.documents:
        if document.is_app:
            show_app(app_here(document, documents, swarm), services=services)
    return OK


def app_here(document: Document, clusters: Sequence[Document], swarm: SwarmState) -> DesiredApp:
    """On this swarm, or, where none was asked, with the addresses that the cluster's file has."""
    found = cluster_of(document, clusters)
    if swarm.nodes or found is None:
        return expand_app_here(document, clusters, swarm)
    members = found.cluster.spec.members
    addresses = {member.node: member.address for member in members if member.address}
    return expand_app(document.app, found.cluster, SwarmFacts(addresses=addresses))


def show_app(app: DesiredApp, *, services: bool) -> None:
    """The application's configs, and its connection string without the password. The name of the
    string's secret depends on the password's in the swarm."""
    if app.url is not None:
        told = (
            app.url.text if app.url.hosts else "not known: the proxies' addresses are the swarm's"
        )
        click.echo(f"# --- connection string of {app.name}")
        click.echo(f"# {told}")
    for config in app.configs:
        click.echo(f"# --- config {config.name}")
        click.echo(config.data.decode())
    if services:
        show_services(app.services)


def has_addresses(document: Document) -> bool:
    spec = document.cluster.spec
    known = {member.node for member in spec.members if member.address}
    peers = {*spec.proxies.nodes} if spec.vip is not None else set[str]()
    return known >= peers | {member.node for member in spec.members}


def vip_texts(clusters: Sequence[DesiredCluster], node: str | None) -> Iterator[str]:
    """keepalived's configuration for one node, or for each under a heading."""
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
        raise click.UsageError(f"{node} is none of the proxies' nodes, which are {known}")
    for cluster, vip in with_vip:
        for name in cluster.proxy_nodes:
            heading = "" if node else f"# --- node {name}\n"
            if node in (None, name):
                yield heading + for_host(vip.config.data.decode(), name)


def missing_node(document: Document, known: Sequence[str]) -> DesiredCluster:
    wanted = {m.node for m in document.cluster.spec.members if not m.address}
    names = ", ".join(sorted(wanted - set(known)))
    raise CommandError(
        f"{document.name}: the swarm has no node {names}, so that its member's address is not "
        f"known; there are {', '.join(sorted(known))}",
        INVALID,
    )


def show_configs(cluster: DesiredCluster) -> None:
    vip = () if cluster.vip is None else (cluster.vip.config,)
    shown = (cluster.template, cluster.follower_template, cluster.haproxy, cluster.route, *vip)
    for config in shown:
        click.echo(f"# --- config {config.name}")
        click.echo(config.data.decode())


def show_services(services: Iterable[Service]) -> None:
    for service in services:
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
