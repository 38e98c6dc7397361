-- The same where the server does not tell of its WAL: transactions count how far it has come.
select {place}, {unnamed_place},
       coalesce(c.partners ->> 'place', ''),
       coalesce(c.partners ->> 'unnamed_place', c.partners ->> 'place', ''),
       '',
       pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
       c.tableoid::text
from (select $1::integer as pipeline) as p
  left join {schema}.checkpoint as c on c.pipeline = p.pipeline
