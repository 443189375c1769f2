"""The images as they run: real members, a real cluster, real proxies, real refusals."""

import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.e2e.image_containers import (
    LABEL,
    MEMBERS,
    OUTSIDE_NETWORK,
    OUTSIDE_PREFIX,
    PREFIX,
    SECRETS,
    Containers,
    address,
    eventually,
    status,
)
from tests.lab.builder import running_builder
from tests.lab.product_images import ensure_built, product_images
from tests.lab.settings import LabSettings

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]

SAMPLES = Path(__file__).parents[1] / "unit/images"
PASSWORD = "p$ä\"w\\:x` %';--"
SSL_REQUEST = b"\0\0\0\x08\x04\xd2\x16\x2f"


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
def operator(containers: Containers) -> Containers:
    """The same, with the operator's image built."""
    image = next(image for image in product_images() if image.name == "operator")
    return replace(containers, operator_image=ensure_built(containers.builder, image))


@pytest.fixture(scope="module")
def cluster(containers: Containers) -> Containers:
    """Three members, one of them the leader, two of them streaming."""
    for number in MEMBERS:
        containers.start_member(number)
    eventually(containers.replicas_stream, "one leader and two streaming replicas")
    return containers


def query(containers: Containers, sql: str) -> list[str]:
    """Rows of a query on the leader, as the superuser through the socket."""
    leader = containers.leader()
    assert leader is not None
    command = ("psql", "-X", "-U", "postgres", "-d", "postgres", "-Atc", sql)
    return containers.execute(leader, *command).splitlines()


