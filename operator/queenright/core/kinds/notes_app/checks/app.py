"""Checks of a notes application that need more than one field.

Decides from one valid `NotesApp`. Each check is independent and reports every place that it finds;
what works but is likely a mistake is a warning.
"""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from queenright.core.kinds.notes_app.checks.deployment import DEPLOYMENT_CHECKS
from queenright.core.kinds.notes_app.checks.edge import check_edge
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.schema.secrets import secrets_of
from queenright.core.kinds.postgres_cluster.checks.cluster import SWARM_PORTS
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.quantities import MEBI, format_size

Check = Callable[[NotesApp], Iterator[Finding]]

CHUNK_BYTES = 4 * MEBI
"""Longest silence of a client (spec: notes-app §2, §8)."""
SMALL_BODY_BYTES = 8 * MEBI
"""Enough without large imports (spec: notes-app §8)."""
MOST_ATTACHMENT_BYTES = 1_048_576 * MEBI
"""Largest value of `MAX_ATTACHMENT_MB` that the application accepts."""

_DATABASE: Path = ("spec", "database")
_PUBLISH: Path = ("spec", "publish")


def check_app(app: NotesApp) -> Iterator[Finding]:
    """Every finding of every check."""
    for check in CHECKS:
        yield from check(app)


def _version_pinned(app: NotesApp) -> Iterator[Finding]:
    image = app.spec.image
    _, _, tag = image.rpartition("/")[2].partition(":")
    if "@" in image or tag not in {"", "latest"}:
        return
    what = "has the tag latest" if tag else "has no tag, which means latest"
    message = (
        f'"{image}" {what}: what runs would change unseen, and nothing to go back to has a name; '
        "write a version such as :1.0.100"
    )
    yield Finding(("spec", "image"), message, "warning")


def _plain_http(app: NotesApp) -> Iterator[Finding]:
    spec = app.spec
    if spec.origin.startswith("http:") and spec.protocol_header is None:
        message = (
            f'"{spec.origin}" is plain HTTP, which the application takes for https without '
            "protocolHeader, and then refuses every login form; write an https URL, or the "
            "protocolHeader that a proxy sets"
        )
        yield Finding(("spec", "origin"), message, involves=(("spec", "protocolHeader"),))


def _headers_trusted(app: NotesApp) -> Iterator[Finding]:
    """Proxy variables only where the proxy is the only way, and overwrites them."""
    spec = app.spec
    is_fronted = spec.behind_proxy or spec.edge is not None
    involved: tuple[Path, ...] = (("spec", "behindProxy"), ("spec", "edge"))
    for field, header in (
        ("protocolHeader", spec.protocol_header),
        ("hostHeader", spec.host_header),
        ("addressHeader", spec.address_header),
    ):
        if header is not None and not is_fronted:
            message = (
                f'"{header}" could be sent by any client: write behindProxy: true where a proxy '
                "is the only way to the application and overwrites it, or use the edge"
            )
            yield Finding(("spec", field), message, involves=involved)
    headers: Path = ("spec", "addressHeader")
    if spec.address_header is None and spec.xff_depth != 1:
        message = "has no effect without addressHeader, the header that lists the clients"
        yield Finding(("spec", "xffDepth"), message, "warning", (headers,))
    if spec.behind_proxy and spec.address_header is None:
        message = (
            "without addressHeader all who come through the proxy share one allowance of logins; "
            "write the header that it sets, such as X-Forwarded-For"
        )
        yield Finding(("spec", "behindProxy"), message, "warning", (headers,))


def _hosts(app: NotesApp) -> Iterator[Finding]:
    main = urlsplit(app.spec.origin).netloc
    hosts = app.spec.extra_hosts
    for index, host in enumerate(hosts):
        path: Path = ("spec", "extraHosts", index)
        if host == main:
            message = f'"{host}" is the host of origin, and served in any case; remove it'
            yield Finding(path, message, "warning", (("spec", "origin"),))
        elif host in hosts[:index]:
            yield Finding(path, f'"{host}" is listed twice; remove one', "warning")


