-- The newest fan-out of an index whose list is made, or being made, of one of these values; null: none.
--   $1  index
--   $2  the fan-out whose list is being made, or null
--   $3  capture, $4 its values, $5 at most
--   $5  changes of more values are not compared
select max(c.job)
from {schema}.job as j join {schema}.job_change as c on c.job = j.id
where j.index = $1 and (j.total is not null or j.id = $2::bigint) and c.capture = $3
  and case when cardinality(c.keys) <= $5 then c.keys && $4::text[] end
