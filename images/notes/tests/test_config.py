"""Tests every variable of the contract, with valid and invalid values."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from notes.config import ConfigError, load, parse_size

GOOD = {"DATABASE_URL": "postgresql://u:hush@db/notes", "APP_ENCRYPTION_KEY": "k" * 32}


def problems(**env: str) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load({**GOOD, **env})
    return {p.variable: p.message for p in caught.value.problems}


def test_defaults_are_the_contract() -> None:
    settings = load(GOOD)
    assert settings.port == 3000
    assert settings.host == "0.0.0.0"
    assert settings.max_attachment_bytes == 1024 * 1024 * 1024
    assert settings.body_limit_bytes == 256 * 1024 * 1024
    assert settings.shutdown_timeout_s == 20
    assert settings.xff_depth == 1
    assert settings.origin is settings.oidc is settings.protocol_header is None
    assert settings.host_header is settings.address_header is None
    assert "hush" not in repr(settings)
    assert "kkkk" not in repr(settings)


def test_every_variable_can_come_from_a_file(tmp_path: Path) -> None:
    for name, value in {**GOOD, "ORIGIN": "https://a.example", "PORT": "4000"}.items():
        (tmp_path / name).write_text(value + "\n")
    files = {f"{n}_FILE": str(tmp_path / n) for n in (*GOOD, "ORIGIN", "PORT")}
    settings = load(files)
    assert (settings.database_url, settings.port) == (GOOD["DATABASE_URL"], 4000)
    assert settings.main_host == "a.example"


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        load({"APP_ENCRYPTION_KEY": "short", "PORT": "x", "XFF_DEPTH": "0", "ORIGIN": "ftp://a"})
    names = {p.variable for p in caught.value.problems}
    assert names == {"DATABASE_URL", "APP_ENCRYPTION_KEY", "PORT", "XFF_DEPTH", "ORIGIN"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgresql://u:hush@[broken"),
        ("APP_ENCRYPTION_KEY", "k" * 31),
        ("ORIGIN", "https://a.example/path"),
        ("ORIGIN", "a.example"),
        ("MAX_ATTACHMENT_MB", "0"),
        ("MAX_ATTACHMENT_MB", "-1"),
        ("APP_EXTRA_HOSTS", "good.example,bad host"),
        ("PORT", "65536"),
        ("HOST", "a b"),
        ("BODY_SIZE_LIMIT", "12X"),
        ("BODY_SIZE_LIMIT", "0"),
        ("SHUTDOWN_TIMEOUT", "1.5"),
        ("PROTOCOL_HEADER", "x forwarded"),
        ("HOST_HEADER", "x:y"),
        ("ADDRESS_HEADER", "ü"),
        ("XFF_DEPTH", "two"),
        ("OIDC_ISSUER", "id.example.org"),
    ],
)
def test_wrong_values_are_named_without_showing_secrets(name: str, value: str) -> None:
    found = problems(**{name: value})
    assert name in found
    assert "hush" not in " ".join(found.values())
    assert GOOD["APP_ENCRYPTION_KEY"] not in " ".join(found.values())


def test_single_sign_on_is_whole_or_absent() -> None:
    assert set(problems(OIDC_ISSUER="https://id.example")) == {
        "OIDC_CLIENT_ID",
        "OIDC_CLIENT_SECRET",
    }
    oidc = {
        "OIDC_ISSUER": "https://id.example",
        "OIDC_CLIENT_ID": "notes",
        "OIDC_CLIENT_SECRET": "s",
    }
    assert set(problems(**oidc, OIDC_ADMIN_GROUP="admins")) == {"OIDC_GROUPS_CLAIM"}
    assert load({**GOOD, **oidc}).oidc is not None


def test_a_file_that_cannot_be_used_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert "PORT_FILE" in problems(PORT_FILE=str(tmp_path / "none"))
    assert "PORT_FILE" in problems(PORT_FILE=str(tmp_path / "empty"))
    assert "PORT_FILE" in problems(PORT_FILE=str(tmp_path / "binary"))
    assert "PORT" in problems(PORT="1", PORT_FILE=str(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512), ("512K", 524_288), ("256M", 268_435_456), ("1g", 1_073_741_824)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "notes.main", *arguments],
        env={"PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_tells_problems_a_line_each_and_exits_2() -> None:
    for arguments in ((), ("--check-config",)):
        done = run(*arguments, APP_ENCRYPTION_KEY="short", PORT="none")
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 3
        assert "Traceback" not in done.stderr


def test_check_config_says_that_all_is_well() -> None:
    assert run("--check-config", **GOOD).returncode == 0
