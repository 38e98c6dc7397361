-- fs.path(id): the path of a node, the way back from fs.find.
--
-- Parameters: id  of a row of fs.nodes
-- Returns:    "/clinton/projects", "/" for the root, null when there is no such node
-- Tables:     reads fs.nodes
create or replace function fs.path(id bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive up (parent_id, path) as (
    select n.parent_id, n.name from fs.nodes n where n.id = path.id
    union all
    select p.parent_id, p.name || '/' || up.path from up join fs.nodes p on p.id = up.parent_id
  )
  select coalesce(nullif(up.path, ''), '/') from up where up.parent_id is null
$$;
