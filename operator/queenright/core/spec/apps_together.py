"""What is wrong with applications that are each valid but can't live side by side.

Decides from all valid applications at once. Two may share a cluster and nodes, but no port, no
network, no placement label, no database and no place for dumps.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from queenright.core.spec.notes_app import NotesApp
from queenright.core.spec.port_claims import port_findings
from queenright.core.spec.problems import Clash, Document, Finding, Path


def check_apps_together(documents: Sequence[Document]) -> Iterator[Clash]:
    """Findings between any two applications, at the later one."""
    for earlier, later in combinations(documents, 2):
        whose = f"app {earlier.name} ({earlier.origin.file}:{earlier.origin.line})"
        for finding in (
            *port_findings(earlier, later, whose),
            *_objects(earlier.app, later.app, whose),
            *_databases(earlier.app, later.app, whose),
            *_shared_secrets(earlier.app, later.app, whose),
        ):
            yield Clash(earlier, later, finding)


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
        message = f'"{second.url_secret}" is also the database of {whose}; each needs its own'
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
            f'"{second.database.password_secret}" is also the password of {whose}: who learns the '
            "one has the other too; write another name"
        )
        yield Finding(("spec", "database", "passwordSecret"), message, "warning")
    if second.encryption_key.secret == first.encryption_key.secret:
        name = f"{later.metadata.name}_encryption_key"
        message = (
            f'"{second.encryption_key.secret}" is also the key of {whose}: who learns the one has '
            f'the other too; write another name such as "{name}"'
        )
        yield Finding(("spec", "encryptionKey", "secret"), message, "warning")
