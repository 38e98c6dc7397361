-- The indices of a pipeline with what they were made of when last compared with the catalogue, and whether that is so still: by
-- look-ups in the catalogue alone.
--   $1  the pipeline
-- The hole "origin" is origin.sql, of what the definition says. An older lockstep has stored none of that, and what the leader has
-- found to be another carries a mark.
select i.id, i.alias, i.view, c.oid, i.definition, i.followed, exists (select from {schema}.reindex as r where r.beside = i.id),
       coalesce(d.stored ->> 'origin' = {origin} and not d.stored ? 'changed', false) as is_same
from {schema}.index as i
  left join (pg_class as c join pg_namespace as n on n.oid = c.relnamespace)
    on n.nspname = (parse_ident(i.view))[1] and c.relname = (parse_ident(i.view))[2]
  cross join lateral (select case when starts_with(i.definition, chr(123)) then i.definition::jsonb end as stored) as d
where i.pipeline = $1
order by i.id
