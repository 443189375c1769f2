-- The look of a space's site: what its manager chooses for the pages at the space's domain.
CREATE TABLE space_looks (
    space_id uuid PRIMARY KEY REFERENCES spaces ON DELETE CASCADE,
    -- Counts the changes of accent, links and is_indexed.
    version integer NOT NULL DEFAULT 1,
    accent text CHECK (accent ~ '^#[0-9a-f]{6}$'),
    links jsonb NOT NULL DEFAULT '[]',
    is_indexed boolean NOT NULL DEFAULT true,
    logo bytea CHECK (octet_length(logo) BETWEEN 1 AND 262144),
    logo_type text,
    logo_sha256 text
);
ALTER TABLE space_looks ALTER COLUMN logo SET STORAGE EXTERNAL;
