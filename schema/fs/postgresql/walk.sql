-- fs.walk(names): goes down from the root, name by name, as far as it can.
--
-- Parameters: names      what fs.components gives
-- Returns:    one row: id, parent_id, kind of the node, or, when the way ends before,
--             problem    the SQLSTATE that says why: UX002 nothing of that name, UX020 that is a file, not a directory
--             stopped_at how far the path is to blame, "/clinton/projcts"
-- Tables:     reads fs.nodes, all of it in the snapshot of the statement that calls, by its index, even where the table was
--             tiny when the plan was made
create or replace function fs.walk(
  names text[], out id bigint, out parent_id bigint, out kind text, out problem text, out stopped_at text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  depth integer;
begin
  with recursive down (id, parent_id, kind, depth) as (
    select n.id, n.parent_id, n.kind, 0 from fs.nodes n where n.parent_id is null
    union all
    select c.id, c.parent_id, c.kind, down.depth + 1
    from down join fs.nodes c on c.parent_id = down.id and c.name = names[down.depth + 1]
  )
  select down.id, down.parent_id, down.kind, down.depth into walk.id, walk.parent_id, walk.kind, depth
  from down order by down.depth desc limit 1;
  if depth = cardinality(names) then
    return;
  end if;
  if kind = 'file' then
    problem := 'UX020';
  else
    problem := 'UX002';
    depth := depth + 1;
  end if;
  stopped_at := '/' || array_to_string(names[:coalesce(depth, 0)], '/');
  id := null;
  parent_id := null;
  kind := null;
end
$$;
