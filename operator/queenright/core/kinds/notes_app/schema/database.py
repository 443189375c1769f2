"""Fields of a notes application's storage: database, keys, and dumps before upgrades."""

from typing import ClassVar, Literal

from pydantic import Field

from queenright.core.kinds.notes_app.schema.names import MountedPath, OwnerName
from queenright.core.manifest.model import Part, Worded
from queenright.core.manifest.names import Image, Name, NodeName, ObjectName, SecretName
from queenright.core.manifest.quantities import Seconds


class AppDatabase(Part):
    """The database: one of a cluster of these files, which the operator makes, or another, whose
    connection string is in a secret (spec: notes-app §2.1, §2.3)."""

    cluster: Name | None = Field(
        default=None,
        description="Name of the `PostgresCluster` that has the database.",
        examples=["main"],
    )
    name: OwnerName | None = Field(
        default=None,
        description="Name of the database; it is made empty. Default: `metadata.name`, with "
        "underscores for hyphens.",
        examples=["notes"],
    )
    role: OwnerName | None = Field(
        default=None,
        description="The dedicated role that owns the database and all in it (spec: §2.3). It "
        "never logs in itself: a role of its own does for each `passwordSecret`. Default: as "
        "`name`.",
        examples=["notes"],
    )
    password_secret: SecretName | None = Field(
        default=None,
        description="Secret with the password that the application logs in with; made when "
        "missing. Another name here changes the password while the application runs. Default: "
        "`<metadata.name>_db_password`.",
        examples=["notes_db_password"],
    )
    url_secret: SecretName | None = Field(
        default=None,
        description="Instead of the above: a secret with the connection string "
        "`postgresql://role:password@host:port/database` of a database that is there already.",
        examples=["app_database_url"],
    )


class EncryptionKey(Part):
    """The key that encrypts stored credentials (spec: notes-app §2.1, §5.5)."""

    secret: SecretName = Field(
        default="app_encryption_key",
        description="Secret with the key, at least 32 characters; made once when missing, never "
        "replaced (spec: §2.3).",
    )
    backed_up: bool = Field(
        default=False,
        description="Whether the key is kept in another place too, apart from the database's "
        "backups: a dump is worth nothing without it. The operator reminds of it until this is "
        "true.",
    )


class Dump(Worded):
    """The dump that is taken before another image runs (spec: notes-app §9.4)."""

    WORD: ClassVar[str] = "mode"

    mode: Literal["required", "attempted", "none"] = Field(
        default="required",
        description="`required`: without a good dump the image is not changed. `attempted`: it is "
        "changed all the same. `none`: none is taken.",
    )
    volume: ObjectName | None = Field(
        default=None,
        description="Named volume that keeps the dumps. Default: `<metadata.name>_dumps`.",
        examples=["notes_dumps"],
    )
    path: MountedPath | None = Field(
        default=None,
        description="Instead of a volume: a directory of the node, which has to be there.",
        examples=["/srv/dumps"],
    )
    node: NodeName | None = Field(
        default=None,
        description="Node that keeps the dumps. Default: the node of the cluster's last member.",
        examples=["node4"],
    )
    keep: int = Field(
        default=5,
        ge=1,
        le=1000,
        description="Number of dumps to keep: after a good one, older ones of this application "
        "are removed.",
    )
    timeout_s: Seconds = Field(
        default=3600, ge=10, description="Time after which a dump that runs has failed."
    )
    image: Image | None = Field(
        default=None,
        description="Image with `pg_dump` of the server's version or newer. Default: the "
        "cluster's member image.",
        examples=["10.77.0.1:5000/queenright-member:16"],
    )


class UpgradeSpec(Part):
    """Steps before another image runs."""

    dump: Dump = Field(
        default=Dump(),
        description="The dump before it: `required`, `attempted`, `none`, or a mapping.",
    )
