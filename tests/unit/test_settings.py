"""The environment as settings: defaults, spellings, and every problem at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from queenright.settings import Docker, Listen, Settings, SettingsError, read_settings


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    assert read_settings({}) == Settings(
        manifests=Path("/etc/queenright"),
        state_dir=Path("/var/lib/queenright"),
        secrets_dir=Path("/run/secrets"),
        docker=Docker(host="unix:///var/run/docker.sock"),
        log_format="auto",
        log_level="info",
        resync_interval_s=15,
        file_poll_interval_s=0.1,
        member_poll_interval_s=1,
        docker_timeout_s=10,
        member_timeout_s=2,
    )


def test_everything_can_be_set() -> None:
    assert read_settings(
        {
            "QUEENRIGHT_MANIFESTS": "/srv/cluster.yaml",
            "QUEENRIGHT_STATE_DIR": "/srv/state",
            "QUEENRIGHT_SECRETS_DIR": "/srv/secrets",
            "DOCKER_HOST": "tcp://10.77.0.11:2376",
            "DOCKER_TLS_VERIFY": "1",
            "DOCKER_CERT_PATH": "/certs",
            "QUEENRIGHT_LOG_FORMAT": "JSON",
            "QUEENRIGHT_LOG_LEVEL": "debug",
            "QUEENRIGHT_RESYNC_INTERVAL": "1m",
            "QUEENRIGHT_FILE_POLL_INTERVAL": "250ms",
            "QUEENRIGHT_MEMBER_POLL_INTERVAL": "2",
            "QUEENRIGHT_DOCKER_TIMEOUT": "1.5s",
            "QUEENRIGHT_MEMBER_TIMEOUT": "500ms",
            "HOME": "/root",
        }
    ) == Settings(
        manifests=Path("/srv/cluster.yaml"),
        state_dir=Path("/srv/state"),
        secrets_dir=Path("/srv/secrets"),
        docker=Docker(host="tcp://10.77.0.11:2376", tls_verify=True, cert_path=Path("/certs")),
        log_format="json",
        log_level="debug",
        resync_interval_s=60,
        file_poll_interval_s=0.25,
        member_poll_interval_s=2,
        docker_timeout_s=1.5,
        member_timeout_s=0.5,
    )


def test_an_empty_state_directory_means_none() -> None:
    assert read_settings({"QUEENRIGHT_STATE_DIR": ""}).state_dir is None
    assert read_settings({"QUEENRIGHT_MANIFESTS": " "}).manifests == Path("/etc/queenright")


def test_the_docker_sdk_gets_its_own_words() -> None:
    docker = Docker(host="tcp://h:2376", tls_verify=True, cert_path=Path("/certs"))
    assert docker.environment == {
        "DOCKER_HOST": "tcp://h:2376",
        "DOCKER_TLS_VERIFY": "1",
        "DOCKER_CERT_PATH": "/certs",
    }
    assert Docker().environment == {"DOCKER_HOST": "unix:///var/run/docker.sock"}


@pytest.mark.parametrize(
    "host", ["ssh://me@10.0.0.5", "fd://", "npipe:////./pipe/docker", "tcp://10.0.0.5:99999"]
)
def test_an_engine_is_reached_in_a_way_that_is_spoken(host: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"DOCKER_HOST": host})
    (problem,) = caught.value.problems
    assert problem.startswith("DOCKER_HOST: must be an address such as unix:///var/run/docker.sock")
    assert f'"{host}"' in problem
    assert ("ssh -N -L" in problem) is host.startswith("ssh")


def test_all_problems_at_once_each_by_its_name() -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(
            {
                "DOCKER_HOST": "10.77.0.11",
                "QUEENRIGHT_LOG_FORMAT": "xml",
                "QUEENRIGHT_RESYNC_INTERVAL": "soon",
                "QUEENRIGHT_DOCKER_TIMEOUT": "0",
                "QUEENRIGHT_RESYNC_INTERVALL": "1",
            }
        )
    problems = caught.value.problems
    assert [problem.partition(":")[0] for problem in problems] == [
        "DOCKER_HOST",
        "QUEENRIGHT_LOG_FORMAT",
        "QUEENRIGHT_RESYNC_INTERVAL",
        "QUEENRIGHT_DOCKER_TIMEOUT",
        "QUEENRIGHT_RESYNC_INTERVALL",
    ]
    assert 'must be one of auto, json, console, not "xml"' in problems[1]
    assert "must be a duration such as 30s" in problems[2]
    assert 'must be at least 0.5 s, not "0"' in problems[3]
    assert "unknown setting; the settings are QUEENRIGHT_DOCKER_TIMEOUT" in problems[4]


@pytest.mark.parametrize(
    ("text", "address", "port"),
    [
        ("8790", "127.0.0.1", 8790),
        ("127.0.0.1:8790", "127.0.0.1", 8790),
        ("localhost:8790", "127.0.0.1", 8790),
        ("[::1]:8790", "::1", 8790),
    ],
)
def test_the_page_listens_on_the_loopback_unless_told_otherwise(
    text: str, address: str, port: int
) -> None:
    listen = read_settings({"QUEENRIGHT_LISTEN": text}).listen
    assert listen == Listen(address=address, port=port)
    assert listen.is_loopback


@pytest.mark.parametrize("address", ["0.0.0.0", "10.77.0.11", "[::]", "[fd00::1]"])
def test_other_addresses_need_a_token(address: str) -> None:
    given = {"QUEENRIGHT_LISTEN": f"{address}:8790", "QUEENRIGHT_LISTEN_NAMES": "Board.example, b"}
    with pytest.raises(SettingsError, match="QUEENRIGHT_LISTEN_TOKEN_FILE"):
        read_settings(given)
    listen = read_settings({**given, "QUEENRIGHT_LISTEN_TOKEN_FILE": "/run/secrets/page"}).listen
    assert listen == Listen(
        address=address.strip("[]"),
        port=8790,
        names=("board.example", "b"),
        token_file=Path("/run/secrets/page"),
    )


@pytest.mark.parametrize(
    "text",
    [":8790", "0", "65536", "host.example:8790", "::1:8790", "[127.0.0.1]:1", "127.0.0.1:", "x"],
)
def test_what_is_no_address_to_listen_on_is_a_problem(text: str) -> None:
    with pytest.raises(SettingsError, match="must be ADDRESS:PORT or PORT"):
        read_settings({"QUEENRIGHT_LISTEN": text})


@pytest.mark.parametrize("text", ["a b", "*", "a/b", "http://a", "-"])
def test_what_is_no_host_name_is_a_problem(text: str) -> None:
    with pytest.raises(SettingsError, match="QUEENRIGHT_LISTEN_NAMES"):
        read_settings({"QUEENRIGHT_LISTEN": "8790", "QUEENRIGHT_LISTEN_NAMES": text})
