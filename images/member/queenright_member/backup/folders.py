"""Lists places of the repository, which no command of Barman's does."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from .barman import BarmanError, cause_of
from .repository import Repository

TIMEOUT_S = 120.0
POLL_S = 0.2
_PROGRAM = """import sys, boto3
bucket, endpoint, *folders = sys.argv[1:]
client = boto3.client("s3", endpoint_url=endpoint or None)
pages = client.get_paginator("list_objects_v2")
for folder in folders:
    for page in pages.paginate(Bucket=bucket, Prefix=folder, Delimiter="/"):
        for found in page.get("CommonPrefixes", []):
            print(found["Prefix"])
        for found in page.get("Contents", []):
            print(found["Key"], found["LastModified"].isoformat())
"""


class Abandoned(Exception):  # noqa: N818 - no failure
    """The caller has no use for the answer any more."""


@dataclass(frozen=True)
class Listing:
    """The names in some places, without those of the places: folders with the slash at their end,
    and files with the moment at which the repository got them."""

    folders: tuple[str, ...]
    files: dict[str, datetime]


def listed(
    repository: Repository,
    places: Sequence[str],
    programs: Path,
    goes_on: Callable[[], bool] = lambda: True,
) -> Listing:
    """Return the names in some folders of the bucket, which end with a slash; BarmanError. It is
    given up when ``goes_on`` says no: Abandoned."""
    printed = _answer(repository, places, programs, goes_on)
    folders, files = [], {}
    for found in printed.splitlines():
        key, _, at = found.rpartition(" ")
        if at.endswith("/"):
            folders.append(found.rstrip("/").rpartition("/")[2] + "/")
        else:
            files[key.rpartition("/")[2]] = datetime.fromisoformat(at)
    return Listing(tuple(sorted(folders)), files)


def _answer(
    repository: Repository, places: Sequence[str], programs: Path, goes_on: Callable[[], bool]
) -> str:
    """Return what the program prints."""
    line = [str(programs / "python"), "-I", "-c", _PROGRAM]
    deadline = time.monotonic() + TIMEOUT_S
    with subprocess.Popen(
        [*line, repository.bucket, repository.endpoint, *places],
        env={**os.environ, **repository.environment()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        try:
            while True:
                try:
                    printed, errors = process.communicate(timeout=POLL_S)
                    break
                except subprocess.TimeoutExpired:
                    if not goes_on():
                        raise Abandoned from None
                    if time.monotonic() > deadline:
                        raise BarmanError(
                            f"{repository.place} did not answer within {TIMEOUT_S:.0f} s; see how "
                            "fast it is reached from this node"
                        ) from None
        finally:
            process.kill()
    if process.returncode != 0:
        raise BarmanError(cause_of(errors, repository, process.returncode))
    return printed


def folders_in(repository: Repository, folder: str, programs: Path) -> list[str]:
    """Return the names of the folders in a folder, which ends with a slash; BarmanError."""
    return [name.rstrip("/") for name in listed(repository, [folder], programs).folders]
