"""Creates an application's role and database on the leader, or brings them up to date.

Steps, in order (spec: database-cluster §4.4): this member must be the primary; role created or
its password updated; database created unless it exists; PUBLIC loses access to it. The SQL goes
through a file, mode 0644, so no shell alters a character. The file never has the password in
clear: like psql's \\password it carries a SCRAM-SHA-256 verifier, so that neither the file nor the
server's log (log_statement = ddl) tells the password.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import psycopg2
from psycopg2.extensions import encrypt_password

from .ports import Ports, own_ports
from .start import GID, UID

SOCKETS = "/var/run/postgresql"
SUPERUSER = "postgres"
DONE, FAILED, USAGE, NOT_PRIMARY = 0, 1, 2, 3
#: The cluster's own: giving one of them a new password would cut the cluster off from itself.
RESERVED_ROLES = ("postgres", "replicator")
RESERVED_DATABASES = ("postgres", "template0", "template1")
_NAME_BYTES = 63
#: What each connection asks for at its start, which outranks ALTER ROLE … SET and ALTER DATABASE …
#: SET: without it, a name means whatever stands first in a search path that others may have set.
PINNED = {
    "search_path": r"pg_catalog,\ pg_temp",
    "role": "none",
    "session_authorization": SUPERUSER,
    "session_preload_libraries": "",
    "local_preload_libraries": "",
    "session_replication_role": "origin",
    "row_security": "on",
    "standard_conforming_strings": "on",
    "client_min_messages": "warning",
    "default_transaction_read_only": "off",
    "default_transaction_deferrable": "off",
    "default_tablespace": "",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_session_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}
OPTIONS = " ".join(f"-c {name}={value}" for name, value in PINNED.items())


class CreateDbError(Exception):
    """Ends the command before all was done: says why, and has the exit code for it."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def main() -> NoReturn:
    """`create-db <dbname> <username> <password>`: 0 done, 1 failed, 2 usage, 3 not the primary."""
    try:
        dbname, username, password = read_arguments(sys.argv[1:])
        provision(dbname, username, password)
    except CreateDbError as error:
        print(f"create-db: {error}", file=sys.stderr)
        sys.exit(error.code)
    print(f"database {dbname} is ready for {username}: client port 5000, scram-sha-256")
    sys.exit(DONE)


def read_arguments(argv: Sequence[str]) -> tuple[str, str, str]:
    """Database name, role name and password; CreateDbError for what cannot be."""
    parser = argparse.ArgumentParser(
        prog="create-db",
        description="Create an application's role and database, or update the role's password.",
        epilog="Exit status: 0 done, 1 failed, 2 usage, 3 this member is not the primary.",
    )
    parser.add_argument("dbname")
    parser.add_argument("username")
    parser.add_argument("password", nargs="?", help="visible to others; - reads standard input")
    parser.add_argument("--password-file", metavar="FILE", help="read it from a file; - likewise")
    given = parser.parse_args(argv)
    if (given.password is None) == (given.password_file is None):
        raise CreateDbError("give the password once: as argument, --password-file FILE or -", USAGE)
    stdin = "-"
    source = given.password_file or (stdin if given.password == stdin else None)
    if source is None:
        print(
            "create-db: warning: others can read a password given as an argument; "
            "use --password-file FILE, or - for standard input",
            file=sys.stderr,
        )
    password = given.password if source is None else _read_password(source)
    _check_name("database", given.dbname, RESERVED_DATABASES)
    _check_name("role", given.username, RESERVED_ROLES)
    if not password or "\0" in password:
        raise CreateDbError("the password is empty, or has a zero byte", USAGE)
    return given.dbname, given.username, password


def _read_password(source: str) -> str:
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CreateDbError(f"the password cannot be read from {source}: {error}", USAGE) from None
    return text.removesuffix("\n").removesuffix("\r")


def _check_name(kind: str, name: str, reserved: Sequence[str]) -> None:
    if not name or "\0" in name or "\n" in name:
        raise CreateDbError(f"the {kind}'s name is empty or has a line break", USAGE)
    if len(name.encode()) > _NAME_BYTES:
        raise CreateDbError(f"the {kind}'s name is longer than {_NAME_BYTES} bytes", USAGE)
    if name in reserved or name.startswith("pg_"):
        raise CreateDbError(f"{kind} {name} is the cluster's own: choose another name", USAGE)


