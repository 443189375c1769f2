-- Of replicas that went silent while they had the job: counted apart from `attempt`, which counts the
-- claims after a planned stop, too.
ALTER TABLE jobs ADD COLUMN deaths smallint NOT NULL DEFAULT 0;

-- An import counts for each of its files until it is published, so a statement may change thousands of
-- uploads: one update of a counter for all of them, as for the rows of pages (0009_quotas.sql).
DROP TRIGGER counted ON uploads;
CREATE OR REPLACE FUNCTION count_uploads() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign bigint := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    one record;
BEGIN
    FOR one IN SELECT node_id, sign * sum(reserved)::bigint AS bytes FROM changed
        WHERE node_id IS NOT NULL GROUP BY node_id ORDER BY node_id
    LOOP
        PERFORM charge_page(one.node_id, one.bytes);
    END LOOP;
    FOR one IN SELECT space_id, sign * sum(reserved)::bigint AS bytes FROM changed
        WHERE node_id IS NULL GROUP BY space_id HAVING sum(reserved) <> 0 ORDER BY space_id
    LOOP
        PERFORM charge_space(one.space_id, one.bytes, 0);
    END LOOP;
    FOR one IN SELECT user_id, sign * sum(reserved)::bigint AS bytes FROM changed
        GROUP BY user_id HAVING sum(reserved) <> 0 ORDER BY user_id
    LOOP
        PERFORM charge_account(one.user_id, one.bytes, 0, 0);
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_made AFTER INSERT ON uploads REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_uploads();
CREATE TRIGGER counted_gone AFTER DELETE ON uploads REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_uploads();

-- Neither the page, the space nor the user of an upload changes; its reserved bytes do.
CREATE FUNCTION count_changed_uploads() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT m.node_id, sum(m.reserved - g.reserved)::bigint AS bytes
        FROM made m JOIN gone g USING (id)
        WHERE m.node_id IS NOT NULL AND m.reserved <> g.reserved
        GROUP BY m.node_id ORDER BY m.node_id
    LOOP
        PERFORM charge_page(one.node_id, one.bytes);
    END LOOP;
    FOR one IN SELECT m.space_id, sum(m.reserved - g.reserved)::bigint AS bytes
        FROM made m JOIN gone g USING (id)
        WHERE m.node_id IS NULL AND m.reserved <> g.reserved
        GROUP BY m.space_id ORDER BY m.space_id
    LOOP
        PERFORM charge_space(one.space_id, one.bytes, 0);
    END LOOP;
    FOR one IN SELECT m.user_id, sum(m.reserved - g.reserved)::bigint AS bytes
        FROM made m JOIN gone g USING (id) WHERE m.reserved <> g.reserved
        GROUP BY m.user_id ORDER BY m.user_id
    LOOP
        PERFORM charge_account(one.user_id, one.bytes, 0, 0);
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_changed AFTER UPDATE ON uploads REFERENCING OLD TABLE AS gone NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION count_changed_uploads();

-- The checksums of an upload that has all its chunks, so that a repeated request does not read them again.
ALTER TABLE uploads ADD COLUMN summed_sha256 bytea, ADD COLUMN summed_crc32 bigint;
