-- Foreign keys; those from and to a partition are its whole table's. The columns are JSON arrays of quoted names, in the key's order.
-- A temporal key (PostgreSQL 18) ends with a period on each side, which is null for any other key.
select distinct
       coalesce(pg_partition_root(k.conrelid), k.conrelid)::oid,
       coalesce(pg_partition_root(k.confrelid), k.confrelid)::oid,
       (select json_agg(quote_ident(a.attname) order by u.place)::text
        from unnest(k.conkey) with ordinality as u(number, place)
        join pg_attribute as a on a.attrelid = k.conrelid and a.attnum = u.number
        where u.place <= cardinality(k.conkey) - t.periods),
       (select json_agg(quote_ident(a.attname) order by u.place)::text
        from unnest(k.confkey) with ordinality as u(number, place)
        join pg_attribute as a on a.attrelid = k.confrelid and a.attnum = u.number
        where u.place <= cardinality(k.confkey) - t.periods),
       (select quote_ident(a.attname) from pg_attribute as a
        where t.periods = 1 and a.attrelid = k.conrelid and a.attnum = k.conkey[cardinality(k.conkey)]),
       (select quote_ident(a.attname) from pg_attribute as a
        where t.periods = 1 and a.attrelid = k.confrelid and a.attnum = k.confkey[cardinality(k.confkey)])
from pg_constraint as k
cross join lateral (select coalesce((to_jsonb(k) ->> 'conperiod')::boolean, false)::int) as t(periods)
where k.contype = 'f'
order by 1, 2, 3, 4
