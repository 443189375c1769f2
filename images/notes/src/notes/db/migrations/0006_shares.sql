-- Share links, with which anybody may read a page, and their anonymous visits.
CREATE TABLE shares (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    token_hash bytea NOT NULL UNIQUE,
    token_sealed bytea NOT NULL,
    include_children boolean NOT NULL DEFAULT false,
    password_hash text,
    expires_at timestamptz,
    created_by uuid REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON shares (node_id);

CREATE TABLE share_views (
    share_id uuid NOT NULL REFERENCES shares ON DELETE CASCADE,
    at timestamptz NOT NULL DEFAULT now(),
    -- A salted hash of the address, never the address.
    visitor bytea NOT NULL,
    referrer text
);
CREATE INDEX ON share_views (share_id, at);
