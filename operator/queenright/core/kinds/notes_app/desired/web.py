"""The service of an application's replicas: every property, from the document alone.

Decides environment, hardening, health, update and placement (spec: notes-app §2.1, §2.4, §3, §8).
Invariant: no secret's value is in the environment; each is a file that a ``_FILE`` variable names.
"""

from __future__ import annotations

from typing import Literal

from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.schema.containers import NANOS_PER_CPU
from queenright.core.kinds.postgres_cluster.desired.services import SECRET_MODE, scratch
from queenright.core.manifest.quantities import MEBI
from queenright.core.swarm.objects import (
    APP_LABEL,
    DATABASE_LABEL,
    ROLE_LABEL,
    STACK_LABEL,
    Attachment,
    FileReference,
    HealthCheck,
    Port,
    Resources,
    RestartPolicy,
    Service,
    UpdatePolicy,
)

APP_ID = "10001"
"""User and group of the application in its image (images/notes: DEPLOYMENT.md)."""
SECRETS = "/run/secrets"
URL_FILE = "app_database_url"
KEY_FILE = "app_encryption_key"
"""Names of the mounted secrets (spec: notes-app §2.3)."""
OIDC_FILE = "app_oidc_client_secret"


def web_name(app: str) -> str:
    return f"{app}_web"


def web_service(app: NotesApp, url_secret: str) -> Service:
    name, spec = app.metadata.name, app.spec
    restart, memory, cpus = spec.restart_policy, spec.resources.memory, spec.resources.cpus
    labels = {APP_LABEL: name, STACK_LABEL: name, ROLE_LABEL: "web"}
    if spec.database.cluster:
        labels[DATABASE_LABEL] = spec.database.cluster
    return Service(
        name=web_name(name),
        image=spec.image,
        replicas=spec.replicas,
        labels=labels,
        container_labels={APP_LABEL: name, STACK_LABEL: name},
        environment=environment(app),
        init=True,
        read_only=True,
        stop_grace_s=float(spec.stop_grace_period_s),
        capabilities_dropped=("ALL",),
        networks=(Attachment(spec.network.name, ("web",)),),
        constraints=(f"node.labels.{spec.placement.label}==true",) if spec.placement.nodes else (),
        endpoint_mode=endpoint_mode(app),
        ports=published_ports(app),
        mounts=(scratch("/tmp", spec.resources.tmp_bytes),),  # noqa: S108  # the contract's mount
        secrets=secret_files(app, url_secret),
        health_check=health_check(app),
        resources=Resources(
            memory.limit_bytes,
            memory.reservation_bytes,
            round(cpus.limit * NANOS_PER_CPU),
            round(cpus.reservation * NANOS_PER_CPU),
        ),
        restart=RestartPolicy(
            restart.condition,
            float(restart.delay_s),
            restart.max_attempts,
            float(restart.window_s),
        ),
        update=update_policy(app),
        rollback=UpdatePolicy(
            parallelism=spec.update.parallelism,
            order=order_of(app),
            monitor_s=float(spec.update.monitor_s),
        ),
    )


def publish_mode(app: NotesApp) -> str:
    """Publish mode of the port: none behind the edge, unless the file says so."""
    spec = app.spec
    if getattr(spec, "edge", None) is not None and "publish" not in spec.model_fields_set:
        return "none"
    return spec.publish.mode


def endpoint_mode(app: NotesApp) -> Literal["vip", "dnsrr"]:
    return "vip" if publish_mode(app) == "ingress" else "dnsrr"


def published_ports(app: NotesApp) -> tuple[Port, ...]:
    match publish_mode(app):
        case "host":
            return (Port(app.spec.publish.port, app.spec.port, mode="host"),)
        case "ingress":
            return (Port(app.spec.publish.port, app.spec.port, mode="ingress"),)
        case _:
            return ()


def order_of(app: NotesApp) -> str:
    """Start-first with a host-mode port never proceeds: the old task still has the port."""
    return "stop-first" if publish_mode(app) == "host" else app.spec.update.order


def update_policy(app: NotesApp) -> UpdatePolicy:
    update = app.spec.update
    return UpdatePolicy(
        parallelism=update.parallelism,
        delay_s=float(update.delay_s),
        order=order_of(app),
        failure_action=update.failure_action,
        monitor_s=float(update.monitor_s),
    )


def health_check(app: NotesApp) -> HealthCheck:
    """The image's own test (an empty one inherits it), at the file's intervals."""
    check = app.spec.health_check
    return HealthCheck(
        test=(),
        interval_s=float(check.interval_s),
        timeout_s=float(check.timeout_s),
        start_period_s=float(check.start_period_s),
        retries=check.retries,
    )


def secret_files(app: NotesApp, url_secret: str) -> tuple[FileReference, ...]:
    files = [(url_secret, URL_FILE), (app.spec.encryption_key.secret, KEY_FILE)]
    if app.spec.oidc:
        files.append((app.spec.oidc.client_secret, OIDC_FILE))
    return tuple(
        sorted(FileReference(name, target, APP_ID, APP_ID, SECRET_MODE) for name, target in files)
    )


def environment(app: NotesApp) -> dict[str, str]:
    """The variables of §2.1 that the file sets; the application's own default stands for others,
    except where an image may have been built with another one."""
    spec = app.spec
    found = {
        "DATABASE_URL_FILE": f"{SECRETS}/{URL_FILE}",
        "APP_ENCRYPTION_KEY_FILE": f"{SECRETS}/{KEY_FILE}",
        "ORIGIN": spec.origin,
        "PORT": str(spec.port),
        "HOST": spec.host,
        "MAX_ATTACHMENT_MB": str(spec.max_attachment_bytes // MEBI),
        "BODY_SIZE_LIMIT": str(spec.body_size_limit_bytes),
        "SHUTDOWN_TIMEOUT": f"{spec.shutdown_timeout_s:g}",
    }
    if spec.extra_hosts:
        found["APP_EXTRA_HOSTS"] = ",".join(spec.extra_hosts)
    return found | single_sign_on(app) | proxy_headers(app)


def single_sign_on(app: NotesApp) -> dict[str, str]:
    oidc = app.spec.oidc
    if oidc is None:
        return {}
    found = {
        "OIDC_ISSUER": oidc.issuer,
        "OIDC_CLIENT_ID": oidc.client_id,
        "OIDC_CLIENT_SECRET_FILE": f"{SECRETS}/{OIDC_FILE}",
    }
    if oidc.groups_claim:
        found["OIDC_GROUPS_CLAIM"] = oidc.groups_claim
    if oidc.admin_group:
        found["OIDC_ADMIN_GROUP"] = oidc.admin_group
    return found


def proxy_headers(app: NotesApp) -> dict[str, str]:
    """The headers that only a proxy sets; behind the edge they are those that it overwrites."""
    spec = app.spec
    behind_edge = getattr(spec, "edge", None) is not None
    named = {
        "PROTOCOL_HEADER": spec.protocol_header or ("X-Forwarded-Proto" if behind_edge else None),
        "HOST_HEADER": spec.host_header,
        "ADDRESS_HEADER": spec.address_header or ("X-Forwarded-For" if behind_edge else None),
    }
    found = {name: value for name, value in named.items() if value}
    if "ADDRESS_HEADER" in found:
        found["XFF_DEPTH"] = str(spec.xff_depth)
    return found
