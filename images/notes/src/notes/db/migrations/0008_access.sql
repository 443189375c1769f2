-- True if a person has a role in a space other than by its being public: only they see its members.
CREATE FUNCTION space_insider(space uuid, person uuid, person_groups uuid[], administrator boolean)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT administrator OR coalesce((
        SELECT person IS NOT NULL AND (s.everyone_role > 0 OR EXISTS (
            SELECT 1 FROM space_members m WHERE m.space_id = s.id
            AND (m.principal = person OR m.principal = ANY (person_groups))))
        FROM spaces s WHERE s.id = space), false)
$$;

-- The same for a page: if it has its own permissions, the space's being public does not apply.
CREATE FUNCTION page_insider(
    space uuid, root uuid, person uuid, person_groups uuid[], administrator boolean
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN root IS NULL
        THEN space_insider(space, person, person_groups, administrator)
        ELSE page_role(space, root, person, person_groups, administrator) > 0 END
$$;

-- The permissions that applied at the event's time: a deleted page has none any more.
ALTER TABLE events ADD COLUMN access_root uuid;

-- A space's domain is a claim; it is served only while an administrator has approved this name. Two
-- spaces may claim the same name. Domains that were served before stay approved.
ALTER TABLE spaces DROP CONSTRAINT spaces_domain_key,
    ADD COLUMN approved_domain text UNIQUE,
    ADD COLUMN domain_claimed_by uuid REFERENCES users ON DELETE SET NULL;
UPDATE spaces SET approved_domain = domain WHERE domain IS NOT NULL AND site_enabled;
CREATE INDEX ON spaces (domain_claimed_by) WHERE domain IS NOT NULL;

-- A link is valid while its page has the same permissions as at the link's creation, or none.
ALTER TABLE shares ADD COLUMN access_root uuid;
UPDATE shares s SET access_root = n.access_root FROM nodes n
    WHERE n.id = s.node_id AND n.access_root IS NOT NULL;

-- A token is deleted with the token that created it.
ALTER TABLE api_tokens ADD COLUMN made_by uuid REFERENCES api_tokens ON DELETE CASCADE;
CREATE INDEX ON api_tokens (made_by);

-- The address that began a session, as a keyed hash: sign-in attempts from it are not counted with
-- those from unknown addresses.
ALTER TABLE sessions ADD COLUMN address bytea;

-- One active administrator always remains, even if several are removed at once: the lock is held
-- until the end of the transaction, and the check after it reads committed rows.
CREATE FUNCTION keep_an_administrator() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(72, 1);
    IF NOT EXISTS (SELECT 1 FROM users WHERE is_admin AND disabled_at IS NULL) THEN
        RAISE EXCEPTION 'one administrator has to remain'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'one_administrator';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER keep_an_administrator AFTER UPDATE ON users FOR EACH ROW
    WHEN (old.is_admin AND old.disabled_at IS NULL
          AND NOT (new.is_admin AND new.disabled_at IS NULL))
    EXECUTE FUNCTION keep_an_administrator();
CREATE TRIGGER keep_an_administrator_of_the_removed AFTER DELETE ON users FOR EACH ROW
    WHEN (old.is_admin AND old.disabled_at IS NULL)
    EXECUTE FUNCTION keep_an_administrator();

-- A user who is disabled loses all sessions and tokens, and a user who is no longer an administrator
-- loses all tokens with the scope admin.
CREATE FUNCTION end_sign_ins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.disabled_at IS NOT NULL THEN
        DELETE FROM sessions WHERE user_id = new.id;
        DELETE FROM api_tokens WHERE user_id = new.id;
    ELSIF NOT new.is_admin THEN
        DELETE FROM api_tokens WHERE user_id = new.id AND scopes = ARRAY['admin'];
        UPDATE api_tokens SET scopes = array_remove(scopes, 'admin')
            WHERE user_id = new.id AND 'admin' = ANY (scopes);
    END IF;
    PERFORM pg_notify('app_access', 'u' || new.id);
    RETURN NULL;
END $$;
CREATE TRIGGER end_sign_ins AFTER UPDATE ON users FOR EACH ROW
    WHEN ((old.disabled_at IS NULL AND new.disabled_at IS NOT NULL)
          OR (old.is_admin AND NOT new.is_admin))
    EXECUTE FUNCTION end_sign_ins();

-- Triggers a new access check of open streams: of a person (u) or of everybody in a space (s).
CREATE FUNCTION tell_of_access() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('app_access', CASE TG_TABLE_NAME
        WHEN 'spaces' THEN 's' || (to_jsonb(old) ->> 'id')
        WHEN 'space_members' THEN 's' || (to_jsonb(old) ->> 'space_id')
        ELSE 'u' || (to_jsonb(old) ->> 'user_id') END);
    RETURN NULL;
END $$;
CREATE TRIGGER tell_of_access AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION tell_of_access();
CREATE TRIGGER tell_of_access AFTER DELETE OR UPDATE OF scopes, expires_at ON api_tokens
    FOR EACH ROW EXECUTE FUNCTION tell_of_access();
CREATE TRIGGER tell_of_access AFTER DELETE ON group_members
    FOR EACH ROW EXECUTE FUNCTION tell_of_access();
CREATE TRIGGER tell_of_access AFTER DELETE OR UPDATE ON space_members
    FOR EACH ROW EXECUTE FUNCTION tell_of_access();
CREATE TRIGGER tell_of_access AFTER UPDATE OF public, everyone_role ON spaces
    FOR EACH ROW EXECUTE FUNCTION tell_of_access();
