-- Staging tables of imports. No user sees their rows until one transaction publishes all of them.
CREATE TABLE import_pages (
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    node_id uuid NOT NULL,
    -- Parents before children, siblings in their order.
    ord integer NOT NULL,
    parent_id uuid,
    title text NOT NULL,
    is_template boolean NOT NULL,
    version integer NOT NULL DEFAULT 1,
    doc json NOT NULL,
    body_text text NOT NULL,
    search tsvector NOT NULL,
    links uuid[] NOT NULL,
    -- The files that the page shows or links to.
    file_refs uuid[] NOT NULL,
    -- Of the newest version, if the export has them.
    author_name text,
    restored_from integer,
    created_at timestamptz,
    updated_at timestamptz,
    PRIMARY KEY (job_id, node_id)
);
CREATE TABLE import_revisions (
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    node_id uuid NOT NULL,
    version integer NOT NULL,
    title text NOT NULL,
    doc json NOT NULL,
    author_name text,
    created_at timestamptz NOT NULL,
    restored_from integer,
    PRIMARY KEY (job_id, node_id, version)
);
CREATE TABLE import_comments (
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    comment_id uuid NOT NULL,
    node_id uuid NOT NULL,
    parent_id uuid,
    author_name text,
    body text NOT NULL,
    quote text,
    created_at timestamptz NOT NULL,
    edited_at timestamptz,
    resolved_at timestamptz,
    PRIMARY KEY (job_id, comment_id)
);
CREATE TABLE import_files (
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    -- Until then the chunks belong to the upload with this id.
    file_id uuid NOT NULL,
    node_id uuid NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    crc32 bigint NOT NULL,
    PRIMARY KEY (job_id, file_id)
);
-- The result for each file of the zip; it is kept with the job.
CREATE TABLE import_report (
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    number integer NOT NULL,
    path text NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('page', 'file', 'left out')),
    node_id uuid,
    file_id uuid,
    notes text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (job_id, number)
);

-- Uploads of a job are deleted with it, and do not expire while it waits or runs.
ALTER TABLE uploads ADD COLUMN job_id uuid REFERENCES jobs ON DELETE CASCADE;
CREATE INDEX ON uploads (job_id);
-- `digest`: of the zip, to recognise a repeated import. `result`: the job's result.
ALTER TABLE jobs ADD COLUMN digest bytea, ADD COLUMN result jsonb;
CREATE INDEX ON jobs (space_id, digest) WHERE digest IS NOT NULL;

-- The author's name in the export. Never an account here: a zip may contain any name.
ALTER TABLE comments ADD COLUMN author_name text;
ALTER TABLE revisions ADD COLUMN author_name text;
