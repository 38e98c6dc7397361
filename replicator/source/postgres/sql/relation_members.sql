-- The tables whose rows a table's queries see too: its partitions and those that inherit from it, at any depth.
--   $1  oid
with recursive members (oid) as (
  select i.inhrelid from pg_inherits as i where i.inhparent = $1::oid and (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
  union
  select i.inhrelid from members join pg_inherits as i on i.inhparent = members.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
)
select c.oid, c.oid::regclass::text, c.relkind::text, pg_has_role(c.relowner, 'usage'), c.relowner
from members join pg_class as c on c.oid = members.oid
where c.relkind in ('r', 'p', 'f')
order by 2
