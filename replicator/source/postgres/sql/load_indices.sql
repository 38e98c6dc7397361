-- The indices of a pipeline with their tracks, a row for each track; an index without tracks has one row.
--   $1  the pipeline
select i.id, i.alias, i.view, i.id_type, i.routed, to_json(i.fields)::text as fields,
       case when a.index is null then '' else coalesce(nullif(a.reason, ''), 'no reason is stored') end,
       c.id, c.value_type, coalesce(t.resolver, ''), coalesce(i.written_by, ''), coalesce(r.alias, '')
from {schema}.index as i
  left join {schema}.set_aside as a on a.index = i.id
  left join {schema}.reindex as r on r.beside = i.id
  left join {schema}.track as t on t.index = i.id
  left join {schema}.capture as c on c.id = t.capture
where i.pipeline = $1 and i.followed
order by i.id, t.id
