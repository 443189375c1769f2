-- Sessions as their user sees them: an id to end one by, and the words for the browser and the system
-- that began it; the whole user agent is not stored.
ALTER TABLE sessions
    ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
    ADD COLUMN browser text,
    ADD COLUMN system text;
