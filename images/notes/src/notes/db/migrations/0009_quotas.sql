-- Usage and limits of accounts and spaces. Triggers count in the transaction of the change: a
-- transaction that adds to a counter waits for the others that do, so concurrent ones cannot exceed a
-- limit. Locks are taken in one order: page, then space, then account.
ALTER TABLE settings
    ADD COLUMN account_bytes bigint NOT NULL DEFAULT 21474836480,
    ADD COLUMN account_pages bigint NOT NULL DEFAULT 50000,
    ADD COLUMN account_spaces bigint NOT NULL DEFAULT 100,
    ADD COLUMN space_bytes bigint NOT NULL DEFAULT 53687091200,
    ADD COLUMN space_pages bigint NOT NULL DEFAULT 50000;

-- An own limit replaces the default.
CREATE TABLE space_usage (
    space_id uuid PRIMARY KEY REFERENCES spaces ON DELETE CASCADE,
    bytes bigint NOT NULL DEFAULT 0,
    pages bigint NOT NULL DEFAULT 0,
    bytes_limit bigint,
    pages_limit bigint
) WITH (fillfactor = 50);

CREATE TABLE account_usage (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    bytes bigint NOT NULL DEFAULT 0,
    pages bigint NOT NULL DEFAULT 0,
    spaces bigint NOT NULL DEFAULT 0,
    bytes_limit bigint,
    pages_limit bigint,
    spaces_limit bigint
) WITH (fillfactor = 50);

-- All versions of the page, its files, unfinished uploads and comments.
ALTER TABLE nodes ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0;
-- Null for older versions: they count with their size on disk.
ALTER TABLE revisions ADD COLUMN size integer;
-- The size that an unfinished upload counts for: all of it if its size was announced.
ALTER TABLE uploads ADD COLUMN reserved bigint NOT NULL DEFAULT 0;
CREATE INDEX ON uploads (user_id);

