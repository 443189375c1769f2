-- The language of a site's plain pages, as a tag such as "de"; null: the one that the reader prefers.
ALTER TABLE space_looks ADD COLUMN language text CHECK (language ~ '^[a-z]{2,3}$');
