-- The edit log: the steps that editors send, in one order for each page.
-- A page gets its row here with its first edit.
CREATE TABLE page_logs (
    node_id uuid PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
    -- The last edit.
    seq bigint NOT NULL,
    edit_id uuid NOT NULL,
    -- The last edit that the page's row contains, as its version `version`.
    saved_seq bigint NOT NULL,
    version integer NOT NULL,
    -- The version that the first edit is based on.
    base_version integer NOT NULL,
    -- The exact document at `saved_seq`, as editors hold it; null if the page's row has the same.
    doc json,
    -- Since when edits wait to be saved, and the last edit's time.
    since timestamptz,
    at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);
CREATE INDEX ON page_logs (at) WHERE since IS NOT NULL;

CREATE TABLE page_edits (
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    seq bigint NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- Null for a change that no editor sent: a save through the API, a restore.
    client uuid,
    n bigint,
    author_id uuid REFERENCES users ON DELETE SET NULL,
    at timestamptz NOT NULL DEFAULT now(),
    -- Both null: the content was replaced, and has to be read again.
    steps json,
    title text,
    -- Of the request, to recognise a repeat.
    digest bytea,
    PRIMARY KEY (node_id, seq)
);
-- With the author: nobody can use up the numbers of another person's editor.
CREATE UNIQUE INDEX ON page_edits (node_id, author_id, client, n) WHERE client IS NOT NULL;
CREATE INDEX ON page_edits (at);

-- Exact documents at some edits, from which any moment in between can be rebuilt.
CREATE TABLE page_snapshots (
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    seq bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    title text NOT NULL,
    doc json NOT NULL,
    PRIMARY KEY (node_id, seq)
);
CREATE INDEX ON page_snapshots (at);

ALTER TABLE settings ADD COLUMN edit_log_days integer NOT NULL DEFAULT 30
    CHECK (edit_log_days BETWEEN 1 AND 3650);

-- Set for a version that edits made: who wrote it, and when the first of those that it replaced was
-- made. Versions of the same ten minutes by the same people replace each other.
ALTER TABLE revisions ADD COLUMN authors uuid[], ADD COLUMN begun_at timestamptz;

-- A replica of an older version saves a page without knowing of the log. It may not save over edits
-- that wait; otherwise its change is noted as a replaced content.
CREATE FUNCTION note_replaced_content() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kept page_logs;
BEGIN
    SELECT * INTO kept FROM page_logs l WHERE l.node_id = new.id FOR UPDATE;
    IF NOT FOUND OR kept.version = new.version THEN
        RETURN NULL;
    END IF;
    IF kept.seq > kept.saved_seq THEN
        RAISE EXCEPTION 'edits of this page wait to be saved'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'edits_wait';
    END IF;
    INSERT INTO page_edits (node_id, seq, author_id) VALUES (new.id, kept.seq + 1, new.updated_by);
    INSERT INTO page_snapshots (node_id, seq, title, doc)
        VALUES (new.id, kept.seq + 1, new.title, new.doc);
    UPDATE page_logs SET seq = kept.seq + 1, saved_seq = kept.seq + 1, doc = NULL,
        version = new.version, at = now(),
        edit_id = (SELECT id FROM page_edits e WHERE e.node_id = new.id AND e.seq = kept.seq + 1)
        WHERE node_id = new.id;
    RETURN NULL;
END $$;
CREATE TRIGGER note_replaced_content AFTER UPDATE OF doc, title ON nodes FOR EACH ROW
    WHEN (old.version <> new.version) EXECUTE FUNCTION note_replaced_content();
