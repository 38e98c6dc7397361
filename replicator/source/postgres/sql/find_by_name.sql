-- A relation by its name as SQL writes it, without asking for a right on it or its schema.
--   {name}  a literal
select c.oid, part.own[cardinality(part.own)], cardinality(part.own) = 2
from (select parse_ident({name})::name[]) as part(own)
left join pg_namespace as n on cardinality(part.own) = 2 and n.nspname = part.own[1]
left join pg_class as c on c.relnamespace = n.oid and c.relname = part.own[2]
