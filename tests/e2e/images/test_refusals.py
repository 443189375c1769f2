"""Refusals of the images, in their words; and the operator's image, which has no rights."""

from dataclasses import replace

import pytest

from tests.e2e.image_containers import LABEL, Containers
from tests.lab.product_images import ensure_built, product_images

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def operator(containers: Containers) -> Containers:
    """The same, with the operator's image built."""
    image = next(image for image in product_images() if image.name == "operator")
    return replace(containers, operator_image=ensure_built(containers.builder, image))


class TestProxy:
    def test_a_missing_configuration(self, containers: Containers) -> None:
        code, said = containers.fails(containers.proxy_image)
        assert code == 1
        assert said == (
            "FATAL: HAProxy configuration /usr/local/etc/haproxy/haproxy.cfg "
            "is missing or cannot be read\n"
        )

    def test_an_invalid_configuration(self, containers: Containers) -> None:
        config = containers.files / "invalid.cfg"
        config.write_text("listen primary\n    bind *:5000\n    no-such-keyword\n")
        mounted = f"--volume={config}:/usr/local/etc/haproxy/haproxy.cfg:ro"
        code, said = containers.fails(mounted, containers.proxy_image)
        assert code == 1
        assert "unknown keyword 'no-such-keyword'" in said
        assert said.endswith("haproxy.cfg is invalid\n")


class TestOperator:
    def test_it_is_unprivileged_but_for_the_socket(self, operator: Containers) -> None:
        probe = operator.files / "probe"
        probe.write_text(
            "#!/bin/sh\nid -u; id -G; grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status\n"
            'python3 -c "import socket; socket.socket(socket.AF_UNIX)'
            ".connect('/var/run/docker.sock'); print('connected')\"\n"
        )
        probe.chmod(0o755)
        socket_path = operator.builder.socket
        said = operator.builder.docker(
            *("run", "--rm", f"--label={LABEL}", "--network=none", "--read-only"),
            f"--volume={socket_path}:/var/run/docker.sock",
            f"--volume={probe}:/opt/queenright/bin/queenright:ro",
            operator.operator_image,
        ).split()
        group = socket_path.stat().st_gid
        assert said == [
            "65532",
            *("65532", str(group)),
            *("CapEff:", "0000000000000000", "CapBnd:", "0000000000000000", "NoNewPrivs:", "1"),
            "connected",
        ]

    def test_without_a_socket_it_says_so(self, operator: Containers) -> None:
        code, said = operator.fails("--rm", operator.operator_image)
        assert code == 1
        assert said.startswith("FATAL: no Docker socket at /var/run/docker.sock")


class TestMemberRefusals:
    def test_missing_secret(self, containers: Containers) -> None:
        options = [o for o in containers.member_options(4) if "pg_superuser_pw" not in o]
        code, said = containers.fails(*options, containers.member_image)
        path = "/run/secrets/pg_superuser_pw"
        assert (code, said) == (
            1,
            f"FATAL: secret pg_superuser_pw is missing: there is no file {path}\n",
        )

    def test_missing_variable(self, containers: Containers) -> None:
        options = [*containers.member_options(4), "--env=RAFT_SELF="]
        code, said = containers.fails(*options, containers.member_image)
        assert (code, said) == (1, "FATAL: environment variable RAFT_SELF is empty or unset\n")

    def test_a_volume_that_root_owns(self, containers: Containers) -> None:
        volume = "queenright-images-roots"
        containers.builder.docker("volume", "create", f"--label={LABEL}", volume)
        mounted = ("--rm", "--user=0", f"--volume={volume}:/data")
        command = ("--entrypoint=sh", containers.member_image, "-c", "touch /data/x; chown 0 /data")
        assert containers.fails(*mounted, *command)[0] == 0
        options = [o for o in containers.member_options(4) if "dst=/home/postgres/pgdata" not in o]
        options.append(f"--volume={volume}:/home/postgres/pgdata")
        code, said = containers.fails(*options, containers.member_image)
        assert code == 1
        assert "FATAL: directory /home/postgres/pgdata belongs to uid 0, not to uid 999" in said

    def test_without_a_driver_patroni_refuses(self, containers: Containers) -> None:
        hidden = "import sys; sys.modules['psycopg2'] = sys.modules['psycopg'] = None; "
        code, said = containers.fails(
            "--entrypoint=/opt/patroni/bin/python3",
            containers.member_image,
            *("-c", hidden + "from patroni.__main__ import main; main()"),
        )
        assert code == 1
        assert "FATAL: Patroni requires psycopg2" in said

    def test_postgresql_itself_refuses_a_broad_data_directory(self, containers: Containers) -> None:
        script = "initdb -D /tmp/d >/dev/null && chmod 755 /tmp/d && exec postgres -D /tmp/d"
        code, said = containers.fails("--entrypoint=sh", containers.member_image, "-c", script)
        assert code == 1
        assert 'data directory "/tmp/d" has invalid permissions' in said
