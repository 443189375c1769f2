"""Has Barman end a base backup without PostgreSQL's own wait for the archive.

With `archive_mode: always` a replica's `pg_backup_stop` waits until the replica itself has seen the
last WAL file in the archive, without a limit, and asks nobody to finish that file. `base_backup`
waits for the same file afterwards, with a limit, and asks the leader.
"""

PROGRAM = """import runpy, sys
import barman.clients.cloud_backup
from barman import postgres
def stop_concurrent_backup(self):
    connection = self.connect()
    connection.rollback()
    cursor = connection.cursor(cursor_factory=postgres.DictCursor)
    try:
        cursor.execute("RESET idle_session_timeout")
        cursor.execute('''SELECT stopped.lsn AS location, stopped.labelfile AS backup_label,
            pg_catalog.now() AS "timestamp",
            CASE WHEN pg_catalog.pg_is_in_recovery()
                THEN (SELECT min_recovery_end_timeline FROM pg_catalog.pg_control_recovery())
                ELSE (SELECT timeline_id FROM pg_catalog.pg_control_checkpoint())
            END AS timeline
            FROM pg_catalog.pg_backup_stop(wait_for_archive => false) AS stopped''')
        return cursor.fetchone()
    except postgres.psycopg2.Error as error:
        raise postgres.PostgresException(f"the base backup is not ended: {error}".strip()) from None
if not callable(getattr(postgres.PostgreSQLConnection, "stop_concurrent_backup", None)):
    sys.exit("this Barman has no stop_concurrent_backup")
postgres.PostgreSQLConnection.stop_concurrent_backup = stop_concurrent_backup
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs one of Barman's commands, which is the first argument, by Barman's Python."""
