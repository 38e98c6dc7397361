-- fs.mkdir(path): makes a directory and whatever is missing above it, like mkdir -p. One that is there already is fine, so
-- that two who need the same directory at the same time both get it.
--
--   select fs.mkdir('/clinton/projects/elasticsearch');
--
-- Parameters: path  absolute
-- Returns:    the directory's id
-- Errors:     UX017  file exists: a file has that name
--             UX020  not a directory: the path leads through a file
--             UX002  no such file or directory: a directory above was removed meanwhile
--             UX022, UX036  that is no path (components.sql)
-- Tables:     inserts into fs.nodes; holds back the removal of the directories it adds to until the transaction ends
create or replace function fs.mkdir(path text) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  names      text[] := fs.components(path);
  node       bigint;
  child      bigint;
  child_kind text;
begin
  select n.id into node from fs.nodes n where n.parent_id is null;
  if not found then -- somebody emptied the table
    insert into fs.nodes (name, kind) values ('', 'directory') on conflict do nothing;
    select n.id into strict node from fs.nodes n where n.parent_id is null;
  end if;
  for depth in 1 .. cardinality(names) loop
    loop
      select n.id, n.kind into child, child_kind from fs.nodes n where n.parent_id = node and n.name = names[depth];
      exit when found;
      perform from fs.nodes n where n.id = node for key share;
      if not found then
        raise exception '/%: no such file or directory', array_to_string(names[:depth - 1], '/') using errcode = 'UX002';
      end if;
      insert into fs.nodes (parent_id, name, kind) values (node, names[depth], 'directory') on conflict do nothing;
    end loop;
    if child_kind <> 'directory' then
      if depth = cardinality(names) then
        raise exception '/%: file exists', array_to_string(names, '/') using errcode = 'UX017';
      end if;
      raise exception '/%: not a directory', array_to_string(names[:depth], '/') using errcode = 'UX020';
    end if;
    node := child;
  end loop;
  return node;
end
$$;
