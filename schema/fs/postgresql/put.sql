-- fs.put(path, contents): writes a file: a new one, or new contents for the one that is there. The directory must exist, so
-- that a slip in the path is an error and not a new tree; fs.mkdir makes it.
--
--   select fs.put('/clinton/projects/elasticsearch/README.txt', 'Starting a new Elasticsearch project is easy...');
--
-- Parameters: path      absolute
--             contents  text, or null where it isn't known or isn't text
-- Returns:    the file's id
-- Errors:     UX002  no such file or directory: the directory isn't there
--             UX020  not a directory: the path leads through a file
--             UX021  is a directory
--             UX022, UX036  that is no path (components.sql)
-- Tables:     inserts into or updates fs.nodes; holds back the removal of the directory until the transaction ends, not its
--             renaming
create or replace function fs.put(path text, contents text) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  names     text[] := fs.components(path);
  above     text[] := names[:cardinality(names) - 1];
  directory record;
  node      bigint;
begin
  if names = '{}' then
    raise exception '/: is a directory' using errcode = 'UX021';
  end if;
  loop
    select r.id, r.kind into directory from fs.resolve(above) r;
    if directory.kind <> 'directory' then
      raise exception '/%: not a directory', array_to_string(above, '/') using errcode = 'UX020';
    end if;
    perform from fs.nodes n where n.id = directory.id for key share;
    exit when found; -- else it was removed meanwhile: look again
  end loop;
  insert into fs.nodes as n (parent_id, name, kind, contents)
  values (directory.id, names[cardinality(names)], 'file', put.contents)
  on conflict (parent_id, name) where parent_id is not null
    do update set contents = excluded.contents where n.kind = 'file'
  returning n.id into node;
  if node is null then
    raise exception '/%: is a directory', array_to_string(names, '/') using errcode = 'UX021';
  end if;
  return node;
end
$$;
