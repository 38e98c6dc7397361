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
