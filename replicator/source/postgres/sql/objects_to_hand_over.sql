-- What is in lockstep's schema, and the schema, that belongs to somebody else than a role: "table lockstep.job" with the
-- owner. The schema comes first. An identity column's sequence goes with its table.
--   $1  name of the schema
--   $2  name of the role
with schema as (
  select n.oid, n.nspowner as owner from pg_namespace as n where n.nspname = $1
), objects as (
  select 1 as place, 'schema ' || quote_ident($1) as object, s.owner from schema as s
  union all
  select 2, case c.relkind when 'S' then 'sequence ' else 'table ' end || c.oid::regclass, c.relowner
  from schema as s join pg_class as c on c.relnamespace = s.oid
  where c.relkind in ('r', 'p', 'S')
    and not exists (select from pg_depend as d
                    where d.classid = 'pg_class'::regclass and d.objid = c.oid and c.relkind = 'S' and d.deptype in ('i', 'a'))
  union all
  select 3, 'function ' || p.oid::regprocedure, p.proowner
  from schema as s join pg_proc as p on p.pronamespace = s.oid
)
select o.object, quote_ident(pg_get_userbyid(o.owner))
from objects as o
where pg_get_userbyid(o.owner) <> $2
order by o.place, o.object