def provision(dbname: str, username: str, password: str) -> None:
    """Do all steps; running it again changes nothing but the password."""
    ports = own_ports()
    require_primary(f"http://127.0.0.1:{ports.rest_api}")
    if os.geteuid() == 0:  # peer authentication wants the operating system's user
        os.setgroups([])
        os.setgid(GID)
        os.setuid(UID)
    run_file(sql(dbname, username, verifier_of(username, password, ports)), ports)


def require_primary(rest: str) -> None:
    """CreateDbError, naming the leader where it is known, unless this member is the primary."""
    own = os.environ.get("NODE_NAME", "this member")
    try:
        with urllib.request.urlopen(f"{rest}/primary", timeout=5):  # noqa: S310 - our own member
            return
    except urllib.error.HTTPError:
        leader = leader_name(rest)
    except OSError as error:
        raise CreateDbError(f"{own} does not answer on {rest}: {error}", FAILED) from None
    hint = f"run it on the leader, {leader}" if leader else "there is no leader now"
    raise CreateDbError(f"{own} is not the primary: {hint}", NOT_PRIMARY)


def leader_name(rest: str) -> str | None:
    """The leader's member name as this member sees it, None when it sees none."""
    try:
        with urllib.request.urlopen(f"{rest}/cluster", timeout=5) as answer:  # noqa: S310
            members = json.load(answer).get("members", [])
    except (OSError, ValueError):
        return None
    return next((member["name"] for member in members if member.get("role") == "leader"), None)


def verifier_of(username: str, password: str, ports: Ports) -> str:
    """The SCRAM-SHA-256 verifier of a password, made by the client library as psql does."""
    try:
        connection = psycopg2.connect(
            host=SOCKETS,
            port=ports.postgresql,
            user=SUPERUSER,
            dbname="postgres",
            options=OPTIONS,
        )
        try:
            connection.set_client_encoding("UTF8")
            return str(encrypt_password(password, username, connection, "scram-sha-256"))
        finally:
            connection.close()
    except psycopg2.Error as error:
        raise CreateDbError(f"the database does not answer: {error}".strip(), FAILED) from None


def sql(dbname: str, username: str, verifier: str) -> str:
    """The psql script for steps 2 to 4; `verifier` has no character that needs quoting."""
    role, database = _identifier(username), _identifier(dbname)
    role_text, database_text = _literal(username), _literal(dbname)
    return f"""\\set ON_ERROR_STOP on
SELECT pg_catalog.format('CREATE ROLE %I LOGIN', {role_text})
 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles
  WHERE rolname OPERATOR(pg_catalog.=) {role_text}) \\gexec
SET log_statement = 'none';
ALTER ROLE {role} LOGIN PASSWORD '{verifier}';
RESET log_statement;
SELECT pg_catalog.format('CREATE DATABASE %I OWNER %I', {database_text}, {role_text})
 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_database
  WHERE datname OPERATOR(pg_catalog.=) {database_text}) \\gexec
REVOKE ALL ON DATABASE {database} FROM PUBLIC;
GRANT ALL ON DATABASE {database} TO {role};
"""  # noqa: S608 - names are quoted above, a verifier has no quotes


def run_file(script: str, ports: Ports) -> None:
    """Step 5: psql runs the script from a file; CreateDbError with psql's words when it fails."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(script)
        file.flush()
        command = ["psql", "-X", "-q", "-h", SOCKETS, "-p", str(ports.postgresql)]
        command += ["-U", SUPERUSER, "-d", "postgres"]
        environ = {**os.environ, "PGCLIENTENCODING": "UTF8", "PGOPTIONS": OPTIONS}
        result = subprocess.run(
            [*command, "-f", file.name], env=environ, capture_output=True, text=True, check=False
        )
    if result.returncode != 0:
        raise CreateDbError(result.stderr.strip().replace(f"{file.name}:", "line "), FAILED)


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