class TestCluster:
    def test_files_and_directories_are_private(self, cluster: Containers) -> None:
        for number in MEMBERS:
            listed = cluster.execute(
                number,
                *("stat", "-c", "%a %u:%g"),
                *("/tmp/patroni.yml", "/home/postgres/pgdata", "/home/postgres/raft"),
            )
            assert listed.splitlines() == ["600 999:999", "700 999:999", "700 999:999"]

    def test_the_contracts_settings_are_in_force(self, cluster: Containers) -> None:
        wanted = {
            "wal_level": "replica",
            "max_wal_senders": "5",
            "max_replication_slots": "5",
            "hot_standby": "on",
            "wal_log_hints": "on",
            "archive_mode": "off",
            "shared_buffers": "256MB",
            "effective_cache_size": "512MB",
            "work_mem": "4MB",
            "maintenance_work_mem": "64MB",
            "max_connections": "200",
            "password_encryption": "scram-sha-256",
            "log_connections": "on",
            "log_disconnections": "on",
            "log_statement": "ddl",
            "data_checksums": "on",
            "server_encoding": "UTF8",
        }
        names = ", ".join(f"current_setting('{name}')" for name in wanted)
        assert query(cluster, f"SELECT unnest(ARRAY[{names}])") == list(wanted.values())

    def test_the_access_rules_are_the_contracts_in_order(self, cluster: Containers) -> None:
        rules = query(
            cluster,
            "SELECT concat_ws(' ', type, database[1], user_name[1], address, netmask, auth_method)"
            " FROM pg_hba_file_rules ORDER BY rule_number",
        )
        mask_8, mask_12, mask_24 = "255.0.0.0", "255.240.0.0", "255.255.255.0"
        assert rules == [
            "local all postgres peer",
            "local all all scram-sha-256",
            f"host replication replicator 10.77.0.0 {mask_24} scram-sha-256",
            f"host replication replicator 10.0.0.0 {mask_8} scram-sha-256",
            f"host all all 10.77.0.0 {mask_24} scram-sha-256",
            f"host all all 10.0.0.0 {mask_8} scram-sha-256",
            f"host all all 172.16.0.0 {mask_12} scram-sha-256",
            "host all all 0.0.0.0 0.0.0.0 reject",
            "local replication replicator scram-sha-256",
        ]

    def test_no_member_complains_about_its_local_timeline(self, cluster: Containers) -> None:
        logs = [cluster.member_logs(number) for number in MEMBERS]
        assert not any("Can not fetch local timeline" in log for log in logs)

    def test_the_leader_says_that_there_is_no_watchdog(self, cluster: Containers) -> None:
        leader = cluster.leader()
        assert leader is not None
        assert "Could not activate Linux watchdog device" in cluster.member_logs(leader)

    def test_the_health_check_agrees_with_the_rest_api(self, cluster: Containers) -> None:
        assert [cluster.execute(number, "healthcheck") for number in MEMBERS] == ["200"] * 3

    def test_only_the_leader_is_primary(self, cluster: Containers) -> None:
        assert sorted(str(status(n, "/primary")) for n in MEMBERS) == ["200", "503", "503"]

    def test_unsafe_verbs_want_credentials(self, cluster: Containers) -> None:
        assert httpx.post(f"http://{address(1)}:8008/reload").status_code == 401
        credentials = ("queenright", SECRETS["pg_rest_pw"])
        answer = httpx.patch(f"http://{address(1)}:8008/config", json={"ttl": 30}, auth=credentials)
        assert answer.status_code == 200

    def test_create_db_keeps_every_character_and_no_secret(self, cluster: Containers) -> None:
        leader = cluster.leader()
        assert leader is not None
        role, database = "we\"ird us'er", 'my "d\'b"'
        first = cluster.builder.attempt(
            *("exec", f"queenright-images-member-{leader}", "create-db"),
            *(database, role, "first password"),
        )
        assert first.returncode == 0, first.stderr
        assert "others can read a password given as an argument" in first.stderr
        cluster.execute(leader, "sh", "-c", f"printf %s {shell(PASSWORD)} > /tmp/pw")
        cluster.execute(leader, "create-db", database, role, "--password-file", "/tmp/pw")
        assert (
            cluster.builder.docker(
                *("exec", "--env", f"PGPASSWORD={PASSWORD}", f"queenright-images-member-{leader}"),
                *("psql", "-X", "-h", address(leader), "-U", role, "-d", database, "-Atc"),
                "CREATE TABLE t (a int); SELECT current_user",
            ).splitlines()[-1]
            == role
        )
        log = cluster.member_logs(leader)
        assert "CREATE ROLE" in log
        assert "first password" not in log
        assert PASSWORD not in log
        assert "SCRAM-SHA-256$" not in log
        public = "SELECT datacl::text LIKE '%{=%' OR datacl::text LIKE '%,=%' FROM pg_database"
        literal = database.replace("'", "''")
        assert query(cluster, f"{public} WHERE datname = '{literal}'") == ["f"]

    def test_create_db_works_on_the_primary_only(self, cluster: Containers) -> None:
        leader = cluster.leader()
        assert leader is not None
        other = leader % 3 + 1
        result = cluster.builder.attempt(
            *("exec", f"queenright-images-member-{other}", "create-db", "a", "b", "c")
        )
        assert result.returncode == 3
        assert (
            f"member-{other} is not the primary: run it on the leader, member-{leader}"
            in result.stderr
        )

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("a", "postgres", "c"), "role postgres is the cluster's own"),
            (("postgres", "b", "c"), "database postgres is the cluster's own"),
            (("a", "b"), "give the password once"),
            (("a", "b", ""), "the password is empty"),
            (("a", "b" * 64, "c"), "longer than 63 bytes"),
        ],
    )
    def test_create_db_refuses(
        self, cluster: Containers, arguments: tuple[str, ...], words: str
    ) -> None:
        result = cluster.builder.attempt(
            *("exec", "queenright-images-member-1", "create-db", *arguments)
        )
        assert result.returncode == 2
        assert words in result.stderr

    def test_no_secret_shows(self, cluster: Containers) -> None:
        for number in MEMBERS:
            name = f"queenright-images-member-{number}"
            shown = cluster.member_logs(number) + cluster.builder.docker("inspect", name)
            assert not [secret for secret in SECRETS.values() if secret in shown]

    def test_no_member_leaves_an_anonymous_volume(self, cluster: Containers) -> None:
        mounts = json.loads(
            cluster.builder.docker(
                "inspect", "--format", "{{json .Mounts}}", "queenright-images-member-1"
            )
        )
        volumes = {mount["Name"] for mount in mounts if mount["Type"] == "volume"}
        assert volumes == {"queenright-images-data-1", "queenright-images-raft-1"}

    def test_every_command_of_the_control_tool(self, cluster: Containers) -> None:
        leader = cluster.leader()
        assert leader is not None
        second, third = leader % 3 + 1, (leader + 1) % 3 + 1

        def control(*arguments: str) -> str:
            return cluster.execute(third, "patronictl", "-c", "/tmp/patroni.yml", *arguments)

        listed = json.loads(control("list", "--format", "json"))
        assert sorted(member["Role"] for member in listed) == ["Leader", "Replica", "Replica"]
        assert {member["TL"] for member in listed} == {1}
        assert "paused" in control("pause", "--wait")
        assert "resumed" in control("resume", "--wait")
        changed = control("edit-config", "--set", "postgresql.parameters.work_mem=5MB", "--force")
        assert "Configuration changed" in changed
        moved = control("switchover", "--candidate", f"member-{second}", "--force")
        assert f'Successfully switched over to "member-{second}"' in moved
        eventually(cluster.replicas_stream, "everyone streams again")
        failed = control("failover", "--candidate", f"member-{leader}", "--force")
        assert f'Successfully failed over to "member-{leader}"' in failed
        eventually(cluster.replicas_stream, "everyone streams again")
        history = json.loads(control("history", "--format", "json"))
        assert [entry["New Leader"] for entry in history] == [
            f"member-{second}",
            f"member-{leader}",
        ]
        assert control("list") == cluster.execute(third, "patronictl", "list")

    def test_a_stopped_member_shuts_down_and_comes_back(self, cluster: Containers) -> None:
        leader = cluster.leader()
        assert leader is not None
        name = f"queenright-images-member-{leader % 3 + 1}"
        cluster.builder.docker("stop", "--time=60", name)
        assert cluster.exit_code(name) == 0
        assert "database system is shut down" in cluster.logs(name)
        volume = f"queenright-images-data-{leader % 3 + 1}:/data"
        shared = ("--user=0", "--entrypoint=chmod", f"--volume={volume}")
        assert cluster.fails("--rm", *shared, cluster.member_image, "755", "/data")[0] == 0
        cluster.builder.docker("start", name)
        eventually(cluster.replicas_stream, "the member streams again")
        listed = cluster.execute(leader % 3 + 1, "stat", "-c", "%a", "/home/postgres/pgdata")
        assert listed == "700"


