"""Checks between applications that are each valid but can't exist side by side.

Decides from all valid applications at once. Two may share a cluster and nodes, but no port, no
network, no placement label, no database and no place for dumps.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.manifest.document import Clash, Document
from queenright.core.manifest.identity import Identity
from queenright.core.manifest.port_claims import PortClaim, port_findings
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.remembered import MOST_DOCUMENTS
from queenright.core.manifest.shared_objects import Marks, meeting, named, ports, ranges


def check_apps_together(documents: Sequence[Document[NotesApp]]) -> Iterator[Clash]:
    """Findings between any two applications, at the later one."""
    for earlier, later in meeting(documents, marks_of):
        whose = f"app {earlier.name} ({earlier.origin.file}:{earlier.origin.line})"
        for finding in findings_between(earlier.resource, later.resource, whose):
            yield Clash(earlier, later, finding)


def findings_between(first: NotesApp, second: NotesApp, whose: str) -> Iterator[Finding]:
    """Findings at the second of two applications."""
    yield from port_findings([*port_claims(first)], port_claims(second), whose)
    yield from _objects(first, second, whose)
    yield from _databases(first, second, whose)
    yield from _shared_secrets(first, second, whose)


@lru_cache(maxsize=MOST_DOCUMENTS)
def marks_of(same: Identity[Document[NotesApp]]) -> Marks:
    """Everything in which ``findings_between`` may find that two applications meet."""
    app = same.value.resource
    spec = app.spec
    return (
        ports(*port_claims(app))
        | named("network", spec.network.name)
        | ranges(spec.network.subnet)
        | named("label", *_labels(app))
        | named("dumps", spec.upgrade.dump.volume)
        | named("url", spec.database.url_secret)
        | named("database", (spec.database.cluster, spec.database.name))
        | named("role", (spec.database.cluster, spec.database.role))
        | named("password", spec.database.password_secret)
        | named("key", spec.encryption_key.secret)
    ).compact()


def port_claims(app: NotesApp) -> Iterator[PortClaim]:
    """Every port that an application asks for."""
    spec = app.spec
    if spec.publish.mode != "none":
        path: Path = ("spec", "publish", "port")
        yield _claim(path, spec.publish.port, spec.publish.mode, spec.placement.nodes)
    if spec.edge is not None:
        for field, port in (("http", spec.edge.ports.http), ("https", spec.edge.ports.https)):
            edge: Path = ("spec", "edge", "ports", field)
            if field == "https" and spec.edge.tls.mode == "off":
                continue  # which publishes none
            yield _claim(edge, port, spec.edge.publish, spec.edge.nodes)


def _claim(path: Path, port: int, mode: str, nodes: Sequence[str]) -> PortClaim:
    if mode == "ingress":
        return PortClaim(path, port, is_everywhere=True)
    return PortClaim(path, port, frozenset(nodes))


def _labels(app: NotesApp) -> dict[str, Path]:
    labels: dict[str, Path] = {app.spec.placement.label: ("spec", "placement", "label")}
    if app.spec.edge is not None:
        labels[app.spec.edge.label] = ("spec", "edge", "label")
    return labels


def _objects(earlier: NotesApp, later: NotesApp, whose: str) -> Iterator[Finding]:
    first, second = earlier.spec.network, later.spec.network
    if first.name == second.name:
        message = f'"{second.name}" is also the network of {whose}; write another name'
        yield Finding(("spec", "network", "name"), message)
    if first.subnet and second.subnet and first.subnet.overlaps(second.subnet):
        message = f"{second.subnet} overlaps the {first.subnet} of {whose}; write another range"
        yield Finding(("spec", "network", "subnet"), message)
    taken = _labels(earlier)
    for label, path in _labels(later).items():
        if label in taken:
            message = f'"{label}" also places the tasks of {whose}; write another key'
            yield Finding(path, message)
    yield from _dumps(earlier, later, whose)


def _dumps(earlier: NotesApp, later: NotesApp, whose: str) -> Iterator[Finding]:
    first, second = earlier.spec.upgrade.dump, later.spec.upgrade.dump
    if "none" in {first.mode, second.mode} or first.path or second.path:
        return
    if second.volume is not None and second.volume == first.volume:
        message = (
            f'"{second.volume}" also keeps the dumps of {whose}: who reads the one reads the '
            "other; write another name"
        )
        yield Finding(("spec", "upgrade", "dump", "volume"), message, "warning")


def _databases(earlier: NotesApp, later: NotesApp, whose: str) -> Iterator[Finding]:
    first, second = earlier.spec.database, later.spec.database
    path: Path = ("spec", "database")
    if second.url_secret is not None and second.url_secret == first.url_secret:
        message = f"is also the database of {whose}; each needs its own"
        yield Finding((*path, "urlSecret"), message)
    if second.cluster is None or second.cluster != first.cluster:
        return
    for field, one, other in (
        ("name", first.name, second.name),
        ("role", first.role, second.role),
    ):
        if one == other:
            what = "database" if field == "name" else "role"
            message = f'"{other}" in cluster {second.cluster} is also the {what} of {whose}'
            yield Finding((*path, field), f"{message}; write another name")


def _shared_secrets(earlier: NotesApp, later: NotesApp, whose: str) -> Iterator[Finding]:
    first, second = earlier.spec, later.spec
    if second.database.password_secret in {first.database.password_secret} - {None}:
        message = (
            f"is also the password of {whose}: who learns the "
            "one has the other too; write another name"
        )
        yield Finding(("spec", "database", "passwordSecret"), message, "warning")
    if second.encryption_key.secret == first.encryption_key.secret:
        name = f"{later.metadata.name}_encryption_key"
        message = (
            f"is also the key of {whose}: who learns the one has "
            f'the other too; write another name such as "{name}"'
        )
        yield Finding(("spec", "encryptionKey", "secret"), message, "warning")
