-- name: find_relation
-- A relation by its oid.
--   $1  oid
select c.oid, c.oid::regclass::text, quote_ident(c.relname), c.relkind::text, quote_ident(n.nspname),
       pg_has_role(c.relowner, 'usage'), c.relpages,
       c.relrowsecurity,
       coalesce(c.reloptions @> '{security_invoker=true}' or c.reloptions @> '{security_invoker=on}'
                or c.reloptions @> '{security_invoker=1}' or c.reloptions @> '{security_invoker=yes}', false),
       c.relowner, coalesce(pg_partition_root(c.oid), c.oid::regclass)::text
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where c.oid = $1::oid

-- name: find_by_name
-- A relation by its name as SQL writes it, without asking for a right on it or its schema.
--   {name}  a literal
select c.oid, part.own[cardinality(part.own)], case when cardinality(part.own) = 2 then part.own[1]::text end
from (select parse_ident({name})::name[]) as part(own)
left join pg_namespace as n on cardinality(part.own) = 2 and n.nspname = part.own[1]
left join pg_class as c on c.relnamespace = n.oid and c.relname = part.own[2]

-- name: relation_columns
-- The columns of a relation, with the type that is below any domains.
--   $1  oid
-- nullable: rows may have no value there; a constraint that is not valid yet, as PostgreSQL 18 has them, proves nothing.
-- equality: the operator by which the type's default B-tree compares, qualified where it is not one of the
-- server's own. settings_free: whether the type's text form is the same whatever a session has set.
select a.attnum, a.attname, quote_ident(a.attname), format_type(b.oid, -1), b.oid,
       coalesce('operator(' || e.schema || '.' || e.operator || ')', '='),
       b.oid = any('{bool,"char",name,int8,int2,int4,oid,text,bpchar,varchar,numeric,uuid,jsonb}'::regtype[]) or b.typtype = 'e',
       b.typarray <> 0 and b.typtype <> 'p',
       coalesce(l.collisdeterministic, true),
       a.attgenerated::text = 'v',
       a.attlen > 0,
       coalesce(array_position(i.indkey[0:i.indnkeyatts - 1], a.attnum), -1),
       not a.attnotnull or exists (select from pg_constraint as n
                                   where n.conrelid = a.attrelid and n.contype = 'n' and a.attnum = any(n.conkey)
                                     and not n.convalidated)
from pg_attribute as a
cross join lateral (
  with recursive base (oid, typtype, typbasetype, typarray) as (
    select t.oid, t.typtype, t.typbasetype, t.typarray from pg_type as t where t.oid = a.atttypid
    union all
    select t.oid, t.typtype, t.typbasetype, t.typarray
    from base join pg_type as t on t.oid = base.typbasetype where base.typtype = 'd'
  )
  select base.oid, base.typtype, base.typarray from base where base.typtype <> 'd'
) as b
left join lateral (
  select quote_ident(n.nspname) as schema, o.oprname as operator
  from pg_opclass as c
  join pg_am as m on m.oid = c.opcmethod and m.amname = 'btree'
  join pg_amop as f on f.amopfamily = c.opcfamily and f.amoplefttype = c.opcintype and f.amoprighttype = c.opcintype
                   and f.amopstrategy = 3
  join pg_operator as o on o.oid = f.amopopr
  join pg_namespace as n on n.oid = o.oprnamespace
  where c.opcdefault and c.opcintype = b.oid and n.nspname <> 'pg_catalog'
  limit 1
) as e on true
left join pg_collation as l on l.oid = a.attcollation
left join pg_index as i on i.indrelid = a.attrelid and i.indisprimary
where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
order by a.attnum

-- name: relation_members
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

-- name: table_ancestors
-- The tables that a table is a partition of or inherits from, at any depth.
--   $1  oid
with recursive above (oid) as (
  select i.inhparent from pg_inherits as i where i.inhrelid = $1::oid
  union
  select i.inhparent from above join pg_inherits as i on i.inhrelid = above.oid
)
select oid::regclass::text from above

-- name: relation_names
-- Relations of any schema but the system's: the whole name, that without a schema, and whether they are in the schema.
--   $1  the kinds (pg_class.relkind), as one text
--   $2  a schema
select c.oid::regclass::text, c.relname::text, c.relnamespace::regnamespace::text = quote_ident($2)
from pg_class as c
where strpos($1, c.relkind::text) > 0 and not pg_is_other_temp_schema(c.relnamespace)
  and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
order by 1

-- name: describe_type
-- A type, with its base types if it is a domain.
--   $1  oid
with recursive base (oid, typtype, typbasetype) as (
  select t.oid, t.typtype, t.typbasetype from pg_type as t where t.oid = $1::oid
  union all
  select t.oid, t.typtype, t.typbasetype from base join pg_type as t on t.oid = base.typbasetype where base.typtype = 'd'
)
select t.oid, format_type(t.oid, -1), t.typarray <> 0 and t.typtype <> 'p'
from base join pg_type as t on t.oid = base.oid
where base.typtype <> 'd'
