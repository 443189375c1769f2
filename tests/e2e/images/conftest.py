"""The images as containers on an engine, and a cluster of three members without a swarm."""

import os
from collections.abc import Iterator

import pytest

from tests.e2e.image_containers import MEMBERS, SAMPLES, SECRETS, Containers, eventually
from tests.lab.builder import running_builder
from tests.lab.product_images import ensure_built, product_images
from tests.lab.settings import LabSettings


@pytest.fixture(scope="module")
def containers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Containers]:
    """The images, built if need be, and an engine; everything is removed afterwards."""
    if os.geteuid() != 0:
        pytest.skip("the lab needs root")
    files = tmp_path_factory.mktemp("mounted")
    (files / "secrets").mkdir()
    for name, secret in SECRETS.items():
        (files / "secrets" / name).write_text(f"{secret}\n")
    (files / "patroni.yml.tpl").write_text((SAMPLES / "patroni.yml.tpl").read_text())
    for path in [files / "patroni.yml.tpl", *(files / "secrets").iterdir()]:
        os.chown(path, 999, 999)
        path.chmod(0o400)
    with running_builder(LabSettings.from_environment()) as builder:
        member, proxy, *_ = product_images()
        built = Containers(
            builder, ensure_built(builder, member), ensure_built(builder, proxy), files
        )
        built.clean()
        built.networks()
        yield built
        built.clean()


@pytest.fixture(scope="module")
def cluster(containers: Containers) -> Containers:
    """Three members, one of them the leader, two of them streaming."""
    for number in MEMBERS:
        containers.start_member(number)
    eventually(containers.replicas_stream, "one leader and two streaming replicas")
    return containers
