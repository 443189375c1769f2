"""Caddy's configuration for an edge, by the contract's "Reverse proxy requirements".

Decides the text from the application's document alone. Caddy's half of the edge has TLS, headers,
limits and the access log; the replica for a request is chosen behind it, in the same container
(images/edge). Invariants: a client's own X-Forwarded-For, -Proto or -Host never reaches the
application, and no cookie, credential, query or share token reaches the log.
"""

from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.schema.edge import Edge, EdgeTls

HTTP_PORT = 8080
HTTPS_PORT = 8443
"""Ports in the container: above 1023, so that the edge needs no capability."""

SECRETS = "{$EDGE_SECRETS:/run/secrets}"
CERTIFICATE_FILE = "edge_tls_certificate"
KEY_FILE = "edge_tls_key"
DIRECTORY_ROOT_FILE = "edge_acme_root"

HEADERS_S = 30
"""Time in which a client has to send a request's headers."""
IDLE_S = 300
SHARE_TOKENS = r"^(/s/)[^/?]+|([?]).*"
"""Parts of a URI that no log line shows: the token of a share link, and the whole query, which
may contain tokens of single sign-on and share links."""


def render_caddyfile(app: NotesApp, edge: Edge) -> str:
    """The text of the Caddyfile, as Debian 12's Caddy (2.6) understands it."""
    sites = _sites(app, edge)
    return "\n".join((_head(app, edge), _application(app, edge), _own_site(), *sites))


def _sites(app: NotesApp, edge: Edge) -> tuple[str, ...]:
    match edge.tls.mode:
        case "off":
            return (_site("http://"),)
        case "certificate":
            files = f"\ttls {SECRETS}/{CERTIFICATE_FILE} {SECRETS}/{KEY_FILE}\n"
            return (_redirects(edge), _site("https://", files))
        case "acme":
            named, on_demand = "", "\ttls {\n\t\ton_demand\n\t}\n"
        case "internal":
            named, on_demand = "\ttls internal\n", "\ttls internal {\n\t\ton_demand\n\t}\n"
    names = ", ".join(f"https://{host}" for host in hosts_of(app))
    if not _has_on_demand(edge.tls):
        # What other hosts get is the application's to say, and not an empty answer of Caddy's.
        return (_redirects(edge), _site(f"{names}, https://", named))
    return (_redirects(edge), _site(names, named), _site("https://", on_demand))


def hosts_of(app: NotesApp) -> tuple[str, ...]:
    """The names of the main site, without ports, each once."""
    _, _, host = app.spec.origin.partition("://")
    return tuple(dict.fromkeys(name.partition(":")[0] for name in (host, *app.spec.extra_hosts)))


def _head(app: NotesApp, edge: Edge) -> str:
    tls = edge.tls
    lines = {
        # The redirects are written below: Caddy's own would name a port inside of the container.
        "auto_https": "off" if tls.mode in {"off", "certificate"} else "disable_redirects",
        # Who comes by an address names no host and gets the main site's certificate; where they are
        # made on demand, Caddy 2.6 asks for one of that address all the same, and has none.
        "default_sni": hosts_of(app)[0] if tls.mode != "off" and not _has_on_demand(tls) else None,
        "email": tls.email,
        "acme_ca": tls.directory,
        "acme_ca_root": f"{SECRETS}/{DIRECTORY_ROOT_FILE}" if tls.directory_root else None,
    }
    on_demand = f"""\
	on_demand_tls {{
		ask http://127.0.0.1:{{$EDGE_LOCAL_PORT:8081}}/internal/tls-ask
		interval 1m
		burst {tls.on_demand_per_minute}
	}}
"""
    return f"""\
# Caddy's configuration for application {app.metadata.name}, made from its manifest.
{{
	admin off
{"".join(f"	{name} {value}{chr(10)}" for name, value in lines.items() if value)}\
	http_port {{$EDGE_HTTP_PORT:{HTTP_PORT}}}
	https_port {{$EDGE_HTTPS_PORT:{HTTPS_PORT}}}
	storage file_system {{$EDGE_DATA:/data}}
	skip_install_trust
	grace_period {app.spec.shutdown_timeout_s}s
{on_demand if _has_on_demand(tls) else ""}\
	servers {{
		protocols h1 h2
		timeouts {{
			read_header {HEADERS_S}s
			idle {IDLE_S}s
		}}
	}}
	log default {{
		output stdout
		format filter {{
			wrap json
			fields {{
				request>headers delete
				request>tls delete
				resp_headers delete
				request>uri regexp "{SHARE_TOKENS}" "${{1}}${{2}}..."
			}}
		}}
	}}
}}
"""


def _has_on_demand(tls: EdgeTls) -> bool:
    return tls.on_demand and tls.mode in {"acme", "internal"}


def _application(app: NotesApp, edge: Edge) -> str:
    trusted = " ".join(map(str, edge.trusted_proxies))
    believed = f"\t\ttrusted_proxies {trusted}\n" if trusted else ""
    length = "{http.request.header.Content-Length}"
    limit = app.spec.body_size_limit_bytes
    # What says its size is refused before any of it is read; the rest is counted.
    # No flush_interval: Caddy passes event streams and unbounded answers on at once by itself, and
    # with one it would not tell the application that a client has left.
    return f"""\
(application) {{
	log
	@too_large expression `{length} != "" && int({length}) > {limit}`
	respond @too_large "The request is larger than {limit} bytes." 413
	request_body {{
		max_size {limit}
	}}
	@internal path /internal/*
	respond @internal 404
	reverse_proxy unix/{{$EDGE_RUN}}/app.sock {{
{believed}\
		transport http {{
			keepalive 30s
			keepalive_idle_conns_per_host 256
			compression off
		}}
	}}
}}
"""


def _own_site() -> str:
    """The site that only the container itself reaches: health, and certificate requests."""
    return """\
http://127.0.0.1:{$EDGE_LOCAL_PORT:8081} {
	bind 127.0.0.1
	handle /healthz {
		respond 200
	}
	handle /internal/tls-ask {
		reverse_proxy unix/{$EDGE_RUN}/app.sock
	}
	handle {
		respond 404
	}
}
"""


def _redirects(edge: Edge) -> str:
    port = "" if edge.ports.https == 443 else f":{edge.ports.https}"
    return f"http:// {{\n\tredir https://{{host}}{port}{{uri}} 308\n}}\n"


def _site(address: str, tls: str = "") -> str:
    return f"{address} {{\n{tls}\timport application\n}}\n"
