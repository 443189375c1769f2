-- No more edits are saved than a log has. A save of edits which a failover had just lost noted them as saved all the
-- same, and no editor could open such a page any more: its saved content becomes the log's last edit.
CREATE TEMPORARY TABLE beyond ON COMMIT DROP AS
    SELECT l.node_id, l.saved_seq + 1 AS seq, l.version, n.updated_by, n.title,
        coalesce(l.doc, n.doc) AS doc
    FROM page_logs l JOIN nodes n ON n.id = l.node_id WHERE l.saved_seq > l.seq;
INSERT INTO page_edits (node_id, seq, author_id) SELECT node_id, seq, updated_by FROM beyond;
INSERT INTO page_snapshots (node_id, seq, title, doc) SELECT node_id, seq, title, doc FROM beyond;
UPDATE page_logs l SET seq = b.seq, saved_seq = b.seq, at = now(), since = NULL,
    edit_id = (SELECT e.id FROM page_edits e WHERE e.node_id = b.node_id AND e.seq = b.seq)
    FROM beyond b WHERE l.node_id = b.node_id;
ALTER TABLE page_logs ADD CONSTRAINT page_logs_end CHECK (saved_seq <= seq);
