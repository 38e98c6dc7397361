-- Makes a job of those of the documents found that rendering by _id can repair.
--   repairable  condition over f.id and f.routing
--   $1          the job
--   $2, $3      ids and routings of the documents found
insert into {schema}.job_document (job, number, id)
select $1, row_number() over (order by d.id), d.id
from (select distinct f.id from unnest($2::text[], $3::text[]) as f(id, routing) where {repairable}) as d
