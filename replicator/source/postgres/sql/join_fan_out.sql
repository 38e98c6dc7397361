-- Lets changes join the newest fan-out of an index whose list nobody has begun to make: its id, or no row.
--   $1  index
--   $2  the fan-out behind which these changes must wait, or null
--   $3  the fan-out whose list is being made, or null
--   $4  bytes of changes from which on it takes no more (an array joined to an empty one is itself, uncompressed)
-- The update makes a deposed leader that still makes the list start over.
update {schema}.job
set joined = joined + 1
where id = (
  select id
  from {schema}.job as j
  where j.index = $1 and j.kind = 'fan_out' and j.total is null and j.transaction is null
    and j.behind is not distinct from $2::bigint
    and j.id is distinct from $3::bigint
    and (select coalesce(sum(pg_column_size(c.keys || array[]::text[])), 0) from {schema}.job_change as c where c.job = j.id) < $4::bigint
  order by id desc limit 1
  for update skip locked
)
returning id, reason
