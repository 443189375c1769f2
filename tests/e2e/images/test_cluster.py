"""Three members and a proxy, as their images run: a real cluster, its commands, its secrets."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from tests.e2e.image_containers import (
    MEMBERS,
    OUTSIDE_NETWORK,
    OUTSIDE_PREFIX,
    PREFIX,
    SECRETS,
    Containers,
    address,
    eventually,
    page,
    proxy_config,
    routed,
    status,
)
from tests.support import web

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]

PASSWORD = "p$ä\"w\\:x` %';--"


def query(containers: Containers, sql: str) -> list[str]:
    """Rows of a query on the leader, as the superuser through the socket."""
    leader = containers.leader()
    assert leader is not None
    command = ("psql", "-X", "-U", "postgres", "-d", "postgres", "-Atc", sql)
    return containers.execute(leader, *command).splitlines()


def shell(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


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

    def test_a_member_that_copies_is_healthy_only_with_the_flag(self, cluster: Containers) -> None:
        replica = next(number for number in MEMBERS if number != cluster.leader())
        ask = "healthcheck 8008 {}; echo {} $?; "
        rounds = f"{ask.format('--or-starting', 'flag')}{ask.format('', 'plain')}"
        # Some seconds before the copy, and until it is whole: a busy machine copies for longer.
        loop = (
            "copied=; until [ $copied ] && healthcheck 8008 >/dev/null; do "
            f"{rounds}healthcheck 8008 | grep -q creating && copied=1; done; {rounds}"
        )
        with ThreadPoolExecutor() as beside:
            asked = beside.submit(
                cluster.execute, replica, "sh", "-c", f"timeout 90 sh -c '{loop}'; :"
            )
            credentials = ("queenright", SECRETS["pg_rest_pw"])
            url = f"http://{address(replica)}:8008/reinitialize"
            assert web.post(url, json={"force": True}, auth=credentials).status_code == 200
            lines = asked.result().splitlines()
        found = set(pairwise(lines))
        assert ("503 creating replica", "flag 0") in found
        assert ("503 creating replica", "plain 1") in found
        assert ("200", "plain 0") in found
        assert not {("503 stopped", "flag 0"), ("503 stopping", "flag 0")} & found
        eventually(lambda: status(replica, "/replica") == 200, "a whole replica")

    def test_only_the_leader_is_primary(self, cluster: Containers) -> None:
        assert sorted(str(status(n, "/primary")) for n in MEMBERS) == ["200", "503", "503"]

    def test_unsafe_verbs_want_credentials(self, cluster: Containers) -> None:
        assert web.post(f"http://{address(1)}:8008/reload").status_code == 401
        credentials = ("queenright", SECRETS["pg_rest_pw"])
        answer = web.patch(f"http://{address(1)}:8008/config", json={"ttl": 30}, auth=credentials)
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
        (begun,) = {member["TL"] for member in listed}
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
        assert [(entry["TL"], entry["New Leader"]) for entry in history[-2:]] == [
            (begun, f"member-{second}"),
            (begun + 1, f"member-{leader}"),
        ]

        def timelines() -> set[int]:
            return {member["TL"] for member in json.loads(control("list", "--format", "json"))}

        # A replica reports the new timeline with its next turn.
        eventually(lambda: timelines() == {begun + 2}, "everyone on the new timeline")
        tables = control("list"), cluster.execute(third, "patronictl", "list")
        first, again = (re.sub(r"0/[0-9A-F]+", "the WAL position", table) for table in tables)
        assert first == again

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
            time.sleep(0.02)
        assert set(up_after) == {5000, 5001}
        found = [line for line in cluster.logs(name).splitlines() if " is up after 2 good " in line]
        assert any("primary/" in line for line in found), found
        assert any("replicas/" in line for line in found), found
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
