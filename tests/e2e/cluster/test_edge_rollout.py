"""Updates of the notes application under load, through two edges: no request fails.

The load is real: pages are read and made by a signed-in administrator, over TLS. It lasts as long
as the update, and at least `QUEENRIGHT_LOAD_S` seconds.
"""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.edge_load import Load
from tests.e2e.notes_client import ADMIN, HOST, replica_nodes
from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import eventually, quick_manifest, service
from tests.lab.builder import running_builder
from tests.lab.lab import Lab
from tests.lab.packages import ensure_programs
from tests.lab.product_images import publish

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]

WEB = "notes_web"
EDGE_NODES = ("node2", "node3")
LOAD_S = float(os.environ.get("QUEENRIGHT_LOAD_S", "20"))
APP = """\
apiVersion: queenright/v1alpha1
kind: NotesApp
metadata: {{name: notes}}
spec:
  image: {image}
  origin: https://{host}
  database: {{cluster: main}}
  maxAttachment: {attachment}
  encryptionKey: {{backedUp: true}}
  healthCheck: {{interval: 2s, timeout: 6s, startPeriod: 8s, retries: 2}}
  update: {{monitor: 8s}}
  upgrade: {{dump: none}}
  edge:
    image: {edge}
    nodes: [{nodes}]
    tls: {tls}
    retry: {retry}
"""
#: The application's own space, by a domain of its own.
SPACE_HOST = "team.example.org"
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


@dataclass(frozen=True)
class Address:
    """The address of an edge."""

    address: str
    https: int = 443


@dataclass
class Site:
    """The application behind its edges."""

    lab: Lab
    operator: RunningOperator
    images: dict[str, str]
    #: Headers of a signed-in administrator, and where a page is made.
    headers: dict[str, str]
    pages: str = ""

    def write(
        self, image: str = "", attachment: str = "1G", tls: str = "internal", retry: str = "10s"
    ) -> None:
        text = APP.format(
            retry=retry,
            tls=tls,
            image=image or self.images["notes"],
            host=HOST,
            attachment=attachment,
            edge=self.images["edge"],
            nodes=", ".join(EDGE_NODES),
        )
        self.operator.write(text, "notes.yaml")

    def request(self, method: str, path: str, node: str = "node2", **more: Any) -> httpx.Response:
        """One request through a node's edge."""
        with httpx.Client(verify=False, trust_env=False, timeout=10) as client:  # noqa: S501
            # Its CA is the edge's own.
            return client.request(
                method,
                f"https://{self.lab.node(node).address}{path}",
                headers={"host": HOST, "origin": f"https://{HOST}", **self.headers},
                extensions={"sni_hostname": HOST},
                **more,
            )

    def is_served(self) -> bool:
        try:
            found = [self.request("GET", "/readyz", node).status_code for node in EDGE_NODES]
        except httpx.HTTPError:
            return False
        return found == [200, 200] and len(replica_nodes(self.lab)) == 2

    def sign_in(self) -> None:
        self.request("POST", "/api/v1/setup", json={**ADMIN, "name": "Ada"})
        answer = self.request("POST", "/api/v1/session", json=ADMIN)
        assert answer.status_code == 200, answer.text
        self.headers["cookie"] = answer.headers["set-cookie"].partition(";")[0]
        space = {"slug": f"space-{time.monotonic_ns()}", "name": "A space"}
        made = self.request("POST", "/api/v1/spaces", json=space)
        assert made.status_code == 201, made.text
        self.pages = f"/api/v1/spaces/{made.json()['id']}/nodes"

    def update(self, name: str = WEB) -> dict[str, Any]:
        """Return swarm's report of a service's last update."""
        return dict(service(self.lab, name).get("UpdateStatus") or {})

    def image(self) -> str:
        """The image that the replicas' service asks for, without its digest."""
        found: str = service(self.lab, WEB)["Spec"]["TaskTemplate"]["ContainerSpec"]["Image"]
        return found.partition("@")[0]

    def under_load(
        self, change: Callable[[], None], is_over: Callable[[], object], *, knows_both: bool = False
    ) -> list[Load]:
        """Load at each edge from before the change until it is over.

        ``knows_both``: a client whose edge refuses it goes to the other one.
        """
        addresses = [Address(self.lab.node(node).address) for node in EDGE_NODES]
        loads = [
            Load(
                address,
                also=other if knows_both else None,
                host=HOST,
                readers=3,
                writers=1,
                read="/api/v1/spaces",
                write=self.pages,
                body=b'{"title": "A page"}',
                headers={
                    "Content-Type": "application/json",
                    "Origin": f"https://{HOST}",
                    **self.headers,
                },
                pause_s=0.02,
            )
            for address, other in zip(addresses, reversed(addresses), strict=True)
        ]
        with ExitStack() as stack:
            for load in loads:
                stack.enter_context(load)
            begun = time.monotonic()
            time.sleep(2)
            change()
            eventually(is_over, "the end of the update", 240)
            time.sleep(max(3.0, LOAD_S - (time.monotonic() - begun)))
        for load in loads:
            print(load.summary)
        return loads


