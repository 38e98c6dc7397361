-- Adds a change to those of which a fan-out makes its list, unless it is one of them.
--   $1  job
--   $2  capture, $3 its values
insert into {schema}.job_change (job, capture, keys)
select $1, $2, $3
where not exists (
  select 1 from {schema}.job_change as c where c.job = $1 and c.capture = $2 and c.keys = $3::text[])
