-- Users, groups, sessions, tokens, rate limits and single sign-on.
CREATE TABLE settings (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    site_name text NOT NULL DEFAULT 'Notes',
    installed_at timestamptz,
    -- A value encrypted with the encryption key; proves at start that the key is still the same.
    key_check bytea
);
INSERT INTO settings DEFAULT VALUES;

CREATE TABLE users (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    email text NOT NULL UNIQUE CHECK (email = lower(email)),
    name text NOT NULL,
    password_hash text,
    is_admin boolean NOT NULL DEFAULT false,
    disabled_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX ON identities (user_id);

CREATE TABLE groups (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL UNIQUE
);

CREATE TABLE group_members (
    group_id uuid NOT NULL REFERENCES groups ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    from_oidc boolean NOT NULL DEFAULT false,
    PRIMARY KEY (user_id, group_id)
);
CREATE INDEX ON group_members (group_id);

CREATE TABLE sessions (
    token_hash bytea PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX ON sessions (user_id);
CREATE INDEX ON sessions (expires_at);

CREATE TABLE rate_limits (
    bucket text PRIMARY KEY,
    window_ends timestamptz NOT NULL,
    hits integer NOT NULL
);

CREATE TABLE api_tokens (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    name text NOT NULL,
    secret_hash bytea NOT NULL UNIQUE,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    last_used_at timestamptz
);
CREATE INDEX ON api_tokens (user_id);

-- Secrets that the application has to read back; always encrypted.
CREATE TABLE credentials (
    name text PRIMARY KEY,
    sealed bytea NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- A started sign-on, which may come back from the identity provider once.
CREATE TABLE oidc_logins (
    state_hash bytea PRIMARY KEY,
    sealed bytea NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    actor_id uuid,
    actor_name text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    space_id uuid,
    node_id uuid,
    detail jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX ON audit (node_id, id);
CREATE INDEX ON audit (space_id, id);
