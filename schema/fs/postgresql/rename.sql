-- fs.rename(from_path, to_path): gives a file or a directory another name, another directory, or both. Whatever lies below comes
-- along: one row changes. Nothing is ever replaced, and to_path is the new path itself, not a directory to put it into.
--
--   select fs.rename('/clinton/projects/elasticsearch/README.txt', '/clinton/projects/elasticsearch/README.asciidoc');
--   select fs.rename('/clinton', '/hillary');
--
-- Parameters: from_path, to_path  absolute; when both lead to the same node nothing happens
-- Returns:    the node's id, which stays what it was
-- Errors:     UX002  no such file or directory: from_path, or the directory of to_path
--             UX016  the root stays where it is
--             UX017  file exists: something has the name to_path
--             UX020  not a directory: a path leads through a file
--             UX022, UX036  that is no path (components.sql)
--             UX040  cannot move a directory into itself
--             40001 (repeatable read, serializable), 40P01 (transactions with several moves): try again
-- Tables:     updates one row of fs.nodes; a directory that moves elsewhere also locks the way from its new directory to the root
--             against renames and moves (guard_move.sql), while a mere new name locks nothing but its own row
create or replace function fs.rename(from_path text, to_path text) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  source   text[] := fs.components(from_path);
  target   text[] := fs.components(to_path);
  above    text[] := target[:cardinality(target) - 1];
  new_name text   := target[cardinality(target)];
  seen     record;
  held     record;
begin
  if source = '{}' then
    raise exception '/: cannot be renamed or moved' using errcode = 'UX016';
  elsif target = '{}' then
    raise exception '/: file exists' using errcode = 'UX017';
  end if;
  loop
    -- Both paths in one statement, so in one snapshot: after waiting for a lock they may lead elsewhere.
    select s.id, s.parent_id, s.kind, t.id as target_id, t.kind as target_kind into seen
      from fs.resolve(source) s, fs.resolve(above) t;
    exit when seen is not distinct from held;
    if seen.target_kind <> 'directory' then
      raise exception '/%: not a directory', array_to_string(above, '/') using errcode = 'UX020';
    end if;
    if seen.kind = 'directory' and seen.parent_id <> seen.target_id then
      perform fs.guard_move(seen.id, seen.target_id, new_name);
    else
      perform from fs.nodes n where n.id = seen.id for no key update;
    end if;
    held := seen;
  end loop;
  begin
    update fs.nodes n set parent_id = held.target_id, name = new_name where n.id = held.id;
  exception
    when unique_violation then
      raise exception '/%: file exists', array_to_string(target, '/') using errcode = 'UX017';
    when foreign_key_violation then
      raise exception '/%: no such file or directory', array_to_string(above, '/') using errcode = 'UX002';
  end;
  return held.id;
end
$$;
