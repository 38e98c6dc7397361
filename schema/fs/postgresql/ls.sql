-- fs.ls(path): what is in a directory; a file lists itself, as with ls.
--
-- Parameters: path  absolute
-- Returns:    id, name, kind of each, by name
-- Errors:     UX002  no such file or directory
--             UX020  not a directory: the path goes on below a file
--             UX022, UX036  that is no path (components.sql)
-- Tables:     reads fs.nodes
create or replace function fs.ls(path text) returns table (id bigint, name text, kind text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with here as (select r.id, r.kind from fs.resolve(fs.components(path)) r)
  select n.id, n.name, n.kind from here join fs.nodes n on n.parent_id = here.id where here.kind = 'directory'
  union all
  select n.id, n.name, n.kind from here join fs.nodes n on n.id = here.id where here.kind = 'file'
  order by name
$$;
