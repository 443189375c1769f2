-- Set when other permissions take the place of those under which a link was made: it does not hold any more, also when the page
-- is opened later. Links of pages without own permissions have none to compare.
ALTER TABLE shares ADD COLUMN ended_at timestamptz;