def _single_sign_on(app: NotesApp) -> Iterator[Finding]:
    oidc = app.spec.oidc
    if oidc is None:
        return
    if oidc.admin_group is not None and oidc.groups_claim is None:
        message = "needs groupsClaim, the claim that lists a person's groups"
        yield Finding(("spec", "oidc", "adminGroup"), message)
    if oidc.issuer.startswith("http:"):
        message = f'"{oidc.issuer}" is plain HTTP: who is between the two signs in as anybody'
        yield Finding(("spec", "oidc", "issuer"), message, "warning")


def _sizes(app: NotesApp) -> Iterator[Finding]:
    spec = app.spec
    body: Path = ("spec", "bodySizeLimit")
    size = format_size(spec.body_size_limit_bytes)
    if spec.body_size_limit_bytes <= CHUNK_BYTES:
        message = (
            f"{size} holds no chunk of an upload, which is 4M and a little more; 256M is usual"
        )
        yield Finding(body, message)
    elif spec.body_size_limit_bytes < SMALL_BODY_BYTES:
        message = f"{size} is below 8M, from which on files are sent in chunks (spec: §8)"
        yield Finding(body, message, "warning")
    attachment: Path = ("spec", "maxAttachment")
    size = format_size(spec.max_attachment_bytes)
    if spec.max_attachment_bytes % MEBI or spec.max_attachment_bytes == 0:
        yield Finding(attachment, f"must be whole megabytes such as 1024M, not {size}")
    elif spec.max_attachment_bytes > MOST_ATTACHMENT_BYTES:
        yield Finding(attachment, f"must be at most {format_size(MOST_ATTACHMENT_BYTES)}")


def _database(app: NotesApp) -> Iterator[Finding]:
    database = app.spec.database
    if database.url_secret is None:
        if database.cluster is None:
            message = (
                "is missing; write `cluster: main`, the PostgresCluster that has the database, or "
                "`urlSecret` for another server's"
            )
            yield Finding((*_DATABASE, "cluster"), message)
        return
    for field, value in (
        ("cluster", database.cluster),
        ("name", database.name),
        ("role", database.role),
        ("passwordSecret", database.password_secret),
    ):
        if value is not None:
            message = "has no effect beside urlSecret, whose connection string says it; remove one"
            yield Finding((*_DATABASE, field), message, involves=((*_DATABASE, "urlSecret"),))


def _published(app: NotesApp) -> Iterator[Finding]:
    spec = app.spec
    publish = spec.publish
    edge: Path = ("spec", "edge")
    if spec.edge is not None and publish.mode != "none":
        message = (
            f"{publish.port} would be a way around the edge, on which clients forge the headers "
            "that it sets; write `publish: none`, or leave it out"
        )
        yield Finding(_PUBLISH, message, involves=(edge,))
    elif spec.edge is None and publish.mode == "none" and not spec.behind_proxy:
        message = (
            f"none without an edge: only what is on the network {spec.network.name} reaches it"
        )
        yield Finding(_PUBLISH, message, "warning", (edge,))
    if spec.edge is not None and spec.behind_proxy:
        message = (
            "is for a proxy of your own at the published port; write the proxies before the edge "
            "into edge.trustedProxies"
        )
        yield Finding(("spec", "behindProxy"), message, involves=(edge,))
    if publish.mode != "none" and publish.port in SWARM_PORTS:
        message = f"{publish.port} is taken on every node by {SWARM_PORTS[publish.port]}"
        yield Finding((*_PUBLISH, "port"), message)


def _secrets_apart(app: NotesApp) -> Iterator[Finding]:
    seen: dict[str, Path] = {}
    for path, name in secrets_of(app):
        if name in seen:
            what = ".".join(str(step) for step in seen[name][1:])
            message = f"is also {what}; each needs a secret of its own"
            yield Finding(path, message, involves=(seen[name],))
        elif name is not None:
            seen[name] = path


CHECKS: tuple[Check, ...] = (
    _version_pinned,
    _plain_http,
    _headers_trusted,
    _hosts,
    _single_sign_on,
    _sizes,
    _database,
    _published,
    _secrets_apart,
    check_edge,
    *DEPLOYMENT_CHECKS,
)
