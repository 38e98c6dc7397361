-- Which database this is, as which the last leader knew it, the timeline, how far it has come, and which table the checkpoint
-- is: another one once a dump was restored over it.
--   $1  the pipeline
--   place, unnamed_place  as in session/place.h
--   timeline, progress    as in SourceIdentity
select {place}, {unnamed_place},
       coalesce(c.partners ->> 'place', ''),
       coalesce(c.partners ->> 'unnamed_place', c.partners ->> 'place', ''),
       {timeline}, {progress},
       c.tableoid::text
from (select $1::integer as pipeline) as p
  left join {schema}.checkpoint as c on c.pipeline = p.pipeline
