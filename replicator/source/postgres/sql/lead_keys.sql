-- The number that follows from a pipeline's identity, and the number in force.
--   $1  the pipeline
--   $2  its identity
select hashtextextended($2::text, 0), coalesce(c.lead_key, hashtextextended($2::text, 0))
from {schema}.checkpoint as c
where c.pipeline = $1
