-- A type, with what is below it when it is a domain.
--   $1  oid
with recursive base (oid, typtype, typbasetype) as (
  select t.oid, t.typtype, t.typbasetype from pg_type as t where t.oid = $1::oid
  union all
  select t.oid, t.typtype, t.typbasetype from base join pg_type as t on t.oid = base.typbasetype where base.typtype = 'd'
)
select t.oid, format_type(t.oid, -1), t.typarray <> 0 and t.typtype <> 'p'
from base join pg_type as t on t.oid = base.oid
where base.typtype <> 'd'
