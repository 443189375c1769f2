"""An identity provider on the lab's LAN, and the fields of the application's file that name it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.e2e.swarm_facts import eventually
from tests.lab.lab import Lab
from tests.support import web

PROGRAM = (
    Path(__file__).parents[3] / "images" / "notes" / "tests" / "judges" / "identity_provider.mjs"
)
PORT = 9444
CLIENT_SECRET = "the client's secret of this test"
SECRET_NAME = "notes_oidc_secret"


@contextmanager
def provider(lab: Lab, callback: str) -> Iterator[str]:
    """A real OpenID provider that knows the application and two people; its issuer's URL."""
    address = lab.settings.gateway
    issuer = f"http://{address}:{PORT}"
    command = ["node", str(PROGRAM), str(PORT), "notes", CLIENT_SECRET, callback]
    environ = {**os.environ, "PROVIDER_ADDRESS": address}
    process = subprocess.Popen(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def answers() -> bool:
        assert process.poll() is None, "the provider has ended"
        try:
            return web.get(f"{issuer}/.well-known/openid-configuration").is_success
        except httpx.HTTPError:
            return False

    try:
        eventually(answers, "the identity provider")
        yield issuer
    finally:
        process.terminate()
        process.wait(10)