CREATE FUNCTION revision_bytes(size integer, doc json, title text) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT 500 + octet_length(title) + coalesce(size, pg_column_size(doc))::bigint
$$;
CREATE FUNCTION comment_bytes(body text, quote text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT 500 + octet_length(body)::bigint + coalesce(octet_length(quote), 0)
$$;

UPDATE uploads SET reserved = coalesce(size, 0) + 500;
UPDATE nodes n SET stored_bytes =
    coalesce((SELECT sum(revision_bytes(r.size, r.doc, r.title)) FROM revisions r
              WHERE r.node_id = n.id), 0)
    + coalesce((SELECT sum(a.size + 500) FROM attachments a WHERE a.node_id = n.id), 0)
    + coalesce((SELECT sum(u.reserved) FROM uploads u WHERE u.node_id = n.id), 0)
    + coalesce((SELECT sum(comment_bytes(c.body, c.quote)) FROM comments c
                WHERE c.node_id = n.id), 0);
INSERT INTO space_usage (space_id, bytes, pages)
    SELECT s.id, coalesce(n.bytes, 0) + coalesce(u.bytes, 0), coalesce(n.pages, 0) FROM spaces s
    LEFT JOIN (SELECT space_id, sum(stored_bytes) AS bytes, count(*) AS pages FROM nodes
               GROUP BY space_id) n ON n.space_id = s.id
    LEFT JOIN (SELECT space_id, sum(reserved) AS bytes FROM uploads GROUP BY space_id) u
        ON u.space_id = s.id;
INSERT INTO account_usage (user_id, bytes, pages, spaces)
    SELECT p.id, coalesce(r.bytes, 0) + coalesce(a.bytes, 0) + coalesce(u.bytes, 0)
        + coalesce(c.bytes, 0), coalesce(n.pages, 0), coalesce(s.spaces, 0) FROM users p
    LEFT JOIN (SELECT author_id, sum(revision_bytes(size, doc, title)) AS bytes FROM revisions
               GROUP BY 1) r ON r.author_id = p.id
    LEFT JOIN (SELECT created_by, sum(size + 500) AS bytes FROM attachments GROUP BY 1) a
        ON a.created_by = p.id
    LEFT JOIN (SELECT user_id, sum(reserved) AS bytes FROM uploads GROUP BY 1) u
        ON u.user_id = p.id
    LEFT JOIN (SELECT author_id, sum(comment_bytes(body, quote)) AS bytes FROM comments
               GROUP BY 1) c ON c.author_id = p.id
    LEFT JOIN (SELECT created_by, count(*) AS pages FROM nodes GROUP BY 1) n
        ON n.created_by = p.id
    LEFT JOIN (SELECT created_by, count(*) AS spaces FROM spaces GROUP BY 1) s
        ON s.created_by = p.id;
-- Accounts and spaces with a large usage get a higher limit: an upgrade blocks nobody.
UPDATE space_usage SET bytes_limit = 2 * bytes FROM settings WHERE 2 * bytes > space_bytes;
UPDATE space_usage SET pages_limit = 2 * pages FROM settings WHERE 2 * pages > space_pages;
UPDATE account_usage SET bytes_limit = 2 * bytes FROM settings WHERE 2 * bytes > account_bytes;
UPDATE account_usage SET pages_limit = 2 * pages FROM settings WHERE 2 * pages > account_pages;
UPDATE account_usage SET spaces_limit = 2 * spaces FROM settings WHERE 2 * spaces > account_spaces;

-- Usage above a limit may always decrease.
CREATE FUNCTION check_quota(name text, added bigint, used bigint, most bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF added > 0 AND used > most THEN
        RAISE EXCEPTION 'over quota' USING ERRCODE = 'NQ001',
            DETAIL = json_build_object('name', name, 'used', used - added, 'most', most)::text;
    END IF;
END $$;

CREATE FUNCTION charge_space(space uuid, more_bytes bigint, more_pages bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    at record;
BEGIN
    UPDATE space_usage u SET bytes = u.bytes + more_bytes, pages = u.pages + more_pages
        FROM settings s WHERE u.space_id = space
        RETURNING u.bytes, u.pages, coalesce(u.bytes_limit, s.space_bytes) AS most_bytes,
            coalesce(u.pages_limit, s.space_pages) AS most_pages INTO at;
    IF FOUND THEN
        PERFORM check_quota('space_bytes', more_bytes, at.bytes, at.most_bytes);
        PERFORM check_quota('space_pages', more_pages, at.pages, at.most_pages);
    END IF;
END $$;

CREATE FUNCTION charge_account(person uuid, more_bytes bigint, more_pages bigint, more_spaces bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    at record;
BEGIN
    UPDATE account_usage u SET bytes = u.bytes + more_bytes, pages = u.pages + more_pages,
        spaces = u.spaces + more_spaces
        FROM settings s WHERE u.user_id = person
        RETURNING u.bytes, u.pages, u.spaces, coalesce(u.bytes_limit, s.account_bytes) AS most_bytes,
            coalesce(u.pages_limit, s.account_pages) AS most_pages,
            coalesce(u.spaces_limit, s.account_spaces) AS most_spaces INTO at;
    IF FOUND THEN
        PERFORM check_quota('account_bytes', more_bytes, at.bytes, at.most_bytes);
        PERFORM check_quota('account_pages', more_pages, at.pages, at.most_pages);
        PERFORM check_quota('account_spaces', more_spaces, at.spaces, at.most_spaces);
    END IF;
END $$;

CREATE FUNCTION count_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account_usage (user_id) VALUES (new.id);
    RETURN NULL;
END $$;
CREATE TRIGGER counted AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION count_accounts();

CREATE FUNCTION count_spaces() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO space_usage (space_id) VALUES (new.id);
        PERFORM charge_account(new.created_by, 0, 0, 1);
    ELSE
        PERFORM charge_account(old.created_by, 0, 0, -1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER counted AFTER INSERT OR DELETE ON spaces FOR EACH ROW EXECUTE FUNCTION count_spaces();

-- A page is deleted with all its rows; the triggers of these rows reduce the usage of accounts.
CREATE FUNCTION count_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign bigint := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    one record;
BEGIN
    FOR one IN SELECT space_id, sum(stored_bytes)::bigint AS bytes, count(*) AS pages FROM changed
        GROUP BY space_id ORDER BY space_id
    LOOP
        PERFORM charge_space(one.space_id, sign * one.bytes, sign * one.pages);
    END LOOP;
    FOR one IN SELECT created_by, count(*) AS pages FROM changed
        GROUP BY created_by ORDER BY created_by
    LOOP
        PERFORM charge_account(one.created_by, 0, sign * one.pages, 0);
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_made AFTER INSERT ON nodes REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_nodes();
CREATE TRIGGER counted_gone AFTER DELETE ON nodes REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_nodes();

CREATE FUNCTION count_changed_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT space_id, sum(bytes)::bigint AS bytes, sum(pages)::bigint AS pages FROM (
            SELECT space_id, stored_bytes AS bytes, 1 AS pages FROM made
            UNION ALL SELECT space_id, -stored_bytes, -1 FROM gone) both_sides
        GROUP BY space_id HAVING sum(bytes) <> 0 OR sum(pages) <> 0 ORDER BY space_id
    LOOP
        PERFORM charge_space(one.space_id, one.bytes, one.pages);
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_changed AFTER UPDATE ON nodes REFERENCING OLD TABLE AS gone NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION count_changed_nodes();

-- Bytes of a page's rows count for the page, through it for the space, and for the author.
CREATE FUNCTION charge_page(page uuid, more_bytes bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE nodes SET stored_bytes = stored_bytes + more_bytes WHERE id = page AND more_bytes <> 0
$$;

-- One update for all rows of a statement: updating a counter for each of thousands of rows in a
-- transaction takes quadratic time.
CREATE FUNCTION count_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign bigint := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    one record;
BEGIN
    PERFORM 1 FROM nodes n WHERE n.id IN (SELECT c.node_id FROM changed c)
        ORDER BY n.id FOR NO KEY UPDATE;
    UPDATE nodes n SET stored_bytes = n.stored_bytes + more.bytes FROM (
        SELECT c.node_id, sign * sum(revision_bytes(c.size, c.doc, c.title))::bigint AS bytes
        FROM changed c GROUP BY c.node_id) more WHERE n.id = more.node_id AND more.bytes <> 0;
    FOR one IN SELECT c.author_id,
        sign * sum(revision_bytes(c.size, c.doc, c.title))::bigint AS bytes
        FROM changed c GROUP BY c.author_id ORDER BY c.author_id
    LOOP
        PERFORM charge_account(one.author_id, one.bytes, 0, 0);
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_made AFTER INSERT ON revisions REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_revisions();
CREATE TRIGGER counted_gone AFTER DELETE ON revisions REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_revisions();

CREATE FUNCTION count_comments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign bigint := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    one record;
BEGIN
    PERFORM 1 FROM nodes n WHERE n.id IN (SELECT c.node_id FROM changed c)
        ORDER BY n.id FOR NO KEY UPDATE;
    UPDATE nodes n SET stored_bytes = n.stored_bytes + more.bytes FROM (
        SELECT c.node_id, sign * sum(comment_bytes(c.body, c.quote))::bigint AS bytes
        FROM changed c GROUP BY c.node_id) more WHERE n.id = more.node_id AND more.bytes <> 0;
    FOR one IN SELECT c.author_id, sign * sum(comment_bytes(c.body, c.quote))::bigint AS bytes
        FROM changed c GROUP BY c.author_id ORDER BY c.author_id
    LOOP
        PERFORM charge_account(one.author_id, one.bytes, 0, 0);
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_made AFTER INSERT ON comments REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_comments();
CREATE TRIGGER counted_gone AFTER DELETE ON comments REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_comments();

CREATE FUNCTION count_changed_comment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    more bigint := comment_bytes(new.body, new.quote) - comment_bytes(old.body, old.quote);
BEGIN
    IF more <> 0 THEN
        PERFORM charge_page(new.node_id, more);
        PERFORM charge_account(new.author_id, more, 0, 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_changed AFTER UPDATE OF body, quote ON comments
    FOR EACH ROW EXECUTE FUNCTION count_changed_comment();

CREATE FUNCTION count_attachments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign bigint := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    one record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        -- An upload that becomes an attachment counts once.
        UPDATE uploads u SET reserved = 0 FROM changed c WHERE u.id = c.id AND u.reserved <> 0;
    END IF;
    PERFORM 1 FROM nodes n WHERE n.id IN (SELECT c.node_id FROM changed c)
        ORDER BY n.id FOR NO KEY UPDATE;
    UPDATE nodes n SET stored_bytes = n.stored_bytes + more.bytes FROM (
        SELECT c.node_id, sign * sum(c.size + 500)::bigint AS bytes
        FROM changed c GROUP BY c.node_id) more WHERE n.id = more.node_id;
    FOR one IN SELECT c.created_by, sign * sum(c.size + 500)::bigint AS bytes
        FROM changed c GROUP BY c.created_by ORDER BY c.created_by
    LOOP
        PERFORM charge_account(one.created_by, one.bytes, 0, 0);
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_made AFTER INSERT ON attachments REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_attachments();
CREATE TRIGGER counted_gone AFTER DELETE ON attachments REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_attachments();

CREATE FUNCTION count_uploads() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    more bigint := 0;
    at uploads;
BEGIN
    at := CASE TG_OP WHEN 'DELETE' THEN old ELSE new END;
    IF TG_OP <> 'INSERT' THEN more := -old.reserved; END IF;
    IF TG_OP <> 'DELETE' THEN more := more + new.reserved; END IF;
    IF more <> 0 THEN
        IF at.node_id IS NOT NULL THEN
            PERFORM charge_page(at.node_id, more);
        ELSE
            PERFORM charge_space(at.space_id, more, 0);
        END IF;
        PERFORM charge_account(at.user_id, more, 0, 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER counted AFTER INSERT OR DELETE OR UPDATE OF reserved ON uploads
    FOR EACH ROW EXECUTE FUNCTION count_uploads();
