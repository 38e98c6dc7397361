-- The reindexes of a pipeline, oldest first.
--   $1  the pipeline
select r.id, r.alias, r.state, r.mapping, r.live, r.beside, r.live_name, r.beside_name, coalesce(r.wanted, ''), r.forced,
       r.kept_until is not null,
       greatest(coalesce(ceil(extract(epoch from r.kept_until - clock_timestamp())), 0), 0)::bigint,
       r.reason, r.failure, coalesce(b.configured::json ->> 'view', ''),
       b.id is not null and b.configured is distinct from l.configured, r.max_rate
from {schema}.reindex as r
  left join {schema}.index as l on l.id = r.live
  left join {schema}.index as b on b.id = r.beside
where r.pipeline = $1
order by r.id
