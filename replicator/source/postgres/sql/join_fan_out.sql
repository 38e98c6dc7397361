-- Lets a batch of changes join the fan-out of an index whose documents nobody has begun to look for: its id, or no row.
--   $1  index
--   $2  the job that these changes have to wait for, or null
--   $3  the job whose documents are being looked for; 0: none
-- The update makes a leader that has been deposed and still looks for them begin anew.
update {schema}.job
set joined = joined + 1
where id = (
  select id
  from {schema}.job as j
  where j.index = $1 and j.kind = 'fan_out' and j.total is null and j.behind is not distinct from $2::bigint and j.id <> $3
  order by id desc limit 1
  for update skip locked
)
returning id, reason
