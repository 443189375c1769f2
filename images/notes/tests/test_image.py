"""Tests the contents of the image and deployment files (spec: notes-app §2.2 to §2.4)."""

import re
from pathlib import Path

import pytest

from notes.config import load
from tests.test_config import GOOD

HOME = Path(__file__).parent.parent
DOCKERFILE = (HOME / "Dockerfile").read_text()


def test_the_image_is_unprivileged_and_says_how_it_is() -> None:
    assert re.search(r"^USER notes$", DOCKERFILE, re.MULTILINE)
    assert "--chown=0:0 /app /app" in DOCKERFILE
    assert "go-w /app" in DOCKERFILE
    assert "EXPOSE 3000" in DOCKERFILE
    assert "/healthz" in DOCKERFILE
    assert "--require-hashes" in DOCKERFILE
    assert re.search(r'^CMD \["notes"\]$', DOCKERFILE, re.MULTILINE), "signals reach the process"


@pytest.mark.parametrize("name", ["compose.yaml", "stack.yaml"])
def test_deployments_are_hardened(name: str) -> None:
    text = (HOME / name).read_text()
    for expected in ("read_only: true", "tmpfs: [/tmp]", "cap_drop: [ALL]", "grace_period: 30s"):
        assert expected in text
    grace = re.search(r"stop_grace_period: (\d+)s", text)
    assert grace
    assert int(grace[1]) > load(GOOD).shutdown_timeout_s


def test_the_compose_file_binds_to_loopback_and_keeps_only_the_database() -> None:
    text = (HOME / "compose.yaml").read_text()
    assert '"127.0.0.1:${APP_PORT:-3000}:3000"' in text
    assert "no-new-privileges:true" in text
    assert text.count("volumes:") == 2, "the database's, and its declaration"


def test_the_stack_file_uses_the_contracts_names() -> None:
    text = (HOME / "stack.yaml").read_text()
    for expected in (
        "app_database_url",
        "app_encryption_key",
        "${APP_REPLICAS:-2}",
        "order: start-first",
        "failure_action: rollback",
        "${APP_VERSION",
        "${APP_ORIGIN",
    ):
        assert expected in text


def test_empty_variables_count_as_unset() -> None:
    """Compose passes unset variables as empty ones."""
    settings = load({**GOOD, "OIDC_ISSUER": "", "PROTOCOL_HEADER": "", "XFF_DEPTH": ""})
    assert settings.oidc is None
    assert settings.xff_depth == 1
