-- The dead letters among these documents.
select id, routing, version, status, error_type, reason
from {schema}.dead_letter
where index = $1 and id = any($2::text[])
order by id, routing
