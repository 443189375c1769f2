-- Events, in an order that is the same on every replica: by transaction, then by number.
CREATE TABLE events (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT now(),
    kind text NOT NULL,
    space_id uuid,
    node_id uuid,
    -- Set for an event for one person only.
    user_id uuid,
    data json NOT NULL DEFAULT '{}',
    PRIMARY KEY (xid, id)
);
CREATE INDEX ON events (at);

-- Transaction numbers are invalid in another database system: a restored dump begins a new order.
CREATE TABLE event_epochs (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    epoch integer NOT NULL DEFAULT 1,
    system text NOT NULL DEFAULT '',
    -- Events of transactions up to this one may have been deleted.
    pruned_xid bigint NOT NULL DEFAULT 0
);
INSERT INTO event_epochs DEFAULT VALUES;

CREATE TABLE jobs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    kind text NOT NULL,
    space_id uuid REFERENCES spaces ON DELETE CASCADE,
    user_id uuid REFERENCES users ON DELETE CASCADE,
    payload jsonb NOT NULL DEFAULT '{}',
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed')),
    -- Counts the claims; a replica with an older number has lost the job.
    attempt integer NOT NULL DEFAULT 0,
    progress jsonb NOT NULL DEFAULT '{}',
    error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    run_at timestamptz NOT NULL DEFAULT now(),
    claimed_by text,
    heartbeat_at timestamptz,
    finished_at timestamptz
);
CREATE INDEX ON jobs (run_at) WHERE state = 'queued';
CREATE INDEX ON jobs (heartbeat_at) WHERE state = 'running';
CREATE INDEX ON jobs (user_id, created_at);
