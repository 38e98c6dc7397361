-- What `wait` has to know before it looks for what is pending: how far the checkpoint is, and what else says that an index
-- may lack something. capture_state is a sequence, so its value is as of now; what it says was committed before, and is seen
-- by the next statement.
--   $1  the pipeline
select c.prev::text, coalesce(c.cur::text, ''), c.last_txid::text, c.last_id,
       c.epoch, coalesce(p.applied_at::text, '') as applied_at,
       coalesce(c.partners ->> 'place', '') as place,
       coalesce(c.partners ->> 'unnamed_place', c.partners ->> 'place', '') as unnamed_place,
       (select s.last_value in (2, 3) from {schema}.capture_state as s) as given_up
from {schema}.checkpoint as c
  join {schema}.pipeline as p on p.id = c.pipeline
where c.pipeline = $1
