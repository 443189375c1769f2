-- The id of the state before the first edit, for an editor that was opened then: the version's number
-- alone may come again with another content, after a failover that lost a save. Null in a log that an
-- older version of the application began: editors of its first state read the page again.
ALTER TABLE page_logs ADD COLUMN base_id uuid;
