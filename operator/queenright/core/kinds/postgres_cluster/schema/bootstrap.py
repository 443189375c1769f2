"""Field for what a new cluster begins with: the backup of another one, its parent.

It counts once, before there is a cluster: what is deployed is never restored over. No field here
holds a credential: `credentials` and `ca` name swarm secrets.
"""

from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from queenright.core.kinds.postgres_cluster.schema.backup import S3Repository
from queenright.core.manifest.model import Part
from queenright.core.manifest.moments import Moment
from queenright.core.manifest.names import Name
from queenright.core.manifest.suggestions import fits

LSN = r"^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$"
RESTORE_POINT = r"^[A-Za-z0-9_]([A-Za-z0-9_.: -]{0,61}[A-Za-z0-9_])?$"
SYSTEM = r"^[0-9]{15,20}$"
BACKUP_ID = r"^[0-9]{8}T[0-9]{6}$"


Lsn = Annotated[
    str,
    AfterValidator(fits(LSN, "a place in the WAL such as 0/3000060")),
    WithJsonSchema({"type": "string", "pattern": LSN}),
]
RestorePoint = Annotated[
    str,
    AfterValidator(
        fits(
            RESTORE_POINT,
            "the name of a restore point: 1 to 63 letters, digits, underscores, and dots, colons, "
            "blanks and hyphens between them",
        )
    ),
    WithJsonSchema({"type": "string", "pattern": RESTORE_POINT}),
]
System = Annotated[
    str,
    AfterValidator(
        fits(
            SYSTEM,
            'the identifier of a database system, such as "7412345678901234567" (digits in quotes)',
        )
    ),
    WithJsonSchema({"type": "string", "pattern": SYSTEM}),
]
BackupId = Annotated[
    str,
    AfterValidator(fits(BACKUP_ID, "the name of a base backup such as 20260131T120004")),
    WithJsonSchema({"type": "string", "pattern": BACKUP_ID}),
]


class RestoreTarget(Part):
    """The end of a recovery: one of these."""

    time: Moment | None = Field(
        default=None,
        description="The last moment whose commits are restored.",
        examples=["2026-01-31T11:59:59Z"],
    )
    lsn: Lsn | None = Field(
        default=None,
        description="The last place in the WAL that is replayed.",
        examples=["0/3000060"],
    )
    name: RestorePoint | None = Field(
        default=None,
        description="A restore point that `pg_create_restore_point` made.",
        examples=["before_the_upgrade"],
    )


class RestoredBackup(Part):
    """Base backup and archived WAL of the parent, as its `backup` wrote them."""

    repository: S3Repository = Field(description="The place of the parent's backups and WAL.")
    cluster: Name = Field(description="The parent's name.", examples=["main"])
    system: System | None = Field(
        default=None,
        description="Identifier of the parent's database system, in quotes. Default: the only one "
        "in the parent's folder; where it was deployed several times, it has to be written.",
        examples=["7412345678901234567"],
    )
    base: BackupId | None = Field(
        default=None,
        description="The base backup to begin with. Default: the newest that ended before the "
        "target; for a restore point the oldest.",
        examples=["20260131T120004"],
    )
    timeline: int | None = Field(
        default=None,
        ge=1,
        le=999_999_999,
        description="The timeline along which the WAL is replayed. Default: the newest one in the "
        "archive.",
        examples=[4],
    )
    target: RestoreTarget | None = Field(
        default=None,
        description="Where the recovery ends. Default: at the end of the archived WAL.",
    )


class BootstrapSource(Part):
    """The source of a new cluster's first data."""

    backup: RestoredBackup = Field(description="A backup of another cluster.")


class Bootstrap(Part):
    """The beginning of a new cluster. It counts once, while the cluster was never healthy and its
    first member has no data; later it changes nothing."""

    source: BootstrapSource = Field(alias="from", description="Where the first data come from.")
