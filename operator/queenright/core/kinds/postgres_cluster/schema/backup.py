"""Field for the backups' place: S3-compatible storage, where each member archives its WAL, of the
owner's or on a volume of a node.

The contract has no backups (spec: database-cluster §1.8), so without this field nothing is
rendered. No field here holds a credential: `credentials` and `ca` name swarm secrets.
"""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema
from pydantic.config import JsonDict

from queenright.core.manifest.cron import CRON_PATTERN, EXAMPLE, Schedule, read_cron
from queenright.core.manifest.model import Part
from queenright.core.manifest.names import Address, Image, NodeName, Port, SecretName
from queenright.core.manifest.quantities import GIBI, MEBI, Seconds, Size
from queenright.core.manifest.suggestions import UnfitValueError, describe, fits

_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
ENDPOINT = rf"^https?://{_HOST}(?::[0-9]{{1,5}})?(?:/[A-Za-z0-9._/-]*)?$"
BUCKET = r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"
_FOLDER = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
PREFIX = rf"^{_FOLDER}(/{_FOLDER})*$"
PREFIX_MOST = 200
WEEKLY = "weekly"
REGION = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"


def _endpoint(value: str) -> str:
    if "@" in value or "?" in value:
        # What stands before an @ may be a password: it is not repeated.
        raise UnfitValueError(
            "must be an address alone, such as https://s3.example.org:9000; the credentials are in "
            "the secret that `credentials` names"
        )
    if not re.fullmatch(ENDPOINT, value):
        raise UnfitValueError(
            f"{describe(value)} is not the address of an S3 server such as "
            "https://s3.example.org:9000 (http or https, without the bucket)"
        )
    return value


def _prefix(value: str) -> str:
    if len(value) > PREFIX_MOST or not re.fullmatch(PREFIX, value):
        raise UnfitValueError(
            f"{describe(value)} is not a folder such as clusters/berlin: letters, digits, dots, "
            f"hyphens and underscores between slashes, at most {PREFIX_MOST} characters, no slash "
            "first or last, no dot or hyphen first in a part"
        )
    return value


Endpoint = Annotated[
    str,
    AfterValidator(_endpoint),
    WithJsonSchema({"type": "string", "pattern": ENDPOINT}),
]
Bucket = Annotated[
    str,
    AfterValidator(
        fits(
            BUCKET,
            "a bucket's name: 3 to 63 lower-case letters, digits, dots and hyphens, a letter or "
            "digit first and last; folders in it go to `prefix`",
        )
    ),
    WithJsonSchema({"type": "string", "pattern": BUCKET}),
]
Prefix = Annotated[
    str,
    AfterValidator(_prefix),
    WithJsonSchema({"type": "string", "pattern": PREFIX, "maxLength": PREFIX_MOST}),
]
Region = Annotated[
    str,
    AfterValidator(
        fits(REGION, "a region such as eu-central-1: lower-case letters, digits and hyphens")
    ),
    WithJsonSchema({"type": "string", "pattern": REGION}),
]


VOLUME_BUCKET = "backups"
"""The bucket on a volume, which the repository's server makes."""


class RepositoryVolume(Part):
    """A volume on one node, and the operator's service `<name>_repository` there, which serves it
    as S3 storage. The volume `<name>_repository-data` is never removed."""

    node: NodeName = Field(
        description="Node with the volume. It needs room for all backups and WAL that are kept. A "
        "node without a member is better: a backup beside the data is lost with them.",
        examples=["node5"],
    )
    image: Image = Field(
        description="The repository's image: OpenStack Swift with its S3 interface.",
        examples=["10.77.0.1:5000/queenright-repository:2.30"],
    )
    port: Port = Field(
        default=9000,
        description="Port of the S3 server on that node, published in host mode.",
    )
    address: Address | None = Field(
        default=None,
        description="Address by which members and drills reach the node. Default: the one swarm "
        "knows it by.",
        examples=["10.77.0.15"],
    )
    certificate: SecretName | None = Field(
        default=None,
        description="Swarm secret with the server's key and certificate for `address` (PEM, one "
        "file); `ca` then names the authority that signed it. It has to be there. Default: none; "
        "the server speaks http, and whoever is in the network between can read all data.",
        examples=["main_repository_certificate"],
    )
    memory: Size = Field(
        default=GIBI,
        ge=384 * MEBI,
        description="Hard limit of the service's memory, in bytes or with a unit.",
    )
    stop_grace_period_s: Seconds = Field(
        default=30, description="Time between SIGTERM and SIGKILL, for requests under way."
    )


