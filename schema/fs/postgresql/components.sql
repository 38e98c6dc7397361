-- fs.components(path): the names on the way from the root to a path.
--
-- Parameters: path   absolute, "/clinton/projects"; a slash too many, at the end too, doesn't matter, as in any file system
-- Returns:    the names, outermost first; an empty array for "/"
-- Errors:     UX022  the path is null, empty, relative, or has "." or ".." in it
--             UX036  a name is longer than 255 bytes
create or replace function fs.components(path text) returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  names text[];
begin
  if path is null or left(path, 1) <> '/' then
    raise exception '%: not an absolute path', coalesce(nullif(path, ''), '(empty)') using errcode = 'UX022';
  end if;
  names := array_remove(string_to_array(path, '/'), '');
  if names && array['.', '..'] then
    raise exception '%: "." and ".." have no meaning here', path using errcode = 'UX022';
  end if;
  if exists (select from unnest(names) as name where octet_length(name) > 255) then
    raise exception '%: file name too long, 255 bytes at most', path using errcode = 'UX036';
  end if;
  return names;
end
$$;
