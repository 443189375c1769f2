"""The swarm secrets that an application's document names, each with its field."""

from collections.abc import Iterator

from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.schema.edge import Edge
from queenright.core.manifest.problems import Path


def secrets_of(app: NotesApp) -> Iterator[tuple[Path, str | None]]:
    """Those that are given to its containers; None where the field is not written."""
    spec, database = app.spec, ("spec", "database")
    yield (*database, "passwordSecret"), spec.database.password_secret
    yield (*database, "urlSecret"), spec.database.url_secret
    yield ("spec", "encryptionKey", "secret"), spec.encryption_key.secret
    yield ("spec", "oidc", "clientSecret"), spec.oidc.client_secret if spec.oidc else None
    if spec.edge is not None:
        yield from _edges(spec.edge)


def _edges(edge: Edge) -> Iterator[tuple[Path, str | None]]:
    """Secrets of the edge; the edge's checks report a certificate and key under one name."""
    tls: Path = ("spec", "edge", "tls")
    yield (*tls, "directoryRoot"), edge.tls.directory_root
    yield (*tls, "certificate"), edge.tls.certificate
    if edge.tls.key != edge.tls.certificate:
        yield (*tls, "key"), edge.tls.key
