-- fs.find(path): the id of the node at a path, or null when nothing is there.
--
--   select contents from fs.nodes where id = fs.find('/clinton/projects/elasticsearch/README.txt');
--
-- Parameters: path  absolute
-- Returns:    fs.nodes.id, or null
-- Errors:     UX022, UX036  that is no path (components.sql)
-- Tables:     reads fs.nodes
create or replace function fs.find(path text) returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select w.id from fs.walk(fs.components(path)) w
$$;
