-- The edit log counts for quotas: edits for their page and their authors, exact documents for their
-- page. Edits count when they are saved, so that each one costs no lock on a counter; those that wait
-- are at most 1,000 or 8 MB for each page.
CREATE FUNCTION edit_bytes(steps json, title text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT 300 + coalesce(octet_length(steps::text), 0)::bigint + coalesce(octet_length(title), 0)
$$;
CREATE FUNCTION snapshot_bytes(doc json, title text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT 300 + octet_length(doc::text)::bigint + octet_length(title)
$$;

-- What the log of a page counts for in an author's account.
CREATE TABLE edit_usage (
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    author_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    bytes bigint NOT NULL,
    PRIMARY KEY (node_id, author_id)
) WITH (fillfactor = 70);
CREATE INDEX ON edit_usage (author_id);

INSERT INTO edit_usage
    SELECT e.node_id, e.author_id, sum(edit_bytes(e.steps, e.title))::bigint FROM page_edits e
    JOIN page_logs l ON l.node_id = e.node_id AND e.seq <= l.saved_seq
    WHERE e.author_id IS NOT NULL GROUP BY 1, 2;
-- The counters are set here: an upgrade may not fail since a space has no room.
CREATE TEMPORARY TABLE log_bytes ON COMMIT DROP AS
    SELECT n.id, n.space_id, (
        coalesce((SELECT sum(edit_bytes(e.steps, e.title)) FROM page_edits e
                  WHERE e.node_id = n.id AND e.seq <= l.saved_seq), 0)
        + coalesce((SELECT sum(snapshot_bytes(p.doc, p.title)) FROM page_snapshots p
                    WHERE p.node_id = n.id), 0))::bigint AS bytes
    FROM page_logs l JOIN nodes n ON n.id = l.node_id;
ALTER TABLE nodes DISABLE TRIGGER counted_changed;
UPDATE nodes n SET stored_bytes = n.stored_bytes + l.bytes FROM log_bytes l WHERE l.id = n.id;
ALTER TABLE nodes ENABLE TRIGGER counted_changed;
UPDATE space_usage u SET bytes = u.bytes + more.bytes FROM
    (SELECT space_id, sum(bytes)::bigint AS bytes FROM log_bytes GROUP BY 1) more
    WHERE u.space_id = more.space_id;
UPDATE account_usage a SET bytes = a.bytes + more.bytes FROM
    (SELECT author_id, sum(bytes)::bigint AS bytes FROM edit_usage GROUP BY 1) more
    WHERE a.user_id = more.author_id;
UPDATE space_usage SET bytes_limit = 2 * bytes FROM settings
    WHERE bytes > coalesce(bytes_limit, space_bytes);
UPDATE account_usage SET bytes_limit = 2 * bytes FROM settings
    WHERE bytes > coalesce(bytes_limit, account_bytes);

-- Housekeeping stores an exact document before it deletes the edits that led to it: it may exceed a
-- limit for that moment.
CREATE OR REPLACE FUNCTION check_quota(name text, added bigint, used bigint, most bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF added > 0 AND used > most
        AND coalesce(current_setting('notes.housekeeping', true), '') <> 'on'
    THEN
        RAISE EXCEPTION 'over quota' USING ERRCODE = 'NQ001',
            DETAIL = json_build_object('name', name, 'used', used - added, 'most', most)::text;
    END IF;
END $$;

CREATE FUNCTION count_edit_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    one record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR one IN SELECT author_id, sum(bytes)::bigint AS bytes FROM made
            GROUP BY author_id ORDER BY author_id
        LOOP
            PERFORM charge_account(one.author_id, one.bytes, 0, 0);
        END LOOP;
    ELSIF TG_OP = 'DELETE' THEN
        FOR one IN SELECT author_id, sum(bytes)::bigint AS bytes FROM gone
            GROUP BY author_id ORDER BY author_id
        LOOP
            PERFORM charge_account(one.author_id, -one.bytes, 0, 0);
        END LOOP;
    ELSE
        FOR one IN SELECT author_id, sum(bytes)::bigint AS bytes FROM (
                SELECT author_id, bytes FROM made
                UNION ALL SELECT author_id, -bytes FROM gone) both_sides
            GROUP BY author_id HAVING sum(bytes) <> 0 ORDER BY author_id
        LOOP
            PERFORM charge_account(one.author_id, one.bytes, 0, 0);
        END LOOP;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_made AFTER INSERT ON edit_usage REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION count_edit_usage();
CREATE TRIGGER counted_changed AFTER UPDATE ON edit_usage
    REFERENCING OLD TABLE AS gone NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION count_edit_usage();
CREATE TRIGGER counted_gone AFTER DELETE ON edit_usage REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION count_edit_usage();

CREATE FUNCTION count_saved_edits() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    total bigint;
BEGIN
    SELECT sum(edit_bytes(steps, title)) INTO total FROM page_edits
        WHERE node_id = new.node_id AND seq > old.saved_seq AND seq <= new.saved_seq;
    PERFORM charge_page(new.node_id, coalesce(total, 0));
    INSERT INTO edit_usage AS u
        SELECT new.node_id, author_id, sum(edit_bytes(steps, title))::bigint FROM page_edits
        WHERE node_id = new.node_id AND seq > old.saved_seq AND seq <= new.saved_seq
            AND author_id IS NOT NULL
        GROUP BY author_id ORDER BY author_id
        ON CONFLICT (node_id, author_id) DO UPDATE SET bytes = u.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE TRIGGER counted AFTER UPDATE OF saved_seq ON page_logs FOR EACH ROW
    WHEN (new.saved_seq > old.saved_seq) EXECUTE FUNCTION count_saved_edits();

-- With a page that is deleted its row is gone already, and `edit_usage` gives back what it counted.
CREATE FUNCTION count_deleted_edits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM nodes n WHERE n.id IN (SELECT c.node_id FROM changed c)
        ORDER BY n.id FOR NO KEY UPDATE;
    UPDATE nodes n SET stored_bytes = n.stored_bytes - less.bytes FROM (
        SELECT c.node_id, sum(edit_bytes(c.steps, c.title))::bigint AS bytes FROM changed c
        JOIN page_logs l ON l.node_id = c.node_id AND c.seq <= l.saved_seq GROUP BY 1) less
        WHERE n.id = less.node_id;
    UPDATE edit_usage u SET bytes = u.bytes - less.bytes FROM (
        SELECT c.node_id, c.author_id, sum(edit_bytes(c.steps, c.title))::bigint AS bytes
        FROM changed c JOIN page_logs l ON l.node_id = c.node_id AND c.seq <= l.saved_seq
        GROUP BY 1, 2) less
        WHERE u.node_id = less.node_id AND u.author_id = less.author_id;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_gone AFTER DELETE ON page_edits REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_edits();

CREATE FUNCTION count_snapshots() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign bigint := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    PERFORM 1 FROM nodes n WHERE n.id IN (SELECT c.node_id FROM changed c)
        ORDER BY n.id FOR NO KEY UPDATE;
    UPDATE nodes n SET stored_bytes = n.stored_bytes + more.bytes FROM (
        SELECT c.node_id, sign * sum(snapshot_bytes(c.doc, c.title))::bigint AS bytes
        FROM changed c GROUP BY 1) more WHERE n.id = more.node_id;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_made AFTER INSERT ON page_snapshots REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_snapshots();
CREATE TRIGGER counted_gone AFTER DELETE ON page_snapshots REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_snapshots();