@pytest.fixture(scope="module")
def site(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    images = publish(lab.registry, ["member", "proxy", "notes", "edge"], lab.settings)
    lab.reset()
    operator = RunningOperator(lab, tmp_path_factory.mktemp("operator"), resync_s=QUICK_RESYNC_S)
    operator.write(quick_manifest(lab))
    site = Site(lab, operator, images, {})
    site.write()
    with operator:
        eventually(site.is_served, "both edges to answer", 240)
        operator.wait_converged()
        site.sign_in()
        yield site


@contextmanager
def authority(site: Site, directory: Path) -> Iterator[Path]:
    """A real ACME authority on the LAN, which finds the hosts at node2; its root certificate."""
    ensure_programs({"caddy": "caddy"})
    address = site.lab.registry.partition(":")[0]
    config, hosts, log = (directory / name for name in ("Caddyfile", "hosts", "log"))
    storage = directory / "authority"
    config.write_text(
        AUTHORITY.format(storage=storage, address=address, port=AUTHORITY_PORT), encoding="utf-8"
    )
    hosts.write_text(f"{site.lab.node('node2').address} {HOST} {SPACE_HOST}\n")
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


@pytest.fixture
def served(site: Site) -> Site:
    """Served by two replicas, with nothing under way."""
    eventually(site.is_served, "both edges to answer", 120)
    eventually(
        lambda: site.update().get("State") in {None, "completed", "rollback_completed"},
        "no update under way",
        120,
    )
    return site


def variant(site: Site, tag: str, line: str, directory: Path) -> str:
    """The application's image with one more line in its Dockerfile, in the lab's registry."""
    address = f"{site.images['notes'].rpartition(':')[0]}:{tag}"
    (directory / "Dockerfile").write_text(f"FROM {site.images['notes']}\n{line}\n")
    with running_builder(site.lab.settings) as builder:
        builder.build(address, directory)
        builder.push(address)
    return address


def assert_no_request_failed(loads: list[Load]) -> None:
    for load in loads:
        assert load.failed == [], load.summary
        assert load.count > 5 * load.seconds, load.summary


def test_another_setting_rolls_out_under_load(served: Site) -> None:
    before = served.update().get("StartedAt")

    def is_over() -> bool:
        update = served.update()
        return update.get("State") == "completed" and update.get("StartedAt") != before

    loads = served.under_load(lambda: served.write(attachment="512M"), is_over)
    assert_no_request_failed(loads)


def test_another_image_rolls_out_under_load(served: Site, tmp_path: Path) -> None:
    image = variant(served, "9.9.1", "LABEL another=one", tmp_path)

    def is_over() -> bool:
        return served.image() == image and served.update().get("State") == "completed"

    loads = served.under_load(lambda: served.write(image), is_over)
    assert_no_request_failed(loads)


def test_a_broken_image_is_taken_back_under_load(served: Site, tmp_path: Path) -> None:
    good = served.image()
    broken = variant(served, "9.9.2", 'HEALTHCHECK CMD ["false"]', tmp_path)

    def is_over() -> bool:
        return served.update().get("State") == "rollback_completed"

    loads = served.under_load(lambda: served.write(broken), is_over)
    assert_no_request_failed(loads)
    assert served.image() == good
    eventually(
        lambda: "swarm rolled back" in json.dumps(served.operator.holds()), "the log's story"
    )


def test_the_edges_are_replaced_one_by_one_under_load(served: Site) -> None:
    """Their ports are the nodes' own, so each is away for a moment: its clients go to the other."""
    before = served.update("notes_edge").get("StartedAt")

    def is_over() -> bool:
        update = served.update("notes_edge")
        return update.get("State") == "completed" and update.get("StartedAt") != before

    change = partial(served.write, retry="11s")
    assert_no_request_failed(served.under_load(change, is_over, knows_both=True))


def test_certificates_come_from_an_authority(served: Site, tmp_path: Path) -> None:
    """ACME gives the main host's at the start, a space domain's once the application confirms
    it."""
    node = served.lab.node("node2")
    with authority(served, tmp_path) as root:
        served.lab.manager.docker("secret", "create", "acme_root", str(root))
        address = served.lab.registry.partition(":")[0]
        directory = f"https://{address}:{AUTHORITY_PORT}/acme/local/directory"
        served.write(tls=f"{{mode: acme, directory: '{directory}', directoryRoot: acme_root}}")
        eventually(lambda: is_trusted(node.address, HOST, root), "the main host's", 120)
        assert not is_trusted(node.address, SPACE_HOST, root), "nobody said that it may"
        change = {"domain": SPACE_HOST, "site_enabled": True}
        space = served.pages.removesuffix("/nodes")
        answer = served.request("PATCH", space, json=change)
        assert answer.status_code == 200, answer.text
        eventually(lambda: is_trusted(node.address, SPACE_HOST, root), "the space's", 60)
