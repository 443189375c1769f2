"""``queenright create-db``: a database and its user, by hand (spec: database-cluster §4.4).

Decides which steps are missing; what they are over SQL is the same as for a database in the file.
Invariant: the password goes to the leader as its verifier alone, and is in no record.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import click

from queenright.cli.exits import FAILURE, OK, USAGE, CommandError
from queenright.cli.live import Live, View, failed, on_cluster
from queenright.cli.options import GivenPath, manifests_option
from queenright.core.actions import Action
from queenright.core.app.logins import is_login_of
from queenright.core.catalog import Catalog, DesiredDatabase, DesiredRole
from queenright.core.catalog_creation import creation_steps, remarks
from queenright.core.catalog_guards import sql_goes_to_the_leader
from queenright.core.spec.databases import database_name, role_name
from queenright.core.spec.wording import UnfitValueError
from queenright.engine.given_password import GIVEN, GivenPassword
from queenright.ports.catalogs import Question, Server
from queenright.ports.errors import PortError
from queenright.ports.patroni import Password

MOST_BYTES = 1 << 16
STDIN = "-"

EPILOG = """\b
Makes the user, or sets the password of one that is there; makes the database
unless it is there; takes the public's access to it away. Written into the
file (databases, roles), it is also kept so, and its password is a secret.

\b
PASSWORD on the command line can be read by everybody on this host while the
command runs, and by the shell's history later: - reads it from standard
input, --password-file from a file. One line end at its end is not part of it.

\b
Exit codes: 0 all is there, 1 refused or failed, 64 a name or the password
            can't be one, 65 files not valid, 69 swarm not reachable

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
@click.option("--cluster", metavar="NAME", help="Which cluster; needed where there are several.")
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
    """Make a database and its user, and close it to the public."""
    names = legal(dbname, username)
    given = given_password(password, password_file)

    async def act(live: Live) -> int:
        return await create(live, *names, given)

    return on_cluster(manifests, cluster, f"create-db {dbname} {username}", act)


def legal(dbname: str, username: str) -> tuple[str, str]:
    """Both names, if PostgreSQL and we can have them."""
    for check, what, name in ((database_name, "database", dbname), (role_name, "user", username)):
        try:
            check(name)
        except UnfitValueError as error:
            raise CommandError(f"{what}: {error}", USAGE) from None
        except UnicodeEncodeError:
            raise CommandError(f"{what}: the name is not text in UTF-8", USAGE) from None
    return dbname, username


def given_password(argument: str | None, file: Path | None) -> Password:
    """The password, from wherever it is given; CommandError where it can't be one."""
    if (argument is None) == (file is None):
        raise CommandError(
            "the password is given once: as an argument, as - for standard input, or with "
            "--password-file",
            USAGE,
        )
    if file is not None:
        return checked(read_file(file))
    if argument == STDIN:
        return checked(sys.stdin.buffer.read(MOST_BYTES + 1))
    click.echo(
        "queenright: warning: a password on the command line can be read by others on this host; "
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
        raise CommandError("the password is empty, with which nobody could log in", USAGE)
    if "\0" in text:
        raise CommandError("the password has a zero byte, which PostgreSQL does not take", USAGE)
    return Password(text)


async def create(live: Live, dbname: str, username: str, password: Password) -> int:
    view = await live.look()
    leader = view.situation.leader
    if leader is None:
        raise CommandError("there is no primary that every observation agrees on", FAILURE)
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
    await carry_out(with_password, view, creation_steps(view.situation, role, database, found))
    click.echo(f"Database {dbname} is there, closed to the public; {username} has the password.")
    return OK


def why_owned(live: Live, view: View, username: str) -> str | None:
    """Why nobody sets this role's password by hand; None where somebody may."""
    owned = view.situation.desired.catalog.role(username)
    if owned is None:
        owners = (role.name for role in live.wishes.roles if not role.login)
        return next(
            (
                f"{username} is what a former login of {owner}, an application's role, is called: "
                "the operator would retire it; give another name"
                for owner in owners
                if is_login_of(username, owner)
            ),
            None,
        )
    if owned == live.wishes.role(username):
        if not owned.password_secret:
            return (
                f"role {username} owns an application's database, and nobody logs in as it; give "
                "another name"
            )
        return (
            f"role {username} is what an application logs in as, with the password of secret "
            f"{owned.password_secret}: the operator would set that again; name another "
            "database.passwordSecret in its document to change it"
        )
    if not owned.password_secret:
        return None
    return (
        f"role {username} is in the file, with the password of secret {owned.password_secret}: the "
        "operator would set that again; name another secret there to change it"
    )


async def read_catalog(
    live: Live, view: View, role: DesiredRole, database: DesiredDatabase
) -> Catalog:
    """What is there already, on the primary."""
    situation = view.situation
    assert situation.leader is not None  # noqa: S101 (looked at before)
    try:
        superuser = await live.ports.secrets.read(situation.desired.superuser_secret)
        server = Server(situation.leader.address, situation.desired.postgresql_port, superuser)
        question = Question(roles=(role.name,), databases=(database.name,))
        return (await live.ports.catalogs.read(server, question)).catalog
    except PortError as error:
        raise CommandError(str(error), FAILURE) from None


async def carry_out(live: Live, view: View, actions: tuple[Action, ...]) -> None:
    if refusal := sql_goes_to_the_leader(live.plan(view, actions), view.observed):
        raise CommandError(f"refused by {refusal.guard}: {refusal.reason}", FAILURE)
    result = await live.carry_out(view, actions)
    if error := failed(result):
        raise error
