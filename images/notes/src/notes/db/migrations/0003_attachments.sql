-- Files of pages, each in one column.
CREATE TABLE attachments (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    name text NOT NULL,
    media_type text NOT NULL,
    size bigint NOT NULL,
    created_by uuid REFERENCES users ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    data bytea
);
CREATE INDEX ON attachments (node_id);
