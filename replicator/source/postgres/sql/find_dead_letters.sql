-- A page of the dead letters that match, in the order of their primary key.
--   matching  condition over d, of parameters $1 to $5
--   $6, $7, $8  index, id and routing behind which the page begins
--   $9  the most rows
select d.index, d.id, d.routing, d.version, d.status, d.error_type, d.reason,
       to_char(d.first_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as first_at,
       to_char(d.last_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as last_at, d.tries
from {schema}.dead_letter as d
where {matching} and (d.index, d.id, d.routing) > ($6::integer, $7::text, $8::text)
order by d.index, d.id, d.routing
limit $9::bigint
