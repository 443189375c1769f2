-- Files in chunks of 4 MB, stored without compression: most files are compressed already, and
-- compressing them would halve the speed. Files of the older layout are moved.
CREATE TABLE chunks (
    file_id uuid NOT NULL,
    number integer NOT NULL,
    size integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (file_id, number)
);
ALTER TABLE chunks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE uploads (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    -- A page for an attachment; a space for an import.
    node_id uuid REFERENCES nodes ON DELETE CASCADE,
    space_id uuid REFERENCES spaces ON DELETE CASCADE,
    user_id uuid REFERENCES users ON DELETE CASCADE,
    name text NOT NULL,
    media_type text NOT NULL,
    -- Unknown while a multipart form is still arriving.
    size bigint,
    sha256 bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL DEFAULT now() + interval '24 hours'
);
CREATE INDEX ON uploads (expires_at);
CREATE INDEX ON uploads (node_id);
CREATE INDEX ON uploads (space_id);

ALTER TABLE attachments ADD COLUMN chunk_size integer NOT NULL DEFAULT 4194304,
    ADD COLUMN sha256 bytea, ADD COLUMN crc32 bigint;

-- A job computes the checksums: that takes longer than moving the files, and the application is
-- down during this migration.
DO $$
DECLARE
    old record;
    whole bytea;
BEGIN
    FOR old IN SELECT id, octet_length(data) AS size, pg_column_size(data) < octet_length(data) AS packed
               FROM attachments WHERE data IS NOT NULL LOOP
        IF old.packed THEN
            -- Concatenation decompresses the value once, not once per chunk.
            SELECT data || ''::bytea INTO whole FROM attachments WHERE id = old.id;
            INSERT INTO chunks (file_id, number, size, data)
            SELECT old.id, n, least(4194304, old.size - n * 4194304),
                   substring(whole FROM n * 4194304 + 1 FOR 4194304)
            FROM generate_series(0, (old.size - 1) / 4194304) AS n;
            whole := NULL;
        ELSIF old.size > 0 THEN
            -- Of an uncompressed value the server reads only the slice.
            INSERT INTO chunks (file_id, number, size, data)
            SELECT a.id, n, least(4194304, old.size - n * 4194304),
                   substring(a.data FROM n * 4194304 + 1 FOR 4194304)
            FROM attachments a, generate_series(0, (old.size - 1) / 4194304) AS n WHERE a.id = old.id;
        END IF;
        UPDATE attachments SET size = old.size WHERE id = old.id AND size <> old.size;
    END LOOP;
    IF old.id IS NOT NULL THEN
        INSERT INTO jobs (kind) VALUES ('sum-files');
    END IF;
END $$;
ALTER TABLE attachments DROP COLUMN data;

-- Chunks are deleted with their file, in every case.
CREATE FUNCTION drop_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'attachments'
       OR NOT EXISTS (SELECT 1 FROM attachments WHERE id = old.id) THEN
        DELETE FROM chunks WHERE file_id = old.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER attachment_gone AFTER DELETE ON attachments FOR EACH ROW EXECUTE FUNCTION drop_chunks();
CREATE TRIGGER upload_gone AFTER DELETE ON uploads FOR EACH ROW EXECUTE FUNCTION drop_chunks();
