"""An ACME authority on the LAN of the lab, and whether a host shows a certificate of it."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.swarm_facts import eventually
from tests.lab.lab import Lab
from tests.lab.packages import ensure_programs

AUTHORITY = """\
{{
    admin off
    storage file_system {storage}
    skip_install_trust
    auto_https disable_redirects
    http_port 9480
    https_port {port}
}}
https://{address}:{port} {{
    bind {address}
    tls internal
    acme_server
}}
"""
AUTHORITY_PORT = 9443


@contextmanager
def authority(lab: Lab, directory: Path, names: Sequence[str]) -> Iterator[Path]:
    """A real ACME authority on the LAN, which finds the hosts at node2; its root certificate."""
    ensure_programs({"caddy": "caddy"})
    address = lab.registry.partition(":")[0]
    config, hosts, log = (directory / name for name in ("Caddyfile", "hosts", "log"))
    storage = directory / "authority"
    config.write_text(
        AUTHORITY.format(storage=storage, address=address, port=AUTHORITY_PORT), encoding="utf-8"
    )
    hosts.write_text(f"{lab.node('node2').address} {' '.join(names)}\n")
    script = 'mount --bind "$1" /etc/hosts && exec caddy run --adapter caddyfile --config "$2"'
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", script, "sh", str(hosts), str(config)],
            stdout=output, stderr=output, env={**os.environ, "HOME": str(directory)},
        )  # fmt: skip
    root = storage / "pki/authorities/local/root.crt"
    try:
        eventually(root.exists, "the authority's root certificate")
        yield root
    finally:
        process.terminate()
        process.wait(10)


def is_trusted(address: str, host: str, root: Path) -> bool:
    """Return True if the certificate shown for a host was issued by this root."""
    context = ssl.create_default_context(cafile=str(root))
    try:
        with (
            socket.create_connection((address, 443), timeout=15) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            return True
    except OSError:
        return False
