"""Decides where this cluster's backups and WAL lie, from the environment and the mounted secrets.

Invariant: the credentials stay in their file. Only its path goes to Barman, never its content to an
argument, the environment, or a message. Everything of one database system is in a folder named
after its system identifier, so that a cluster that is deployed anew under a former one's name
overwrites nothing of it.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

OWN, PARENT = "backup", "restore"
"""The cluster's own repository, and the one that it was restored from."""
COMPRESSIONS = ("gzip", "none")
DATA = Path("/home/postgres/pgdata")
SECRETS = Path("/run/secrets")
_URL = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_][A-Za-z0-9._-]*)+")
_ENDPOINT = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._/-]*)?")


class RepositoryError(Exception):
    """The repository can't be used as it is described; the message is one line."""


@dataclass(frozen=True)
class Repository:
    """The place of one cluster's backups; ``endpoint`` is empty for Amazon's own."""

    url: str
    endpoint: str
    region: str
    compression: str
    credentials: Path
    ca: Path | None

    @property
    def bucket(self) -> str:
        return self.url.removeprefix("s3://").partition("/")[0]

    @property
    def folder(self) -> str:
        """The cluster's folder in the bucket, with a slash at its end."""
        return self.url.removeprefix("s3://").partition("/")[2] + "/"

    @property
    def place(self) -> str:
        """The bucket and its server, for people."""
        return f"bucket {self.bucket} at {self.endpoint or 'Amazon S3'}"

    @property
    def options(self) -> list[str]:
        """The options that all of Barman's cloud commands take."""
        return ["--cloud-provider=aws-s3"] + (
            [f"--endpoint-url={self.endpoint}"] if self.endpoint else []
        )

    @property
    def upload_options(self) -> list[str]:
        """The options of those that write, beside the others."""
        return [] if self.compression == "none" else [f"--{self.compression}"]

    def environment(self) -> dict[str, str]:
        """Return the variables that Amazon's library reads.

        Checksums as a trailer of the upload, its default, are refused by most of the other servers.
        """
        found = {
            "AWS_SHARED_CREDENTIALS_FILE": str(self.credentials),
            "AWS_CONFIG_FILE": "/nonexistent",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_DEFAULT_REGION": self.region,
            "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
            "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
        }
        return found | ({"AWS_CA_BUNDLE": str(self.ca)} if self.ca else {})


def read_repository(
    environ: Mapping[str, str], secrets: Path = SECRETS, kind: str = OWN
) -> Repository:
    """Return the repository that the environment describes; RepositoryError if it does not.

    ``kind`` is that of the cluster's own or that of its parent, and begins the names of the
    variables (`BACKUP_URL`) and of the secrets' files (`backup_credentials`).
    """
    url_variable, endpoint_variable, region_variable, compression_variable = (
        f"{kind.upper()}_{name}" for name in ("URL", "ENDPOINT", "REGION", "COMPRESSION")
    )
    url = environ.get(url_variable, "")
    endpoint = environ.get(endpoint_variable, "")
    compression = environ.get(compression_variable, "") or "gzip"
    if not url:
        raise RepositoryError(f"environment variable {url_variable} is empty or unset")
    if not _URL.fullmatch(url):
        raise RepositoryError(f"environment variable {url_variable} is not s3://bucket/folder")
    if endpoint and not _ENDPOINT.fullmatch(endpoint):
        raise RepositoryError(
            f"environment variable {endpoint_variable} is not an http or https address"
        )
    if compression not in COMPRESSIONS:
        known = " or ".join(COMPRESSIONS)
        raise RepositoryError(f"environment variable {compression_variable} is not {known}")
    credentials, ca = secrets / f"{kind}_credentials", secrets / f"{kind}_ca"
    if not credentials.exists():
        raise RepositoryError(
            f"secret {credentials.name} is missing: there is no file {credentials}"
        )
    return Repository(
        url,
        endpoint,
        environ.get(region_variable, "") or "us-east-1",
        compression,
        credentials,
        ca if ca.exists() else None,
    )


def system_identifier(data: Path = DATA) -> str:
    """Return the identifier that `initdb` gave the database, by which its folder is named.

    It is what `pg_control` begins with, in the machine's own order of bytes.
    """
    file = data / "global/pg_control"
    try:
        with file.open("rb") as control:
            (found,) = struct.unpack("=Q", control.read(8))
    except (OSError, struct.error) as error:
        raise RepositoryError(f"{file} cannot be read ({error})") from None
    return str(found)
