-- Requests that a browser repeats after a failover which lost them, by the key that the browser chose. A
-- request whose key is here has been done; `object_id` is what it made, changed or removed. A removal is noted
-- for any object, so that its maker's repeat does not bring it back. Rows outlive the object and the page.
CREATE TABLE client_requests (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    key uuid NOT NULL,
    object_id uuid NOT NULL,
    node_id uuid NOT NULL,
    is_removal boolean NOT NULL DEFAULT false,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key)
);
CREATE INDEX ON client_requests (object_id) WHERE is_removal;
CREATE INDEX ON client_requests (at);

-- When a thread was last resolved or opened again: unlike `resolved_at` it is never empty again.
ALTER TABLE comments ADD COLUMN state_changed_at timestamptz;

-- The key of an upload decides the id of its attachment, so that the same file sent again has the same address.
ALTER TABLE uploads ADD COLUMN key uuid;
