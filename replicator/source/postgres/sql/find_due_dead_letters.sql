-- The dead letters whose writes may work later and that have waited long enough: ten seconds, twice as long with
-- each try, an hour at most.
--   $1  indices
--   $2  the most rows
select d.index, d.id, d.routing, d.version, d.status, d.error_type, d.reason
from {schema}.dead_letter as d
where d.index = any($1::integer[])
  and (d.status in (0, 408, 429) or d.status >= 500)
  and d.last_at <= clock_timestamp() - least(interval '1 hour', interval '10 s' * power(2, least(d.tries, 10) - 1))
order by d.last_at
limit $2::bigint
