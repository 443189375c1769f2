-- Of the edits that were deleted by age, the last one of each editor of a page: a browser that has never had the answer
-- may send it again after weeks. An editor has one request on its way, so no earlier one is repeated.
CREATE TABLE pruned_edits (
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    author_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    client uuid NOT NULL,
    n bigint NOT NULL,
    seq bigint NOT NULL,
    id uuid NOT NULL,
    digest bytea NOT NULL,
    -- When it was deleted from the log.
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (node_id, author_id, client)
);
CREATE INDEX ON pruned_edits (author_id);
CREATE INDEX ON pruned_edits (at);

-- A trigger, so that an edit that is stored costs nothing, and a replica of an older version keeps them, too. With a
-- page that is deleted its row is gone already.
CREATE FUNCTION keep_pruned_edits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pruned_edits AS p (node_id, author_id, client, n, seq, id, digest)
        SELECT DISTINCT ON (c.node_id, c.author_id, c.client)
            c.node_id, c.author_id, c.client, c.n, c.seq, c.id, c.digest
        FROM changed c JOIN nodes ON nodes.id = c.node_id
        WHERE c.client IS NOT NULL AND c.author_id IS NOT NULL
        ORDER BY c.node_id, c.author_id, c.client, c.n DESC
        ON CONFLICT (node_id, author_id, client) DO UPDATE
            SET n = excluded.n, seq = excluded.seq, id = excluded.id, digest = excluded.digest, at = now()
            WHERE p.n < excluded.n;
    RETURN NULL;
END $$;
-- Its name comes after that of `counted_gone`, which locks the pages: triggers run in the order of their names.
CREATE TRIGGER kept_gone AFTER DELETE ON page_edits REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION keep_pruned_edits();
