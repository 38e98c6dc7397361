-- The newest fan-out of an index whose documents have been found, or are being looked for, from one of these row values; null: none.
--   $1  index
--   $2  the job whose documents are being looked for; 0: none
--   $3  capture, $4 row values, some at most
--   $5  how many row values a change has at most of which this is asked
select max(c.job)
from {schema}.job as j join {schema}.job_change as c on c.job = j.id
where j.index = $1 and (j.total is not null or j.id = $2) and c.capture = $3
  and case when cardinality(c.keys) <= $5 then c.keys && $4::text[] end
