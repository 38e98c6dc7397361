-- The reindexes of a pipeline, oldest first.
--   ?1  the pipeline
select r.id, r.alias, r.state, r.mapping, r.live, r.beside, r.live_name, r.beside_name, r.wanted, r.forced,
       r.kept_until is not null, max(coalesce(r.kept_until - cast(strftime('%s', 'now') as integer), 0), 0), r.reason,
       r.failure, coalesce(json_extract(b.configured, '$.view'), ''), b.id is not null and b.configured is not l.configured,
       r.max_rate
from {schema}_reindex as r
  left join {schema}_index as l on l.id = r.live
  left join {schema}_index as b on b.id = r.beside
where r.pipeline = ?1
order by r.id
