-- What a type is for a mapping; of an array: what its elements are.
--   $1  oid of a type that is no domain
select b.typtype::text, case when n.nspname = 'pg_catalog' then b.typname::text else '' end, b.typcategory::text
from pg_type as t
join pg_type as e on e.oid = case when t.typcategory = 'A' and t.typelem <> 0 then t.typelem else t.oid end
join pg_type as b on b.oid = case when e.typtype = 'd' then e.typbasetype else e.oid end
join pg_namespace as n on n.oid = b.typnamespace
where t.oid = $1::oid
