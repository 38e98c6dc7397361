-- The tables that a column refers to by foreign keys, when none of them leads to the rows that another column names.
--   $1, $2  the column's table and its name, quoted
--   $3, $4  table and number of the other column
with recursive known (oid, number, side, steps) as (
  select v.oid, v.number, v.side, 0
  from (select a.attrelid, a.attnum, 'value' from pg_attribute as a where a.attrelid = $1::oid and quote_ident(a.attname) = $2
        union all
        select $3::oid, $4::smallint, 'id') as v(oid, number, side)
  union
  select c.confrelid, c.confkey[1], k.side, 1
  from known as k
    join pg_constraint as c on c.contype = 'f' and c.conrelid = k.oid and c.conkey = array[k.number]
)
select string_agg(distinct v.oid::regclass::text, ', ')
from known as v
where v.side = 'value' and v.steps > 0
  and not exists (select from known as o join known as i on i.oid = o.oid and i.number = o.number
                  where o.side = 'value' and i.side = 'id')
