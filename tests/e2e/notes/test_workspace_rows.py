"""Rows of the notes application's contract in Chromium: two replicas behind two edges.

The operator deploys the cluster and the application; a browser for each edge visits it by its
public address over TLS (spec: notes-app). `rows.mjs` has one scenario for each row.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.e2e.acme_authority import is_trusted
from tests.e2e.notes.identity_provider import CLIENT_SECRET, SECRET_NAME, provider
from tests.e2e.notes_client import ADMIN, HOST
from tests.e2e.notes_site import EDGE_NODES, Site
from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import container_of, eventually, quick_manifest, read_secret
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.product_images import publish
from tests.lab.settings import LabError
from tests.lab.shell import in_netns

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(420)]

HERE = Path(__file__).parent
BASE = f"https://{HOST}"
BOB = {"email": "bob@example.org", "name": "Bob", "password": "password of mine"}
AUTHORITY = "/data/pki/authorities/local"
"""Where an edge keeps the certificates of its own authority."""
COUNTS = """\
import os, socket
control = socket.socket(socket.AF_UNIX)
control.connect(os.environ.get("EDGE_RUN", "/tmp/edge") + "/control.sock")
control.sendall(b"show stat\\n")
print(control.makefile().read())
"""
"""Asks an edge's HAProxy what it has done."""


@dataclass(frozen=True)
class Visited:
    """The deployed application, what the browsers are given, and how they find its edges."""

    site: Site
    given: dict[str, Any]
    arguments: list[str]

    def row(self, name: str, holds: int) -> str:
        """Run a scenario; all of it has to hold, and both replicas have to take part."""
        before = requests(self.site)
        environ = {"SCENARIO": name, "CHROMIUM_ARGUMENTS": json.dumps(self.arguments)}
        done = subprocess.run(
            ["node", str(HERE / "rows.mjs"), json.dumps(self.given)],
            env={**os.environ, **environ}, capture_output=True, text=True, check=False,
            timeout=240,
        )  # fmt: skip
        print(done.stdout)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("holds: ") == holds, done.stdout
        taken = {
            where: count - before.get(where, 0) for where, count in requests(self.site).items()
        }
        assert len([count for count in taken.values() if count > 0]) == 2, taken
        return done.stdout


def requests(site: Site) -> dict[str, int]:
    """Return the number of requests that each replica has had from the edges, by its address."""
    found: dict[str, int] = {}
    for node in map(site.lab.node, EDGE_NODES):
        said = eventually(partial(counts_of, node), f"the counts of {node.name}'s edge", 60)
        head, *lines = said.strip().splitlines()
        names = head.removeprefix("# ").split(",")
        for line in lines:
            fields = dict(zip(names, line.split(","), strict=False))
            count, is_server = int(fields["stot"] or 0), fields["svname"] != "BACKEND"
            if count and is_server and fields["pxname"] in {"reads", "writes"}:
                found[fields["addr"]] = found.get(fields["addr"], 0) + count
    return found


def counts_of(node: Node) -> str:
    """Return what an edge's HAProxy says; empty where it is just being replaced or loaded again."""
    try:
        return node.docker("exec", container_of(node, "notes_edge"), "python3", "-c", COUNTS).stdout
    except LabError:
        return ""


def authority_of(site: Site, node: str, name: str) -> str:
    """Return a certificate of an edge's own authority, as PEM."""
    place = site.lab.node(node)
    container = container_of(place, "notes_edge")
    return place.docker("exec", container, "cat", f"{AUTHORITY}/{name}.crt").stdout


def key_of(pem: str) -> str:
    """Return the hash of a certificate's public key, as Chromium takes it."""
    key = x509.load_pem_x509_certificate(pem.encode()).public_key()
    public = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(public).digest()).decode()


