-- fs.remove(path): removes a file, or a directory with everything below it, like rm -r.
--
-- One row is deleted, and the foreign key of fs.nodes deletes the rest, in the same statement.
--
-- Parameters: path  absolute
-- Returns:    the id that the file or directory had
-- Errors:     UX002  no such file or directory
--             UX016  the root stays
--             UX020  not a directory: the path leads through a file
--             UX022, UX036  that is no path (components.sql)
--             40001 (repeatable read, serializable): try again
-- Tables:     deletes from fs.nodes; waits for those who are adding to what it removes, and removes that too
create or replace function fs.remove(path text) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  names text[] := fs.components(path);
  node  bigint;
  held  bigint;
begin
  if names = '{}' then
    raise exception '/: cannot be removed' using errcode = 'UX016';
  end if;
  loop
    select r.id into node from fs.resolve(names) r;
    exit when node = held;
    perform from fs.nodes n where n.id = node for update;
    held := node; -- look again: while this waited, the path may have got to lead elsewhere
  end loop;
  delete from fs.nodes n where n.id = node;
  return node;
end
$$;
