-- Set when other permissions take the place of those under which a link was made: it does not hold any more, also when the page
-- is opened later. Links of pages without own permissions have none to compare.
ALTER TABLE shares ADD COLUMN ended_at timestamptz;

-- A visitor's visits of an hour are one row, and rows are deleted after 90 days; the link keeps what it has counted in those.
ALTER TABLE share_views ADD COLUMN views integer NOT NULL DEFAULT 1;
ALTER TABLE shares
    ADD COLUMN past_views bigint NOT NULL DEFAULT 0,
    ADD COLUMN past_visitors bigint NOT NULL DEFAULT 0;
WITH gone AS (DELETE FROM share_views RETURNING share_id, at, visitor, referrer)
INSERT INTO share_views (share_id, at, visitor, referrer, views)
    SELECT share_id, date_trunc('hour', at, 'UTC'), visitor, min(referrer), count(*) FROM gone GROUP BY 1, 2, 3;
CREATE UNIQUE INDEX share_views_hour ON share_views (share_id, visitor, at);
CREATE INDEX ON share_views (at);
