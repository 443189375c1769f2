-- Invitations: who has the secret of one makes an account with the rights that are listed here. The secret is stored as a
-- hash alone. A group or a space that is deleted leaves the invitations, which give the rest.
CREATE TABLE invitations (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    secret_hash bytea NOT NULL UNIQUE,
    email text NOT NULL CHECK (email = lower(email)),
    -- Proposed to the person, who types a name; may be empty.
    name text NOT NULL,
    is_admin boolean NOT NULL,
    made_by uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    made_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz
);
-- An address has one invitation that is not accepted: another one takes its place.
CREATE UNIQUE INDEX invitations_open ON invitations (email) WHERE accepted_at IS NULL;
CREATE INDEX ON invitations (made_by);
CREATE INDEX ON invitations (expires_at);

CREATE TABLE invitation_groups (
    invitation_id uuid NOT NULL REFERENCES invitations ON DELETE CASCADE,
    group_id uuid NOT NULL REFERENCES groups ON DELETE CASCADE,
    PRIMARY KEY (invitation_id, group_id)
);
CREATE INDEX ON invitation_groups (group_id);

CREATE TABLE invitation_spaces (
    invitation_id uuid NOT NULL REFERENCES invitations ON DELETE CASCADE,
    space_id uuid NOT NULL REFERENCES spaces ON DELETE CASCADE,
    role smallint NOT NULL CHECK (role BETWEEN 1 AND 4),
    PRIMARY KEY (invitation_id, space_id)
);
CREATE INDEX ON invitation_spaces (space_id);
