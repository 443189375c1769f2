"""Caddy's configuration: what the contract asks of a proxy, and Caddy itself takes it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from queenright.core.kinds.notes_app.desired.caddyfile import hosts_of, render_caddyfile
from queenright.core.kinds.notes_app.desired.edge import edge_configs
from queenright.core.kinds.notes_app.schema.app import NotesApp
from tests.golden.compare import assert_golden
from tests.support.documents import document, edited_app
from tests.support.programs import require

MODES = {
    "acme": "tls: {mode: acme, email: admin@example.org}",
    "private acme": "tls: {mode: acme, directory: 'https://ca.lan:9000/acme/directory', "
    "directoryRoot: acme_root}",
    "internal": "tls: internal",
    "internal, no space domains": "tls: {mode: internal, onDemand: false}",
    "given": "tls: {mode: certificate, certificate: c, key: k}",
    "plain behind a proxy": "tls: 'off', trustedProxies: [192.0.2.0/28, 198.51.100.7/32]",
    "other ports": "ports: {http: 8000, https: 8443}",
}


def app_of(edge: str, more: str = "") -> NotesApp:
    return document(
        edited_app(more=f"edge: {{image: registry:5000/edge:2.6, {edge}}}\n{more}")
    ).resource


def text_of(app: NotesApp) -> str:
    assert app.spec.edge is not None
    return render_caddyfile(app, app.spec.edge)


@pytest.mark.parametrize("mode", MODES)
def test_the_text(mode: str) -> None:
    app = app_of(MODES[mode], "extraHosts: [www.notes.example.org, 'notes.example.org:8443']")
    assert_golden(f"caddyfile/{mode.replace(', ', '-').replace(' ', '-')}", text_of(app))


def adapted(text: str, directory: Path) -> dict[str, Any]:
    """Return Caddy's own form of the configuration, after its validation."""
    caddy = require(caddy="caddy", openssl="openssl")["caddy"]
    file = directory / "Caddyfile"
    file.write_text(text)
    (directory / "secrets").mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", "edge_tls_key", "-out", "edge_tls_certificate", "-days", "2",
         "-subj", "/CN=notes.example.org"],
        cwd=directory / "secrets", check=True, capture_output=True,
    )  # fmt: skip
    root = (directory / "secrets/edge_tls_certificate").read_bytes()
    (directory / "secrets/edge_acme_root").write_bytes(root)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "EDGE_RUN": str(directory),
        "EDGE_DATA": str(directory / "data"),
        "EDGE_SECRETS": str(directory / "secrets"),
    }
    options = ["--config", str(file), "--adapter", "caddyfile"]
    for command in ("validate", "adapt"):
        said = subprocess.run(
            [caddy, command, *options], env=env, capture_output=True, text=True, check=False
        )
        assert said.returncode == 0, said.stderr
    found: dict[str, Any] = json.loads(said.stdout)
    return found


@pytest.mark.parametrize("mode", MODES)
def test_caddy_takes_it(mode: str, tmp_path: Path) -> None:
    found = adapted(text_of(app_of(MODES[mode])), tmp_path)
    assert found["admin"] == {"disabled": True}
    servers = found["apps"]["http"]["servers"].values()
    listening = sorted(address for server in servers for address in server["listen"])
    wanted = ["127.0.0.1:8081", ":8080", *([] if mode == "plain behind a proxy" else [":8443"])]
    assert listening == wanted
    proxies = json.dumps(found).count('"handler": "reverse_proxy"')
    assert proxies == json.dumps(found).count("app.sock"), "nobody else is asked"


@pytest.mark.parametrize("mode", ["internal, no space domains", "given"])
def test_who_names_no_host_gets_the_main_sites_certificate(mode: str, tmp_path: Path) -> None:
    """A client that comes by an address; what its Host header says is the application's matter."""
    servers = adapted(text_of(app_of(MODES[mode])), tmp_path)["apps"]["http"]["servers"].values()
    (server,) = (found for found in servers if found["listen"] == [":8443"])
    policies = server["tls_connection_policies"]
    assert [policy["default_sni"] for policy in policies] == ["notes.example.org"]
    assert '"host"' not in json.dumps(server["routes"]), "no host gets an empty answer of Caddy's"


def test_the_limits_are_the_documents() -> None:
    text = text_of(app_of("tls: {mode: internal, onDemandPerMinute: 3}",
                          "bodySizeLimit: 8M\nshutdownTimeout: 25s"))  # fmt: skip
    assert "max_size 8388608" in text
    assert "grace_period 25s" in text
    assert "burst 3\n" in text


def test_redirects_lead_to_the_published_port() -> None:
    assert "redir https://{host}{uri} 308" in text_of(app_of("tls: internal"))
    text = text_of(app_of("ports: {https: 8443}"))
    assert "redir https://{host}:8443{uri} 308" in text


def test_each_host_is_named_once_and_without_its_port() -> None:
    app = app_of("tls: internal", "extraHosts: ['notes.example.org:8443', b.example.org]")
    assert hosts_of(app) == ("notes.example.org", "b.example.org")


def test_another_text_is_another_config() -> None:
    one, other = (edge_configs(app_of(tls))[0] for tls in ("tls: internal", "tls: acme"))
    assert one.name != other.name
    assert one.name.startswith("notes_caddyfile-")
    assert one == edge_configs(app_of("tls: internal"))[0]