class S3Repository(Part):
    """A bucket in S3-compatible storage. The cluster's folder in it is named after the cluster, and
    has one folder for each database system, so that a cluster that is deployed anew overwrites
    nothing."""

    bucket: Bucket = Field(
        description="Name of the bucket. It has to be there: nothing makes it.",
        examples=["backups"],
    )
    credentials: SecretName = Field(
        description="Swarm secret with a credentials file as Amazon's tools read it: `[default]`, "
        "`aws_access_key_id = …`, `aws_secret_access_key = …`, a line each. It has to be there. "
        "With `volume` you choose both: two words with a colon, such as backup:main, and 16 to 128 "
        "letters and digits.",
        examples=["main_backup_credentials"],
    )
    endpoint: Endpoint | None = Field(
        default=None,
        description="Address of the S3 server, as the members reach it. Default: Amazon's own.",
        examples=["https://s3.example.org:9000"],
    )
    prefix: Prefix | None = Field(
        default=None,
        description="Folder in the bucket, around the cluster's own. Default: none.",
        examples=["clusters/berlin"],
    )
    region: Region = Field(default="us-east-1", description="The bucket's region.")
    ca: SecretName | None = Field(
        default=None,
        description="Swarm secret with the certificate (PEM) of the authority that signed the "
        "server's. It has to be there. Default: the authorities that the member image trusts.",
        examples=["s3_ca"],
    )


def _without_bucket(schema: JsonDict) -> None:
    """Take the bucket, which a volume has by itself, from the fields that have to be written."""
    schema["required"] = ["credentials"]


class BackupRepository(S3Repository):
    """A bucket in S3-compatible storage, or a volume. The cluster's folder in it is named after the
    cluster, and has one folder for each database system, so that a cluster that is deployed anew
    overwrites nothing."""

    model_config = ConfigDict(json_schema_extra=_without_bucket)

    bucket: Bucket = Field(
        description="Name of the bucket. It has to be there: nothing makes it. Required without "
        f"`volume`, whose own is `{VOLUME_BUCKET}`.",
        examples=["backups"],
    )
    volume: RepositoryVolume | None = Field(
        default=None,
        description="A volume on a node in place of storage of your own. Default: none.",
    )


class Retention(Part):
    """Backups that are kept: all that `count` or `days` names, and what those need. Barman removes
    the others after each backup that was made, with the WAL that no kept one needs; a backup that
    `barman-cloud-backup-keep` keeps stays."""

    count: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="The newest backups, at least so many. Default: those that `days` needs.",
        examples=[7],
    )
    days: int | None = Field(
        default=None,
        ge=1,
        le=3650,
        description="Any moment of so many days can be restored: the backups of that time stay, "
        "and the last one before it. Default: those that `count` names.",
        examples=[30],
    )


def _drill_schedule(value: str) -> str:
    if value != WEEKLY and " " not in value:
        raise UnfitValueError(
            f"{describe(value)} is neither {WEEKLY} nor a schedule as cron writes it, {EXAMPLE}"
        )
    if value != WEEKLY:
        read_cron(value)
    return " ".join(value.split())


DrillSchedule = Annotated[
    str,
    AfterValidator(_drill_schedule),
    WithJsonSchema({"type": "string", "pattern": rf"{CRON_PATTERN}|^{WEEKLY}$"}),
]


class Drill(Part):
    """A drill restores the latest base backup with all archived WAL into a job of its own on this
    node, which touches no member, checks the data, and removes them."""

    node: NodeName = Field(
        description="Node on which it runs. It needs room for the whole database, the image of "
        "the members, and a way to the repository; a node without a member spares those.",
        examples=["node4"],
    )
    schedule: DrillSchedule | None = Field(
        default=None,
        description="When drills are made: `weekly` (each Sunday at 04:00), or as cron has it; in "
        "UTC. The first is made as soon as there is a base backup. Default: only those that "
        "`queenright backup verify` asks for.",
        examples=[WEEKLY],
    )
    memory: Size = Field(
        default=GIBI,
        ge=256 * MEBI,
        description="Hard limit of the job's memory, in bytes or with a unit.",
    )


class BackupSpec(Part):
    """Continuous archiving of the WAL by whichever member leads: PostgreSQL's `archive_mode` is
    `always`, so that replicas keep what is not archived yet, and a segment that nothing fills is
    archived after `archive_timeout` (1min, unless `postgresql.parameters` has another)."""

    repository: BackupRepository = Field(description="The place of backups and WAL.")
    compression: Literal["gzip", "none"] = Field(
        default="gzip", description="Compression of what is stored."
    )
    schedule: Schedule | None = Field(
        default=None,
        description="When base backups are made: minute, hour, day of the month, month, day of the "
        "week, as cron has them, in UTC. The first is made at once. Default: only those that "
        "`queenright backup now` asks for.",
        examples=["30 2 * * *"],
    )
    source: Literal["replica", "leader"] = Field(
        default="replica",
        alias="from",
        description="Member whose data are copied. `replica`: one that is well; the leader where "
        "none has been for ten minutes.",
    )
    create_replicas_from: Literal["leader", "backup"] = Field(
        default="leader",
        description="Where the data of a new replica come from. `leader`: a running member is "
        "copied. `backup`: the newest base backup and the archived WAL, which spares the leader; a "
        "running member is copied where these do not reach the WAL that the leader has.",
    )
    retention: Retention | None = Field(
        default=None, description="Backups that are kept. Default: all; nothing is removed."
    )
    drill: Drill | None = Field(
        default=None,
        description="Restores that prove the backups. Default: none; nobody knows that a backup "
        "can be restored.",
    )
