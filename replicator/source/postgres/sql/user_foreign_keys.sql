-- Foreign keys; those from and to a partition are its whole table's. The columns are JSON arrays of quoted names, in the key's order.
select distinct
       coalesce(pg_partition_root(k.conrelid), k.conrelid)::oid,
       coalesce(pg_partition_root(k.confrelid), k.confrelid)::oid,
       (select json_agg(quote_ident(a.attname) order by u.place)::text
        from unnest(k.conkey) with ordinality as u(number, place)
        join pg_attribute as a on a.attrelid = k.conrelid and a.attnum = u.number),
       (select json_agg(quote_ident(a.attname) order by u.place)::text
        from unnest(k.confkey) with ordinality as u(number, place)
        join pg_attribute as a on a.attrelid = k.confrelid and a.attnum = u.number)
from pg_constraint as k
where k.contype = 'f'
order by 1, 2, 3, 4
