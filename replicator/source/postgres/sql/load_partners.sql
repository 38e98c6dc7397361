-- What the last leader has noted of both sides: a row for each index, or one row without. The place is empty when nobody has
-- led, and null when the note has none.
--   $1  the pipeline
select case when c.partners = '{}' then '' else c.partners ->> 'place' end, coalesce((c.partners ->> 'quiet')::boolean, false),
       coalesce((c.partners ->> 'landed')::boolean, false), t.key, t.value
from {schema}.checkpoint as c
left join lateral jsonb_each_text(c.partners -> 'targets') as t on true
where c.pipeline = $1
