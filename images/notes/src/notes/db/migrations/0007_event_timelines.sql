-- A server that is promoted without the last transactions of the former primary uses their numbers
-- again. Its events still come later: the order is by the server's timeline first.
CREATE FUNCTION current_timeline() RETURNS integer LANGUAGE sql VOLATILE AS $$
    -- A standby has no current WAL file; nothing is written there either.
    SELECT CASE WHEN NOT pg_is_in_recovery()
        THEN ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer
    END
$$;

ALTER TABLE events ADD COLUMN timeline integer NOT NULL DEFAULT 0;
ALTER TABLE events ALTER COLUMN timeline SET DEFAULT current_timeline();
ALTER TABLE events DROP CONSTRAINT events_pkey, ADD PRIMARY KEY (timeline, xid, id);
ALTER TABLE event_epochs ADD COLUMN pruned_timeline integer NOT NULL DEFAULT 0;
