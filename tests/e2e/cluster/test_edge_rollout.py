"""Updates of the notes application under load, through two edges: no request fails.

The load is real: pages are read and made by a signed-in administrator, over TLS. It lasts as long
as the update, and at least `QUEENRIGHT_LOAD_S` seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.acme_authority import AUTHORITY_PORT, authority, is_trusted
from tests.e2e.edge_load import Load
from tests.e2e.notes_client import HOST
from tests.e2e.notes_site import Site
from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import eventually, quick_manifest
from tests.lab.builder import running_builder
from tests.lab.lab import Lab
from tests.lab.product_images import publish

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]

#: The application's own space, by a domain of its own.
SPACE_HOST = "team.example.org"


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
    with authority(served.lab, tmp_path, (HOST, SPACE_HOST)) as root:
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
