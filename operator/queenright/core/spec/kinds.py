"""The kinds of document. A new kind is one entry in `KINDS`.

Decides, for an `apiVersion` and `kind`, which model a document has to fit and which checks it and
its like have to pass.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from queenright.core.spec.app_checks import check_app
from queenright.core.spec.apps_together import check_apps_together
from queenright.core.spec.checks import check_cluster
from queenright.core.spec.document import API_VERSION, Resource
from queenright.core.spec.notes_app import NotesApp
from queenright.core.spec.postgres_cluster import PostgresCluster
from queenright.core.spec.problems import Clash, Document, Finding
from queenright.core.spec.together import check_clusters_together


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind: its model, its checks of one document, and its checks between documents."""

    model: type[Resource]
    check: Callable[[Any], Iterable[Finding]]
    check_together: Callable[[Sequence[Document]], Iterable[Clash]]

    @property
    def name(self) -> str:
        return self.model.KIND

    @property
    def schema_file(self) -> str:
        """File name of its JSON Schema."""
        return f"{self.name.lower()}.schema.json"


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Kind(PostgresCluster, check_cluster, check_clusters_together),
            Kind(NotesApp, check_app, check_apps_together),
        )
    }
)

API_VERSIONS = (API_VERSION,)
