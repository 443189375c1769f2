"""``queenright create-db``: a database and its user, by hand (spec: database-cluster §4.4).

Finds the missing steps; over SQL they are the same as for a database in the file. Invariant: only
the password's verifier goes to the leader, and no record has either.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import click

from queenright.cli import names
from queenright.cli.cluster_session import ClusterAtHand, Session, failed, on_cluster
from queenright.cli.exit_codes import FAILURE, OK, USAGE, CommandError
from queenright.cli.given_password import GIVEN, GivenPassword
from queenright.cli.options import GivenPath, manifests_option
from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.databases.create_db import creation_steps, remarks
from queenright.core.kinds.postgres_cluster.databases.guards import sql_goes_to_the_leader
from queenright.core.kinds.postgres_cluster.databases.login_roles import is_login_of
from queenright.core.kinds.postgres_cluster.schema.databases import database_name, role_name
from queenright.core.manifest.suggestions import UnfitValueError
from queenright.core.postgres.catalog import Catalog, DesiredDatabase, DesiredRole
from queenright.ports.databases import Question, Server
from queenright.ports.errors import PortError
from queenright.ports.secrets import Password

MOST_BYTES = 1 << 16
STDIN = "-"

EPILOG = """\b
Creates the user, or sets the password of an existing one; creates the database
if it is missing; revokes the public's access to it. If the file describes both
(databases, roles), the operator maintains them, with the password in a secret.

\b
Everybody on this host can read a PASSWORD on the command line while the
command runs, and later in the shell's history: - reads it from standard
input, --password-file from a file. A line end at its end is not part of it.

\b
Exit codes: 0 all is done, 1 refused or failed, 64 a name or the password
            is not valid, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright create-db shop shop_user - < password.txt
  queenright create-db shop shop_user --password-file password.txt
  queenright create-db shop shop_user 'a password' --cluster main
"""


@click.command("create-db", epilog=EPILOG)
@click.argument("dbname")
@click.argument("username")
@click.argument("password", required=False)
@click.option(
    "--password-file",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Read the password from a file.",
)
@click.option(
    "--cluster",
    metavar="NAME",
    help="The cluster, if there are several.",
    shell_complete=names.cluster_name,
)
@manifests_option
def create_db(
    dbname: str,
    username: str,
    password: str | None,
    *,
    password_file: Path | None,
    cluster: str | None,
    manifests: Path | None,
) -> int:
    """Create a database and its user, and revoke the public's access to it."""
    names = legal(dbname, username)
    given = given_password(password, password_file)

    async def act(live: Session) -> int:
        return await create(live, *names, given)

    return on_cluster(manifests, cluster, f"create-db {dbname} {username}", act)


def legal(dbname: str, username: str) -> tuple[str, str]:
    """Return both names if PostgreSQL and the operator accept them."""
    for check, what, name in ((database_name, "database", dbname), (role_name, "user", username)):
        try:
            check(name)
        except UnfitValueError as error:
            raise CommandError(f"{what}: {error}", USAGE) from None
        except UnicodeEncodeError:
            raise CommandError(f"{what}: the name is not text in UTF-8", USAGE) from None
    return dbname, username


def given_password(argument: str | None, file: Path | None) -> Password:
    """Return the password from its source; CommandError if it is not valid."""
    if (argument is None) == (file is None):
        raise CommandError(
            "give the password once: as an argument, as - for standard input, or with "
            "--password-file",
            USAGE,
        )
    if file is not None:
        return checked(read_file(file))
    if argument == STDIN:
        return checked(sys.stdin.buffer.read(MOST_BYTES + 1))
    click.echo(
        "queenright: warning: others on this host can read a password on the command line; "
        "- reads it from standard input, --password-file from a file",
        err=True,
    )
    return checked(str(argument).encode("utf-8", "surrogateescape"), is_line=False)


def read_file(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}", USAGE) from None


def checked(raw: bytes, *, is_line: bool = True) -> Password:
    if is_line:
        raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    if len(raw) > MOST_BYTES:
        raise CommandError(f"the password has more than {MOST_BYTES} bytes", USAGE)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise CommandError("the password is not text in UTF-8", USAGE) from None
    if not text:
        raise CommandError("the password is empty; nobody could log in with it", USAGE)
    if "\0" in text:
        raise CommandError("the password has a zero byte, which PostgreSQL does not accept", USAGE)
    return Password(text)


async def create(live: Session, dbname: str, username: str, password: Password) -> int:
    view = await live.look()
    leader = view.state.leader
    if leader is None:
        raise CommandError("no primary on which all observations agree", FAILURE)
    if why := why_owned(live, view, username):
        raise CommandError(why, FAILURE)
    click.echo(f"{leader.name} is the primary ({leader.address}).")
    role = DesiredRole(username, password_secret=GIVEN)
    database = DesiredDatabase(dbname, username)
    with_password = dataclasses.replace(
        live, ports=dataclasses.replace(live.ports, secrets=GivenPassword(live.ports, password))
    )
    found = await read_catalog(live, view, role, database)
    for line in remarks(role, database, found):
        click.echo(line)
    await carry_out(with_password, view, creation_steps(view.state, role, database, found))
    click.echo(f"Database {dbname} exists, closed to the public; {username} has the password.")
    return OK


def why_owned(live: Session, view: ClusterAtHand, username: str) -> str | None:
    """Return the reason why nobody may set this role's password by hand, or None."""
    owned = view.state.desired.catalog.role(username)
    if owned is None:
        owners = (role.name for role in live.claims.roles if not role.login)
        return next(
            (
                f"role {username} has the name of a former login of {owner}, an application's "
                "role, and the operator would disable it; give another name"
                for owner in owners
                if is_login_of(username, owner)
            ),
            None,
        )
    if owned == live.claims.role(username):
        if not owned.password_secret:
            return (
                f"role {username} owns an application's database and has no login; give "
                "another name"
            )
        return (
            f"role {username} is an application's login, with the password of secret "
            f"{owned.password_secret}, which the operator would set again; to change it, set "
            "another database.passwordSecret in the application's document"
        )
    if not owned.password_secret:
        return None
    return (
        f"role {username} is in the file, with the password of secret {owned.password_secret}, "
        "which the operator would set again; to change it, set another secret there"
    )


async def read_catalog(
    live: Session, view: ClusterAtHand, role: DesiredRole, database: DesiredDatabase
) -> Catalog:
    """Return the roles and databases that exist, from the primary."""
    state = view.state
    assert state.leader is not None  # noqa: S101 (looked at before)
    try:
        access = state.access(state.leader)
        superuser = await live.ports.secrets.read(access.superuser_secret)
        server = Server(access.address, access.postgresql_port, superuser)
        question = Question(roles=(role.name,), databases=(database.name,))
        return (await live.ports.catalogs.read(server, question)).catalog
    except PortError as error:
        raise CommandError(str(error), FAILURE) from None


async def carry_out(live: Session, view: ClusterAtHand, actions: tuple[AnyAction, ...]) -> None:
    if refusal := sql_goes_to_the_leader(live.plan(view, actions), view.observed):
        raise CommandError(f"refused by {refusal.guard}: {refusal.reason}", FAILURE)
    result = await live.carry_out(view, actions)
    if error := failed(result):
        raise error
