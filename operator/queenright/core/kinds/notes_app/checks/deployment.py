"""Checks of how a notes application runs: times, bounds, places, dumps.

Decides from one valid `NotesApp`, as `checks.app` does for the application's own settings.
"""

from collections.abc import Callable, Iterator

from queenright.core.kinds.notes_app.schema.app import CONNECTIONS_PER_REPLICA, NotesApp
from queenright.core.manifest.memory_checks import memory_findings
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.quantities import MEBI, format_duration, format_size

DUMP_CONNECTIONS = 1
"""The connections of `pg_dump` while it runs."""
STOP_MARGIN_S = 5
"""Time that a replica needs beyond `shutdownTimeout`, to cut requests and close sessions."""

_DUMP: Path = ("spec", "upgrade", "dump")
_GRACE: Path = ("spec", "stopGracePeriod")
_NODES: Path = ("spec", "placement", "nodes")


def _times(app: NotesApp) -> Iterator[Finding]:
    spec = app.spec
    need = spec.shutdown_timeout_s + STOP_MARGIN_S
    if spec.stop_grace_period_s < need:
        message = (
            f"{format_duration(spec.stop_grace_period_s)} is less than shutdownTimeout "
            f"{format_duration(spec.shutdown_timeout_s)} and {STOP_MARGIN_S}s: replicas would be "
            f"killed while they finish; write {need}s or more"
        )
        yield Finding(_GRACE, message, involves=(("spec", "shutdownTimeout"),))
    check: Path = ("spec", "healthCheck")
    for field, seconds in (
        ("interval", spec.health_check.interval_s),
        ("timeout", spec.health_check.timeout_s),
    ):
        if seconds <= 0:
            yield Finding((*check, field), "must be more than 0")
    if spec.health_check.start_period_s == 0:
        message = "0 is to Docker what the image says: write 1s for next to none"
        yield Finding((*check, "startPeriod"), message, "warning")
    notices = spec.health_check.interval_s * spec.health_check.retries
    if spec.update.monitor_s < notices:
        message = (
            f"{format_duration(spec.update.monitor_s)} is less than interval x retries of "
            f"healthCheck = {format_duration(notices)}: a replica that turns bad would be noticed "
            "after the update is done, and not taken back"
        )
        yield Finding(("spec", "update", "monitor"), message, "warning", (check,))


def _bounds(app: NotesApp) -> Iterator[Finding]:
    resources = app.spec.resources
    cpus = resources.cpus
    path: Path = ("spec", "resources")
    yield from memory_findings((*path, "memory"), resources.memory)
    if cpus.limit and cpus.reservation > cpus.limit:
        message = f"{cpus.reservation:g} is more than the limit {cpus.limit:g}"
        limit = ((*path, "cpus", "limit"),)
        yield Finding((*path, "cpus", "reservation"), message, involves=limit)
    if resources.tmp_bytes < MEBI:
        message = f"{format_size(resources.tmp_bytes)} is too small to use; write 1M or more"
        yield Finding((*path, "tmp"), message)


def _replicas(app: NotesApp) -> Iterator[Finding]:
    spec = app.spec
    path: Path = ("spec", "replicas")
    if spec.replicas == 0:
        yield Finding(path, "0 runs nobody: the application is down", "warning")
    elif spec.replicas == 1:
        message = "1 leaves nobody when its node fails, until swarm has started another; write 2"
        yield Finding(path, message, "warning")


def _places(app: NotesApp) -> Iterator[Finding]:
    spec = app.spec
    nodes = spec.placement.nodes
    for index, node in enumerate(nodes):
        if node in nodes[:index]:
            yield Finding((*_NODES, index), f'"{node}" is listed twice; remove one')
    places = len(set(nodes))
    counted = "1 node" if places == 1 else f"{places} nodes"
    if not nodes or spec.publish.mode != "host":
        return
    involved: tuple[Path, ...] = (("spec", "publish"), ("spec", "replicas"))
    if places < spec.replicas:
        message = (
            f"has {counted} for {spec.replicas} replicas that each need a node's port "
            f"{spec.publish.port}; list more nodes, or publish by ingress"
        )
        yield Finding(_NODES, message, involves=involved)


def _order(app: NotesApp) -> Iterator[Finding]:
    """With a host's port no replica starts before the old one has stopped."""
    spec, update = app.spec, app.spec.update
    if spec.publish.mode != "host":
        return
    involved: tuple[Path, ...] = (("spec", "publish"), ("spec", "replicas"))
    if update.order == "start-first" and "order" in update.model_fields_set:
        message = (
            "start-first has no effect with `publish: host`: the old replica has the port, and "
            "stops first; write stop-first, or publish by ingress"
        )
        yield Finding(("spec", "update", "order"), message, "warning", involved)
    if 1 <= spec.replicas <= update.parallelism:
        message = (
            f"{update.parallelism} at once is every replica, and with `publish: host` they stop "
            "before others start: an update leaves nobody; run more replicas than that, or publish "
            "by ingress"
        )
        yield Finding(("spec", "update", "parallelism"), message, "warning", involved)


def _dump(app: NotesApp) -> Iterator[Finding]:
    dump = app.spec.upgrade.dump
    if dump.volume is not None and dump.path is not None:
        message = f'"{dump.path}" and the volume "{dump.volume}": dumps have one place; remove one'
        yield Finding((*_DUMP, "path"), message, involves=((*_DUMP, "volume"),))
    if dump.mode == "none" or app.spec.database.url_secret is None:
        return
    outside: tuple[Path, ...] = (("spec", "database"), (*_DUMP, "mode"))
    if dump.image is None:
        message = (
            "is missing: for a database of no cluster here, an image with `pg_dump` of the "
            "server's version, or `dump: none`"
        )
        yield Finding((*_DUMP, "image"), message, involves=outside)
    if dump.node is None:
        message = "is missing: for a database of no cluster here, the node that keeps the dumps"
        yield Finding((*_DUMP, "node"), message, involves=outside)


def _pause(app: NotesApp) -> Iterator[Finding]:
    """An end belongs to something that has begun."""
    pausing = app.spec.reconcile
    if pausing.state == "active" and pausing.until is not None:
        message = "has no effect on `active`; write `state: paused`, or leave it out"
        yield Finding(("spec", "reconcile", "until"), message, "warning")


DEPLOYMENT_CHECKS: tuple[Callable[[NotesApp], Iterator[Finding]], ...] = (
    _times,
    _bounds,
    _replicas,
    _places,
    _order,
    _dump,
    _pause,
)


def connections_needed(app: NotesApp) -> int:
    """Connections of an application at its busiest: all its replicas, those that start before
    others stop, and a dump (spec: notes-app §8)."""
    update = app.spec.update
    surge = min(update.parallelism, app.spec.replicas) if update.order == "start-first" else 0
    dump = 0 if app.spec.upgrade.dump.mode == "none" else DUMP_CONNECTIONS
    return CONNECTIONS_PER_REPLICA * (app.spec.replicas + surge) + dump
