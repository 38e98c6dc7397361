-- fs.walk(names): goes down from the root, name by name, as far as it can.
--
-- Parameters: names      what fs.components gives
-- Returns:    one row: id, parent_id, kind of the node, or, when the way ends before,
--             problem    the SQLSTATE that says why: UX002 nothing of that name, UX020 that is a file, not a directory
--             stopped_at how far the path is to blame, "/clinton/projcts"
-- Tables:     reads fs.nodes, all of it in the snapshot of the statement that calls
create or replace function fs.walk(
  names text[], out id bigint, out parent_id bigint, out kind text, out problem text, out stopped_at text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  depth integer := 0;
  next  text;
begin
  select n.id, n.kind into walk.id, walk.kind from fs.nodes n where n.parent_id is null;
  if not found then
    problem := 'UX002';
  end if;
  foreach next in array names loop
    exit when problem is not null;
    if kind <> 'directory' then
      problem := 'UX020';
    else
      depth := depth + 1;
      parent_id := id;
      select n.id, n.kind into walk.id, walk.kind from fs.nodes n where n.parent_id = walk.parent_id and n.name = next;
      if not found then
        problem := 'UX002';
      end if;
    end if;
  end loop;
  if problem is not null then
    id := null;
    parent_id := null;
    kind := null;
    stopped_at := '/' || array_to_string(names[:depth], '/');
  end if;
end
$$;
