-- The indices of a pipeline. What an older lockstep's schema lacks is read as JSON.
--   $1  the pipeline
select id, alias, view, id_type, routed, to_json(fields)::text as fields, definition,
       coalesce(to_jsonb(i) ->> 'configured', ''), coalesce((to_jsonb(i) ->> 'followed')::boolean, true)
from {schema}.index as i
where pipeline = $1
order by id
