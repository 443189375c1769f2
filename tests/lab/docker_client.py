"""The docker command line: which program it is, its environment, and how it is run."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path

from tests.lab.engine import Engine, EngineError
from tests.lab.settings import LabError


def docker_command() -> str:
    """The docker client to use: Debian's, which is of the engine's age, or what PATH has."""
    return next(
        (c for c in ("/usr/bin/docker", shutil.which("docker")) if c and os.access(c, os.X_OK)),
        "docker",
    )


def client_environment(engine: Engine, host: str, config: Path) -> dict[str, str]:
    """DOCKER_* variables of a client of an engine; `config` is made if it is not there."""
    config.mkdir(parents=True, exist_ok=True)
    try:
        version = str(engine.get("/version", timeout_s=2)["ApiVersion"])
    except (OSError, EngineError, HTTPException):
        version = "1.41"
    return {
        "DOCKER_HOST": host,
        "DOCKER_API_VERSION": version,
        "DOCKER_CONFIG": str(config),
    }


def finish(
    argv: list[str],
    environment: Mapping[str, str] | None,
    text: str | None,
    timeout_s: float,
    *,
    check: bool,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; with `check`, LabError with its words when it fails."""
    result = subprocess.run(
        argv,
        env=environment,
        input=text if text is not None else "",
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if check and result.returncode != 0:
        said = (result.stderr or result.stdout).strip()
        raise LabError(f"`{' '.join(argv)}` failed ({result.returncode}): {said}")
    return result
