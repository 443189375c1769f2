"""Caddy calls `/internal/tls-ask` before it gets a certificate (spec: notes-app §4)."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.judges.programs import process
from tests.postgres import free_port
from tests.replica import Replica
from tests.workspace import space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
_CADDYFILE = """{{
    admin off
    storage file_system {storage}
    auto_https disable_redirects
    local_certs
    skip_install_trust
    on_demand_tls {{
        ask {replica}/internal/tls-ask
    }}
}}
https://:{port} {{
    tls internal {{
        on_demand
    }}
    reverse_proxy {replica}
}}
"""


def test_caddy_asks_before_it_gets_a_certificate(own_replica: Start, tmp_path: Path) -> None:
    replica = own_replica(PROTOCOL_HEADER="x-forwarded-proto", ADDRESS_HEADER="x-forwarded-for")
    with replica.client() as admin:
        admin.set_up()
        home = space(admin)
        change = {"domain": "team.example.org", "site_enabled": True}
        admin.ok("PATCH", f"/api/v1/spaces/{home}", change)
    port = free_port()
    config = tmp_path / "Caddyfile"
    storage = tmp_path / "store"
    config.write_text(_CADDYFILE.format(storage=storage, replica=replica.url, port=port))

    def fetch(host: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["curl", "-ksS", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}",
             "--resolve", f"{host}:{port}:127.0.0.1", f"https://{host}:{port}/login"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def serves() -> bool:
        return fetch("notes.example.org").stdout in {"200", "303", "404"}

    with process(
        "caddy", "run", "--config", str(config), "--adapter", "caddyfile",
        until=serves, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/usr/sbin"},
    ):  # fmt: skip
        assert fetch("team.example.org").stdout in {"200", "303"}
        for host in ("evil.example.org", "team.example.org.evil.example"):
            refused = fetch(host)
            assert refused.returncode == 35, "no certificate, no handshake"
