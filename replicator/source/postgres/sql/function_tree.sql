-- What a function with an SQL body (begin atomic ... end) does; null: it has another kind of body.
--   $1  oid of the function
select to_jsonb(p) ->> 'prosqlbody'     -- PostgreSQL 13 has no such column
from pg_proc as p
where p.oid = $1::oid
