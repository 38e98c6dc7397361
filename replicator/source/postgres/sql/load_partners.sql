-- What the last leader has noted of both sides: a row for each index, or one row without.
--   $1  the pipeline
select coalesce(c.partners ->> 'place', ''), coalesce((c.partners ->> 'quiet')::boolean, false), t.key, t.value
from {schema}.checkpoint as c
left join lateral jsonb_each_text(c.partners -> 'targets') as t on true
where c.pipeline = $1
