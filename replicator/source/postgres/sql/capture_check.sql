-- Body of the function that says why the triggers of a tracked table take the fallback (capture_fallback.sql) for every
-- statement; null: they do not. It reads no row. Somebody who has the table to himself is not waited for.
--   {old}, {new}, {columns}, {same_key}  as in capture_update.sql, over the table itself
--   {relation}                           the table's name as a literal
begin
  perform {columns}
  from {old} as o
  left join {new} as n on {same_key}
  limit 0;
  return null;
exception
  when lock_not_available then
    return null;
  when others then
    return pg_catalog.format('triggers of %s do not fit it any more (%s), so each change of it counts; run `lockstep apply`',
                             {relation}, sqlerrm);
end
