"""Fields of roles and databases (spec: database-cluster §4.4, §5.7).

Decides which names can stand for a role or a database of the deployer's own: any that PostgreSQL
takes, except those that PostgreSQL, Patroni and the operator keep for themselves. There is no field
by which a role could become a superuser.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from queenright.core.manifest.model import Part, Sequence
from queenright.core.manifest.moments import Moment
from queenright.core.manifest.names import SecretName
from queenright.core.manifest.suggestions import UnfitValueError, describe

IDENTIFIER_MOST_BYTES = 63
"""PostgreSQL's NAMEDATALEN less one: what is longer it would cut."""
OWN_PREFIX = "queenright_"
RESERVED_ROLES = {
    "postgres": "the superuser",
    "replicator": "the role that replication uses",
    "public": "everybody, to PostgreSQL",
    "none": "a word of PostgreSQL's own",
}
RESERVED_DATABASES = {"postgres": "the superuser's database"}
SUPERUSER_LIKE = frozenset(
    {"pg_execute_server_program", "pg_read_server_files", "pg_write_server_files"}
)
"""Predefined roles by which one becomes a superuser (PostgreSQL's manual, "Predefined Roles")."""


def identifier(value: str) -> str:
    """A name as PostgreSQL takes it in double quotes, and its dump tools take it too."""
    if not value:
        raise UnfitValueError("must not be empty")
    found = len(value.encode())
    if found > IDENTIFIER_MOST_BYTES:
        raise UnfitValueError(
            f"{describe(value)} has {found} bytes; PostgreSQL keeps "
            f"{IDENTIFIER_MOST_BYTES} of a name"
        )
    if any(unicodedata.category(character) == "Cc" for character in value):
        raise UnfitValueError(
            f"{describe(value)} has a control character, with which pg_dump and pg_dumpall refuse "
            "a name"
        )
    return value


def role_name(value: str) -> str:
    """A name for a role of the deployer's own."""
    identifier(value)
    if value in RESERVED_ROLES:
        raise UnfitValueError(f"{describe(value)} is {RESERVED_ROLES[value]}; write another name")
    if value.startswith("pg_"):
        raise UnfitValueError(f"{describe(value)}: PostgreSQL keeps names that begin with pg_")
    if value.startswith(OWN_PREFIX):
        raise UnfitValueError(f"{describe(value)}: names that begin with {OWN_PREFIX} are ours")
    return value


def database_name(value: str) -> str:
    """A name for a database of the deployer's own."""
    identifier(value)
    if value in RESERVED_DATABASES:
        raise UnfitValueError(
            f"{describe(value)} is {RESERVED_DATABASES[value]}; write another name"
        )
    if re.match("template|pg_", value):
        raise UnfitValueError(
            f"{describe(value)}: names that begin with template or pg_ are PostgreSQL's own"
        )
    if value.startswith(OWN_PREFIX):
        raise UnfitValueError(f"{describe(value)}: names that begin with {OWN_PREFIX} are ours")
    return value


def _group(value: str) -> str:
    """A role that others may be members of: the deployer's own, or a harmless predefined one."""
    if value in SUPERUSER_LIKE:
        raise UnfitValueError(
            f"{describe(value)} makes its members as good as superusers; the file has none"
        )
    return identifier(value) if value.startswith("pg_") else role_name(value)


def _extension(value: str) -> str:
    identifier(value)
    if re.search(r"--|[/\\]|^-|-$", value):
        raise UnfitValueError(f"{describe(value)} is not the name of an extension")
    return value


_PLAIN = r"[^\x00-\x1f\x7f-\x9f]+$"
ROLE_PATTERN = rf"^(?!pg_|{OWN_PREFIX})(?!({'|'.join(RESERVED_ROLES)})$){_PLAIN}"
DATABASE_PATTERN = rf"^(?!pg_|template|{OWN_PREFIX})(?!({'|'.join(RESERVED_DATABASES)})$){_PLAIN}"
GROUP_PATTERN = (
    rf"^(?!{OWN_PREFIX})(?!({'|'.join([*RESERVED_ROLES, *sorted(SUPERUSER_LIKE)])})$){_PLAIN}"
)
EXTENSION_PATTERN = r"^(?!-)(?!.*--)(?!.*-$)[^\x00-\x1f\x7f-\x9f/\\]+$"


