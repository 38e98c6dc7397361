-- The indices of a pipeline with their tracks, a line a track.
select i.id, i.alias, i.view, i.id_type, i.routed, to_json(i.fields)::text, i.definition,
       c.id, c.value_type, coalesce(t.resolver, ''), coalesce(a.reason, '')
from {schema}.index as i
  left join {schema}.set_aside as a on a.index = i.id
  left join {schema}.track as t on t.index = i.id
  left join {schema}.capture as c on c.id = t.capture
where i.pipeline = $1
order by i.id, t.id
