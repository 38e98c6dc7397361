-- The tables whose rows a table's queries see too: its partitions and those that inherit from it, at any depth.
--   $1  oid
with recursive members (oid) as (
  select i.inhrelid from pg_inherits as i where i.inhparent = $1::oid
  union
  select i.inhrelid from members join pg_inherits as i on i.inhparent = members.oid
)
select c.oid, c.oid::regclass::text, c.relkind::text, pg_has_role(c.relowner, 'usage')
from members join pg_class as c on c.oid = members.oid
where c.relkind in ('r', 'p', 'f')
order by 2
