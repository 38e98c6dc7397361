-- The columns that each index of a table begins with, as JSON arrays of quoted names; not those of a part of the rows.
select i.indrelid, json_agg(quote_ident(a.attname) order by u.place)::text
from pg_index as i
join pg_class as c on c.oid = i.indexrelid
join pg_am as m on m.oid = c.relam and m.amname in ('btree', 'hash')
cross join lateral unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as u(number, place)
join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = u.number
where i.indpred is null and i.indisvalid
  -- what comes behind an expression is of no use
  and not exists (select 1 from unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as e(number, place)
                  where e.number = 0 and e.place <= u.place)
group by i.indexrelid, i.indrelid