def _schema(pattern: str) -> WithJsonSchema:
    """Characters, where PostgreSQL counts bytes."""
    return WithJsonSchema(
        {"type": "string", "pattern": pattern, "maxLength": IDENTIFIER_MOST_BYTES}
    )


RoleName = Annotated[str, AfterValidator(role_name), _schema(ROLE_PATTERN)]
DatabaseName = Annotated[str, AfterValidator(database_name), _schema(DATABASE_PATTERN)]
GroupName = Annotated[str, AfterValidator(_group), _schema(GROUP_PATTERN)]
ExtensionName = Annotated[str, AfterValidator(_extension), _schema(EXTENSION_PATTERN)]
Word = Annotated[
    str, AfterValidator(identifier), WithJsonSchema({"type": "string", "minLength": 1})
]
ConnectionLimit = Annotated[int, Field(ge=-1, le=262143)]
"""PostgreSQL's own bound of ``max_connections``; -1 is none."""


class RoleSpec(Part):
    """A role, kept as written: what somebody changes in it by hand is set back, and reported."""

    LEFT_OUT: ClassVar[Mapping[str, str]] = {
        "superuser": "no role of the file is a superuser, and one that has become one is set back; "
        "the superuser is postgres, whose password is the secret in spec.secrets.superuser",
        "replication": "no role of the file is for replication, and one that has become one is set "
        "back; the members replicate as replicator",
    }

    name: RoleName = Field(
        description="Its name, as PostgreSQL has it between double quotes: upper and lower case "
        "differ.",
        examples=["shop"],
    )
    password_secret: SecretName | None = Field(
        default=None,
        description="Swarm secret with its password, created when missing (32 random bytes, "
        "base64). Another secret's name is how a password is changed. Default: the password is "
        "left alone.",
        examples=["shop_pw"],
    )
    login: bool = Field(default=True, description="Allows to connect as this role.")
    connection_limit: ConnectionLimit = Field(
        default=-1, description="Connections that it may hold at once; -1: no limit."
    )
    member_of: Sequence[GroupName] | None = Field(
        default=None,
        description="The roles whose privileges it has, all of them. Default: left alone.",
        examples=[["pg_monitor"]],
    )
    inherit: bool = Field(default=True, description="Gives it those privileges without SET ROLE.")
    create_db: bool = Field(default=False, description="Allows to create databases.")
    create_role: bool = Field(default=False, description="Allows to create roles.")
    bypass_rls: bool = Field(
        default=False, description="Shows it rows in spite of row security policies."
    )
    valid_until: Moment | None = Field(
        default=None, description="When its password ends. Default: never."
    )


class DatabaseSpec(Part):
    """A database, whose access is taken from the public (spec: database-cluster §4.4)."""

    name: DatabaseName = Field(
        description="Its name, as PostgreSQL has it between double quotes.", examples=["shop"]
    )
    owner: RoleName = Field(
        description="The role that owns it, and may create in its schema `public`.",
        examples=["shop"],
    )
    connection_limit: ConnectionLimit = Field(
        default=-1, description="Connections that it takes at once; -1: no limit."
    )
    extensions: Sequence[ExtensionName] = Field(
        default=(),
        description="Extensions that it should have. None is ever dropped.",
        examples=[["pg_trgm"]],
    )
    connect: Sequence[RoleName] = Field(
        default=(), description="Roles that may connect to it beside the owner."
    )
    encoding: Word | None = Field(
        default=None,
        description="Its encoding, when it is created; needs `template: template0`. Default: the "
        "template's, UTF8.",
    )
    locale: Word | None = Field(
        default=None,
        description="Its locale, when it is created; needs `template: template0`. Default: the "
        "template's.",
    )
    template: Literal["template0", "template1"] = Field(
        default="template1", description="Database that it is copied from when it is created."
    )
    deletion_policy: Literal["retain"] = Field(
        default="retain",
        description="What becomes of it when it is taken out of the file: it is kept with all its "
        "data, and reported; only a person drops a database.",
    )
