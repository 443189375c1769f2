-- The permissions of a group stay when it is deleted: a page that was restricted to it stays restricted, and is not opened by the
-- next move. A page that has lost its last permissions so gets those of a group that does not exist, which a manager sees and
-- removes in the dialog of the page's permissions.
INSERT INTO node_permissions (node_id, principal, kind, role)
    SELECT n.id, gen_random_uuid(), 'group', 1 FROM nodes n WHERE n.access_root = n.id
    AND NOT EXISTS (SELECT 1 FROM node_permissions p WHERE p.node_id = n.id);
