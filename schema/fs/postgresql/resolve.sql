-- fs.resolve(names): the node at a path, which must exist.
--
-- Parameters: names  what fs.components gives
-- Returns:    id, parent_id (null for the root), kind
-- Errors:     UX002  no such file or directory
--             UX020  not a directory: the path goes on below a file
-- Tables:     reads fs.nodes, all of it in the snapshot of the statement that calls
create or replace function fs.resolve(names text[], out id bigint, out parent_id bigint, out kind text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  problem    text;
  stopped_at text;
begin
  select w.id, w.parent_id, w.kind, w.problem, w.stopped_at
    into resolve.id, resolve.parent_id, resolve.kind, problem, stopped_at
    from fs.walk(names) w;
  if problem = 'UX002' then
    raise exception '%: no such file or directory', stopped_at using errcode = problem;
  elsif problem = 'UX020' then
    raise exception '%: not a directory', stopped_at using errcode = problem;
  end if;
end
$$;
