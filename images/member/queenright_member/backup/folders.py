"""Lists the folders below a place of the repository, which no command of Barman's does."""

import os
import subprocess
from pathlib import Path

from .barman import BarmanError, cause_of
from .repository import Repository

TIMEOUT_S = 120.0
_PROGRAM = """import sys, boto3
bucket, folder, endpoint = sys.argv[1:]
client = boto3.client("s3", endpoint_url=endpoint or None)
pages = client.get_paginator("list_objects_v2")
for page in pages.paginate(Bucket=bucket, Prefix=folder, Delimiter="/"):
    for found in page.get("CommonPrefixes", []):
        print(found["Prefix"])
"""


def folders_in(repository: Repository, folder: str, programs: Path) -> list[str]:
    """Return the names of the folders in a folder, which ends with a slash; BarmanError."""
    line = [str(programs / "python"), "-I", "-c", _PROGRAM]
    try:
        done = subprocess.run(
            [*line, repository.bucket, folder, repository.endpoint],
            env={**os.environ, **repository.environment()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BarmanError(
            f"{repository.place} did not answer within {TIMEOUT_S:.0f} s; see how fast it is "
            "reached from this node"
        ) from None
    if done.returncode != 0:
        raise BarmanError(cause_of(done.stderr, repository, done.returncode))
    return sorted(name.removeprefix(folder).rstrip("/") for name in done.stdout.splitlines())
