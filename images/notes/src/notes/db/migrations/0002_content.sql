-- Spaces, their trees of pages, and permissions.
-- Roles: 0 none, 1 viewer, 2 commenter, 3 editor, 4 manager.
CREATE TABLE spaces (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    slug text NOT NULL UNIQUE,
    name text NOT NULL,
    description text NOT NULL DEFAULT '',
    domain text UNIQUE,
    site_enabled boolean NOT NULL DEFAULT false,
    public boolean NOT NULL DEFAULT false,
    everyone_role smallint NOT NULL DEFAULT 0 CHECK (everyone_role BETWEEN 0 AND 3),
    created_by uuid REFERENCES users ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE space_members (
    space_id uuid NOT NULL REFERENCES spaces ON DELETE CASCADE,
    principal uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('user', 'group')),
    role smallint NOT NULL CHECK (role BETWEEN 1 AND 4),
    PRIMARY KEY (space_id, principal)
);
CREATE INDEX ON space_members (principal);

CREATE TABLE nodes (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    space_id uuid NOT NULL REFERENCES spaces ON DELETE CASCADE,
    parent_id uuid REFERENCES nodes ON DELETE CASCADE,
    position bigint NOT NULL,
    title text NOT NULL,
    is_template boolean NOT NULL DEFAULT false,
    version integer NOT NULL DEFAULT 1,
    -- json, not jsonb: it is sent back as it was written, without being parsed.
    doc json NOT NULL,
    body_text text NOT NULL DEFAULT '',
    search tsvector NOT NULL DEFAULT '',
    -- The nearest page, this one included, with its own permissions.
    access_root uuid,
    trashed_at timestamptz,
    trashed_by uuid REFERENCES users ON DELETE SET NULL,
    -- The page that was trashed together with this one; restoring that page restores this one.
    trash_root uuid,
    created_by uuid REFERENCES users ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_by uuid REFERENCES users ON DELETE SET NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON nodes (space_id, parent_id, position) WHERE trashed_at IS NULL;
CREATE INDEX ON nodes (parent_id);
CREATE INDEX ON nodes (trash_root) WHERE trashed_at IS NOT NULL;
CREATE INDEX ON nodes (access_root) WHERE access_root IS NOT NULL;
CREATE INDEX ON nodes (updated_at);
-- A short list of pending entries, since every search reads all of it.
CREATE INDEX nodes_search ON nodes USING gin (search) WITH (gin_pending_list_limit = 256);
CREATE INDEX nodes_title_search ON nodes USING gin (ts_filter(search, '{a}'))
    WITH (gin_pending_list_limit = 256);

CREATE TABLE revisions (
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    version integer NOT NULL,
    title text NOT NULL,
    doc json NOT NULL,
    author_id uuid REFERENCES users ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    restored_from integer,
    PRIMARY KEY (node_id, version)
);

CREATE TABLE links (
    from_node uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    to_node uuid NOT NULL,
    PRIMARY KEY (from_node, to_node)
);
CREATE INDEX ON links (to_node);

CREATE TABLE node_permissions (
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    principal uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('user', 'group')),
    role smallint NOT NULL CHECK (role BETWEEN 1 AND 4),
    PRIMARY KEY (node_id, principal)
);
CREATE INDEX ON node_permissions (principal);

CREATE TABLE comments (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    parent_id uuid REFERENCES comments ON DELETE CASCADE,
    author_id uuid REFERENCES users ON DELETE SET NULL,
    body text NOT NULL,
    quote text,
    created_at timestamptz NOT NULL DEFAULT now(),
    edited_at timestamptz,
    resolved_at timestamptz,
    resolved_by uuid REFERENCES users ON DELETE SET NULL
);
CREATE INDEX ON comments (node_id, created_at);
CREATE INDEX ON comments (parent_id);

CREATE TABLE favourites (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    node_id uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, node_id)
);
CREATE INDEX ON favourites (node_id);

-- The role of a person in a space: 0 to 4. A null person is not signed in.
CREATE FUNCTION space_role(space uuid, person uuid, person_groups uuid[], administrator boolean)
RETURNS smallint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN administrator THEN 4 ELSE coalesce((
        SELECT greatest(
            s.public::integer,
            CASE WHEN person IS NULL THEN 0 ELSE s.everyone_role END,
            (SELECT max(m.role) FROM space_members m
             WHERE m.space_id = s.id AND (m.principal = person OR m.principal = ANY (person_groups)))
        ) FROM spaces s WHERE s.id = space), 0) END::smallint
$$;

-- The role of a person on a page. Permissions of a page's access root replace the space's, except
-- for the space's managers.
CREATE FUNCTION page_role(
    space uuid, root uuid, person uuid, person_groups uuid[], administrator boolean
) RETURNS smallint LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN root IS NULL OR administrator THEN space_role(space, person, person_groups, administrator)
        WHEN space_role(space, person, person_groups, administrator) = 4 THEN 4::smallint
        ELSE coalesce((SELECT max(p.role) FROM node_permissions p WHERE p.node_id = root
              AND (p.principal = person OR p.principal = ANY (person_groups))), 0)::smallint END
$$;
