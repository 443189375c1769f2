"""The roles and databases of a deployed cluster: in its file, on its server, and in the log."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import psycopg

from queenright.adapters.docker.secrets import DockerSecrets
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.swarm_facts import connect, quick_manifest
from tests.lab.lab import Lab
from tests.lab.psql import SIGNED_IN, member_container

ROLES = """\
  roles:
    - {name: readers, login: false, memberOf: [pg_monitor]}
    - name: shop
      passwordSecret: {secret}
      connectionLimit: 20
      memberOf: [readers]
"""
DATABASES = """\
  databases:
    - name: shop
      owner: shop
      connectionLimit: 50
      extensions: [{extensions}]
"""
FIRST = "shop_pw"


def text(lab: Lab, named: str = FIRST, extensions: str = "vector", more: str = "") -> str:
    roles = ROLES.replace("{secret}", named)
    databases = DATABASES.replace("{extensions}", extensions)
    return quick_manifest(lab, roles + databases + more)


def apply(deployment: Deployment, manifest_text: str) -> float:
    """Write the file; seconds until it is carried out."""
    return deployment.operator.carry_out(manifest_text)


def value_of(lab: Lab, secret: str) -> str:
    """A secret's value, as a service that has it sees it."""

    async def read() -> str:
        secrets = DockerSecrets(lab.manager.client_environment(), 10, Path("/nowhere"))
        try:
            return (await secrets.read_once(secret)).value
        finally:
            await secrets.aclose()

    return asyncio.run(read())


def logs_in(lab: Lab, user: str, password: str, database: str) -> bool:
    try:
        with psycopg.connect(
            host=lab.node("node2").address,
            port=5000,
            user=user,
            password=password,
            dbname=database,
            connect_timeout=5,
        ) as connection:
            return connection.execute("SELECT current_user").fetchone() == (user,)
    except psycopg.OperationalError as error:
        if not re.search("authentication failed|permission denied", str(error)):
            raise
        return False


def sql(lab: Lab, *statements: str) -> list[tuple[object, ...]]:
    with connect(lab, "node2") as connection:
        found = None
        for statement in statements:
            found = connection.execute(statement)  # type: ignore[call-overload]
        return found.fetchall() if found is not None and found.description else []


def create_db(deployment: Deployment, *arguments: str, given: str = "") -> tuple[int, str]:
    found = deployment.operator.command("create-db", *arguments, given=given)
    return found.returncode, found.stdout + found.stderr


def catalog(lab: Lab, role: str, database: str) -> tuple[list[str], list[tuple[object, ...]]]:
    """Return the role in ``pg_dumpall --globals-only`` without its verifier, and the database's row
    with its privileges."""
    node, container = member_container(lab)
    at = f"-h {lab.node('node2').address} -p 5000 -U postgres"
    script = f"{SIGNED_IN} exec pg_dumpall --globals-only {at}"
    dumped = node.docker("exec", container, "sh", "-c", script).stdout.splitlines()
    lines = [re.sub(r"SCRAM-SHA-256\$\S+'", "verifier'", line) for line in dumped if role in line]
    columns = "datname, pg_get_userbyid(datdba), encoding, datcollate, datctype, datconnlimit"
    columns += ", datallowconn, datistemplate, datacl::text"
    row = f"SELECT {columns} FROM pg_database WHERE datname = '{database}'"  # noqa: S608 (our own)
    return lines, sql(lab, row)


def changes_of(deployment: Deployment, key: str, since: int) -> list[str]:
    records = deployment.operator.audit("outcome")[since:]
    return [
        change["path"]
        for record in records
        if record["action"]["key"] == key and record["outcome"] == "done"
        for change in record["changes"]
    ]


def through_the_proxy(lab: Lab) -> bool:
    try:
        return sql(lab, "SELECT pg_is_in_recovery()") == [(False,)]
    except psycopg.OperationalError:
        return False
