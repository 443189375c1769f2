-- Settings of an identity provider that an administrator tries, and the result: both encrypted, each
-- seen by that administrator alone, and neither used for anybody's sign-on.
CREATE TABLE oidc_trials (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    sealed bytea NOT NULL,
    result bytea,
    expires_at timestamptz NOT NULL
);
CREATE INDEX ON oidc_trials (user_id);
CREATE INDEX ON oidc_trials (expires_at);