class TestProxy:
    def test_nothing_is_routed_before_it_is_checked(self, cluster: Containers) -> None:
        config = proxy_config(cluster.files)
        name = "queenright-images-proxy"
        cluster.start_proxy(name, config, f"--ip={PREFIX}.20")
        begun = time.monotonic()
        up_after: dict[int, float] = {}
        while len(up_after) < 2 and time.monotonic() - begun < 15:
            for port in (5000, 5001):
                if port not in up_after and routed(f"{PREFIX}.20", port):
                    up_after[port] = time.monotonic() - begun
                    log = cluster.logs(name)
                    assert " is UP, reason: Layer7 check passed, code: 200" in log
            time.sleep(0.02)
        assert set(up_after) == {5000, 5001}
        assert min(up_after.values()) > 2  # two good checks, 3 s apart, less the spread
        cluster.builder.docker("network", "connect", OUTSIDE_NETWORK, name)
        assert page(f"{PREFIX}.20") == 200
        outside = cluster.builder.docker(
            *("inspect", "--format"),
            f'{{{{(index .NetworkSettings.Networks "{OUTSIDE_NETWORK}").IPAddress}}}}',
            name,
        )
        assert outside.startswith(OUTSIDE_PREFIX)
        assert page(outside) == 403
        cluster.builder.docker("stop", name)
        assert cluster.exit_code(name) == 143  # a failure: on-failure brings it back

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


def proxy_config(files: Path) -> Path:
    """The reference configuration with the test's members."""
    text = (SAMPLES / "haproxy.cfg").read_text()
    for number in MEMBERS:
        text = text.replace(f"10.77.0.{11 + number}:", f"{address(number)}:")
    path = files / "haproxy.cfg"
    path.write_text(text)
    path.chmod(0o444)
    return path


def routed(host: str, port: int) -> bool:
    """Whether a PostgreSQL server answers through the proxy."""
    try:
        with socket.create_connection((host, port), 1) as connection:
            connection.sendall(SSL_REQUEST)
            return connection.recv(1) in {b"N", b"S"}
    except OSError:
        return False


def page(host: str) -> int:
    """Status of the statistics page."""
    return httpx.get(f"http://{host}:7000/", timeout=5).status_code


def shell(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
