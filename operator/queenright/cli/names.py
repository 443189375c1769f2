"""Names that a shell offers: of clusters, documents, members and nodes, out of the files.

Invariant: completion never fails and prints nothing of its own; without files that can be read it
offers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import click

from queenright.cli.exit_codes import CommandError
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.document import Document, documents_of

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]
Naming: TypeAlias = Callable[[Sequence[Document], str | None], Iterable[str]]
"""From the documents, and the cluster that the command line names, to names."""


def completer(naming: Naming) -> Completer:
    """Return a completion of these names, for click."""

    def complete(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
        found = naming(written(context), context.params.get("cluster"))
        return sorted({name for name in found if name.startswith(begun)})

    return complete


def written(context: click.Context) -> Sequence[Document]:
    """Return the documents of the path that the command line names, or of the operator's."""
    # Reading files loads most of the program: only a completion of names waits for that.
    from queenright.cli import read_only  # noqa: PLC0415

    given = context.params.get("manifests") or context.params.get("path")
    try:
        settings = read_only.settings_for_looking(given if isinstance(given, Path) else None)
        return read_only.read_desired(settings, None).documents
    except (CommandError, OSError):
        return ()


def all_names(documents: Sequence[Document], _: str | None) -> Iterable[str]:
    return (document.name for document in documents)


def cluster_names(documents: Sequence[Document], _: str | None) -> Iterable[str]:
    return (document.name for document in documents_of(PostgresCluster, documents))


def member_names(documents: Sequence[Document], cluster: str | None) -> Iterable[str]:
    """Yield the members of a cluster; of all of them if none is named."""
    for document in documents_of(PostgresCluster, documents):
        if cluster in {None, document.name}:
            yield from (member.name for member in document.resource.spec.members)


def node_names(documents: Sequence[Document], _: str | None) -> Iterable[str]:
    """Yield the nodes that clusters name for members or proxies."""
    for document in documents_of(PostgresCluster, documents):
        spec = document.resource.spec
        yield from (member.node for member in spec.members)
        yield from spec.proxies.nodes


any_name = completer(all_names)
cluster_name = completer(cluster_names)
member_name = completer(member_names)
node_name = completer(node_names)
