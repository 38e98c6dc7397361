-- The owners of relations, without asking for a right on them or their schemas; what is not there has none.
--   {names}  an array of names as SQL writes them
select distinct pg_get_userbyid(c.relowner)
from unnest({names}) as given(name)
cross join lateral (select parse_ident(given.name)::name[]) as part(own)
join pg_namespace as n on cardinality(part.own) = 2 and n.nspname = part.own[1]
join pg_class as c on c.relnamespace = n.oid and c.relname = part.own[2]
