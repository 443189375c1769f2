"""Checks of an application on this swarm, as its nodes are now.

Decides from one valid document and the nodes that swarm lists, as `placement` does for clusters.
"""

from collections.abc import Iterator, Sequence

from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.suggestions import did_you_mean
from queenright.core.observed import Node

PLACED = "true"


def check_placement(app: NotesApp, nodes: Sequence[Node]) -> Iterator[Finding]:
    """Nodes that the file names and the swarm lacks, and labels on nodes that it does not name."""
    spec = app.spec
    names = {node.name: node for node in nodes}
    for path, name in named_nodes(app):
        if name not in names:
            meant = did_you_mean(name, names)
            known = (
                f"; the nodes are {', '.join(sorted(names)[:10])}" if names and not meant else ""
            )
            yield Finding(path, f'no node of this swarm is called "{name}"{meant or known}')
        elif not names[name].is_ready:
            node = names[name]
            state = node.state if node.state != "ready" else f"set to {node.availability}"
            message = f'"{name}" is {state} now; nothing starts there'
            yield Finding(path, message, "warning")
    labels: list[tuple[Path, str, Sequence[str]]] = [
        (("spec", "placement", "label"), spec.placement.label, spec.placement.nodes)
    ]
    if spec.edge is not None:
        labels.append((("spec", "edge", "label"), spec.edge.label, spec.edge.nodes))
    for path, key, wanted in labels:
        for node in nodes:
            if wanted and node.labels.get(key) == PLACED and node.name not in wanted:
                yield Finding(
                    path,
                    f'node "{node.name}" has the label {key}={PLACED} without being listed, so '
                    f"that tasks run there too; list it, or remove the label (docker node update "
                    f"--label-rm {key} {node.name})",
                    "warning",
                )


def named_nodes(app: NotesApp) -> Iterator[tuple[Path, str]]:
    """Every node that the document names, with its field."""
    spec = app.spec
    for index, name in enumerate(spec.placement.nodes):
        yield ("spec", "placement", "nodes", index), name
    for index, name in enumerate(spec.edge.nodes if spec.edge else ()):
        yield ("spec", "edge", "nodes", index), name
    dump = spec.upgrade.dump
    if dump.mode != "none" and dump.node is not None:
        yield ("spec", "upgrade", "dump", "node"), dump.node