@pytest.fixture(scope="module")
def site(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    images = publish(lab.registry, ["member", "proxy", "notes", "edge"], lab.settings)
    lab.reset()
    directory = tmp_path_factory.mktemp("operator")
    (directory / "secret").write_text(CLIENT_SECRET)
    lab.manager.docker("secret", "create", SECRET_NAME, str(directory / "secret"))
    operator = RunningOperator(lab, directory, resync_s=QUICK_RESYNC_S)
    operator.write(quick_manifest(lab))
    with provider(lab, f"{BASE}/auth/oidc/callback") as issuer, operator:
        site = Site(lab, operator, images, {}, sign_on=issuer)
        site.write()
        eventually(site.is_served, "both edges to answer", 240)
        operator.wait_converged()
        yield site


@pytest.fixture(scope="module")
def visited(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Visited:
    """The application as it was deployed: nobody has an account."""
    keys = []
    for node in EDGE_NODES:
        root = tmp_path_factory.mktemp(node) / "root.crt"
        root.write_text(authority_of(site, node, "root"))
        assert is_trusted(site.lab.node(node).address, HOST, root), "the main host's certificate"
        keys.append(key_of(authority_of(site, node, "intermediate")))
    first, second = (
        f"--host-resolver-rules=MAP *.example.org {site.lab.node(node).address}"
        for node in EDGE_NODES
    )
    arguments = [first, f"--ignore-certificate-errors-spki-list={','.join(keys)}"]
    given = {"base": BASE, "second": second, "ada": ADMIN, "bob": BOB, "issuer": site.sign_on}
    return Visited(site, given, arguments)


@pytest.fixture(scope="module")
def furnished(visited: Visited) -> Visited:
    """The application with two people, a space and pages."""
    site = visited.site
    site.sign_in()

    def made(path: str, body: dict[str, Any], method: str = "POST") -> Any:
        answer = site.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else {}

    bob = made("/api/v1/users", BOB)["id"]
    me = site.request("GET", "/api/v1/me").json()["id"]
    space = made("/api/v1/spaces", {"slug": "team", "name": "Team"})["id"]
    grants = [(me, "manager"), (bob, "editor")]
    roles = [{"principal": who, "kind": "user", "role": role} for who, role in grants]
    made(f"/api/v1/spaces/{space}/members", {"grants": roles}, "PUT")
    texts = {
        "read": "Words of the page that was read.\n",
        "unread": "Words of the page that was not read.\n",
        "upload": "A page with files.\n",
        "live": "A page of two.\n",
    }
    pages = {
        name: made(f"/api/v1/spaces/{space}/nodes", {"title": name.capitalize(), "markdown": text})[
            "id"
        ]
        for name, text in texts.items()
    }
    given = {**visited.given, **pages, "space": space, "outside": from_outside(site.lab)}
    return replace(visited, given=given | {"domain": "team.example.org", "silence_ms": 32_000})


def from_outside(lab: Lab) -> list[list[str]]:
    """Commands that visit an address by each edge from outside of the lab's LAN."""
    lab.client("outside")
    found = []
    for node in EDGE_NODES:
        to = f"{HOST}:443:{lab.node(node).address}"
        curl = ["curl", "-ksSf", "-m", "20", "-o", "/dev/null", "--resolve", to]
        found.append(in_netns(lab.settings.netns("outside"), curl))
    return found


def test_the_first_visit_sets_it_up(visited: Visited) -> None:
    visited.row("setup", 4)


def test_it_is_installed_and_what_was_read_is_there_offline(furnished: Visited) -> None:
    furnished.row("offline", 7)


def test_people_sign_in_at_their_organisation(furnished: Visited) -> None:
    furnished.row("signOn", 12)


def test_a_shared_page_has_a_code_and_visits_without_addresses(furnished: Visited) -> None:
    furnished.row("share", 4)
    lab, site = furnished.site.lab, furnished.site
    links = []
    for _ in range(2):
        answer = site.request("POST", f"/api/v1/nodes/{furnished.given['read']}/shares", json={})
        links.append(answer.json()["url"])
        for command in furnished.given["outside"]:
            subprocess.run([*command, links[-1]], check=True, timeout=60)
    views = share_views(lab)
    hashes = [bytes(view["visitor"]).hex() for view in views]
    # Each link's two visits are of one visitor, of whom an hour leaves one row, and who is another
    # one at the other link.
    assert len({*hashes}) == 2
    for address in (lab.settings.outside_address, lab.settings.gateway):
        shown = [address, address.encode().hex(), ipaddress.ip_address(address).packed.hex()]
        digests = [hashlib.new(kind, address.encode()).hexdigest() for kind in DIGESTS]
        for view in views:
            assert not [text for text in shown if text in view["whole"]]
            assert not [text for text in digests if text.startswith(bytes(view["visitor"]).hex())]


DIGESTS = ("md5", "sha1", "sha256", "sha512", "blake2b", "blake2s", "sha3_256")


def share_views(lab: Lab) -> list[dict[str, Any]]:
    """Return what the database has of the visits of links, the oldest first."""
    with psycopg.connect(
        host=lab.node(EDGE_NODES[0]).address,
        port=5000,
        user="postgres",
        password=read_secret(lab, "pg_superuser_pw"),
        dbname="notes",
        row_factory=psycopg.rows.dict_row,
    ) as connection:
        return connection.execute(
            "SELECT visitor, s::text AS whole FROM share_views s ORDER BY at"
        ).fetchall()


def test_a_large_file_goes_in_chunks_over_a_reload(furnished: Visited) -> None:
    furnished.row("chunks", 8)


def test_what_others_do_appears_by_the_stream(furnished: Visited) -> None:
    furnished.row("live", 5)


def test_a_spaces_domain_is_served_by_every_replica(furnished: Visited) -> None:
    furnished.row("domain", 3)
