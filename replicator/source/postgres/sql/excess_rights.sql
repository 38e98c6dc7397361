-- What this session may do and the owner of something that it runs code of may not: object, owner, a role of the session,
-- and the right in words. PostgreSQL runs code that belongs to a table, a view or a type with the rights of whoever reads
-- it. What one of the owners may take on does not count: a role that applies for several owners is a member of each.
--   $1  oids of relations
with recursive read (oid) as (
  select unnest($1::oid[])
  union
  select i.inhrelid from read join pg_inherits as i on i.inhparent = read.oid
), objects as (
  select case c.relkind when 'v' then 'view ' else 'table ' end || c.oid::regclass as name, c.relowner as owner, c.oid
  from read join pg_class as c on c.oid = read.oid
), all_objects as (
  select o.name, o.owner from objects as o
  union
  select 'type ' || t.oid::regtype, t.typowner
  from objects as o
    join pg_attribute as a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
    join pg_type as t on t.oid = a.atttypid
  union
  select 'function ' || p.oid::regprocedure, p.proowner
  from objects as o
    join pg_rewrite as r on r.ev_class = o.oid
    join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_proc'::regclass
    join pg_proc as p on p.oid = d.refobjid
)
select distinct on (x.reason, owner.rolname, session.rolname)
       o.name, quote_ident(owner.rolname), quote_ident(session.rolname), x.reason
from all_objects as o
  join pg_roles as owner on owner.oid = o.owner
  join pg_roles as session on session.rolname in (current_user, session_user)
  cross join lateral (
    select 'is a superuser' where session.rolsuper
    union all
    select right_of.reason
    from (values ('may make roles', session.rolcreaterole and not owner.rolcreaterole),
                 ('may make databases', session.rolcreatedb and not owner.rolcreatedb),
                 ('may replicate', session.rolreplication and not owner.rolreplication),
                 ('bypasses row security', session.rolbypassrls and not owner.rolbypassrls)) as right_of (reason, given)
    where right_of.given and not session.rolsuper
    union all
    select 'has the rights of ' || quote_ident(other.rolname)
    from pg_roles as other
    where not session.rolsuper and other.oid <> session.oid
      and pg_has_role(session.oid, other.oid, 'member') and not pg_has_role(owner.oid, other.oid, 'member')
      and not exists (select from all_objects as each join pg_roles as r on r.oid = each.owner
                      where not r.rolsuper and pg_has_role(each.owner, other.oid, 'member'))
  ) as x (reason)
where not owner.rolsuper and owner.oid <> session.oid
order by x.reason, owner.rolname, session.rolname, o.name
