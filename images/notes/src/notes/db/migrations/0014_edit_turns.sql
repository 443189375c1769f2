-- The editor whose edit was refused, and until when the edits of others wait for its next one;
-- that is null when it has come.
ALTER TABLE page_logs ADD COLUMN turn_of uuid, ADD COLUMN turn_until timestamptz;
