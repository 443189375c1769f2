"""SQL texts of the operator's queries to PostgreSQL.

Invariant: every function, operator, table and type is named with its schema, so that each text
means the same in whatever session it runs.
"""

READ_SQL = """
SELECT pg_catalog.json_build_object(
  'in_recovery', pg_catalog.pg_is_in_recovery(),
  'roles', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', r.rolname, 'login', r.rolcanlogin, 'superuser', r.rolsuper,
      'inherit', r.rolinherit, 'create_db', r.rolcreatedb, 'create_role', r.rolcreaterole,
      'bypass_rls', r.rolbypassrls, 'replication', r.rolreplication,
      'connection_limit', r.rolconnlimit, 'verifier', r.rolpassword,
      'sessions', (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity a
          WHERE a.usesysid OPERATOR(pg_catalog.=) r.oid),
      'valid_until', CASE WHEN pg_catalog.isfinite(r.rolvaliduntil) THEN
          extract(epoch FROM r.rolvaliduntil) END,
      'member_of', (SELECT coalesce(pg_catalog.json_agg(DISTINCT g.rolname), '[]')
          FROM pg_catalog.pg_auth_members m
          JOIN pg_catalog.pg_authid g ON g.oid OPERATOR(pg_catalog.=) m.roleid
          WHERE m.member OPERATOR(pg_catalog.=) r.oid AND (m.inherit_option OR m.set_option)))),
      '[]')
    FROM pg_catalog.pg_authid r
    WHERE r.rolname OPERATOR(pg_catalog.=) ANY(%(roles)s::pg_catalog.text[])),
  'referred', (SELECT coalesce(pg_catalog.json_agg(rolname), '[]') FROM pg_catalog.pg_authid
    WHERE rolname OPERATOR(pg_catalog.=) ANY(%(referred)s::pg_catalog.text[])),
  'databases', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', d.datname, 'owner', pg_catalog.pg_get_userbyid(d.datdba),
      'connection_limit', d.datconnlimit,
      'public', (SELECT coalesce(pg_catalog.json_agg(DISTINCT privilege_type), '[]') FROM
          pg_catalog.aclexplode(coalesce(d.datacl, pg_catalog.acldefault('d', d.datdba)))
          WHERE grantee OPERATOR(pg_catalog.=) '0'::pg_catalog.oid),
      'connect', (SELECT
          coalesce(pg_catalog.json_agg(DISTINCT pg_catalog.pg_get_userbyid(grantee)), '[]') FROM
          pg_catalog.aclexplode(coalesce(d.datacl, pg_catalog.acldefault('d', d.datdba)))
          WHERE grantee OPERATOR(pg_catalog.<>) '0'::pg_catalog.oid
          AND privilege_type OPERATOR(pg_catalog.=) 'CONNECT'))), '[]')
    FROM pg_catalog.pg_database d
    WHERE d.datname OPERATOR(pg_catalog.=) ANY(%(databases)s::pg_catalog.text[]))
)"""
ARCHIVING_SQL = r"""
SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.clock_timestamp(),
  pg_catalog.current_setting('archive_mode'),
  a.last_archived_wal, a.last_archived_time, a.last_failed_wal, a.last_failed_time,
  f.waiting, f.since,
  pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_segment_size')),
  (SELECT c.system_identifier::pg_catalog.text FROM pg_catalog.pg_control_system() c),
  pg_catalog.pg_read_file('/tmp/wal-archive.failed', 0, 300, true)
FROM pg_catalog.pg_stat_archiver a CROSS JOIN (
  SELECT pg_catalog.count(*) AS waiting, pg_catalog.min(s.modification) AS since
  FROM pg_catalog.pg_ls_archive_statusdir() s
  WHERE s.name OPERATOR(pg_catalog.~) '\.ready$') f"""
IN_RECOVERY_SQL = "SELECT pg_catalog.pg_is_in_recovery()"
EXTENSIONS_SQL = "SELECT extname FROM pg_catalog.pg_extension"
"""The only query that runs in a database of another owner: a table of the catalog, and no function
at all."""
OFFERED_SQL = """
SELECT v.name, v.superuser, v.trusted, v.relocatable, v.schema, v.requires::pg_catalog.text[]
FROM pg_catalog.pg_available_extension_versions() v
JOIN pg_catalog.pg_available_extensions() e
  ON e.name OPERATOR(pg_catalog.=) v.name
  AND e.default_version OPERATOR(pg_catalog.=) v.version"""
OWNER_SQL = """
SELECT pg_catalog.pg_get_userbyid(datdba) FROM pg_catalog.pg_database
WHERE datname OPERATOR(pg_catalog.=) %s::pg_catalog.text"""
INSTALLED_SQL = """
SELECT extname FROM pg_catalog.pg_extension
WHERE extname OPERATOR(pg_catalog.=) %s::pg_catalog.text"""
GRANTED_SQL = """
SELECT g.rolname, pg_catalog.pg_get_userbyid(m.grantor) FROM pg_catalog.pg_auth_members m
JOIN pg_catalog.pg_authid g ON g.oid OPERATOR(pg_catalog.=) m.roleid
JOIN pg_catalog.pg_authid r ON r.oid OPERATOR(pg_catalog.=) m.member
WHERE r.rolname OPERATOR(pg_catalog.=) %s::pg_catalog.text AND (m.inherit_option OR m.set_option)
  AND NOT g.rolname OPERATOR(pg_catalog.=) ANY(%s::pg_catalog.text[])"""
UNLOGGED_SQL = """
SELECT pg_catalog.set_config('log_statement', 'none', true),
  pg_catalog.set_config('log_min_duration_statement', '-1', true),
  pg_catalog.set_config('log_duration', 'off', true),
  pg_catalog.set_config('log_min_error_statement', 'panic', true)"""
"""Settings for one transaction: a verifier is not a password, and still need not be in a log."""
