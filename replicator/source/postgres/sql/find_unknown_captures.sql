-- Those of the captures of rows that nobody can have written since the last apply. Rows of captures that an apply has
-- dropped are older than it.
--   $1, $2  the captures, and when each row was written
select distinct r.capture
from unnest($1::integer[], $2::timestamptz[]) as r(capture, at)
where not exists (select 1 from {schema}.capture as c where c.id = r.capture)
  and r.at > (select max(p.applied_at) from {schema}.pipeline as p)
