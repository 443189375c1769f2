-- Of replicas that went silent while they had the job: counted apart from `attempt`, which counts the
-- claims after a planned stop, too.
ALTER TABLE jobs ADD COLUMN deaths smallint NOT NULL DEFAULT 0;
