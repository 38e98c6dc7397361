-- name: owners_of_tables
-- The owners of relations, without asking for a right on them or their schemas; missing ones have none.
--   {names}  an array of names as SQL writes them
select distinct pg_get_userbyid(c.relowner)
from unnest({names}) as given(name)
cross join lateral (select parse_ident(given.name)::name[]) as part(own)
join pg_namespace as n on cardinality(part.own) = 2 and n.nspname = part.own[1]
join pg_class as c on c.relnamespace = n.oid and c.relname = part.own[2]

-- name: owner_of_member
-- Whether the current user can give Lockstep's schema to the owner of the tracked tables: the schema is its own or that
-- owner's, or still to be made, and it is another role, no superuser, that may become the owner. Without the right to
-- create schemas it cannot give one away: the operator has made the schema for it.
--   $1  name of the schema
--   $2  name of the owner
select r.rolname <> $2 and not r.rolsuper
       and pg_has_role(r.rolname, $2, case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end)
       and has_database_privilege(current_database(), 'create')
       and coalesce((select pg_get_userbyid(n.nspowner) in (r.rolname, $2) from pg_namespace as n where n.nspname = $1), true)
from pg_roles as r
where r.rolname = current_user

-- name: objects_to_hand_over
-- Objects in Lockstep's schema, and the schema, that belong to another owner than a role: "table lockstep.job" with the
-- owner. The schema comes first. An identity column's sequence goes with its table.
--   $1  name of the schema
--   $2  name of the role
with schema as (
  select n.oid, n.nspowner as owner from pg_namespace as n where n.nspname = $1
), objects as (
  select 1 as place, 'schema ' || quote_ident($1) as object, s.owner from schema as s
  union all
  select 2, case c.relkind when 'S' then 'sequence ' else 'table ' end || c.oid::regclass, c.relowner
  from schema as s join pg_class as c on c.relnamespace = s.oid
  where c.relkind in ('r', 'p', 'S')
    and not exists (select from pg_depend as d
                    where d.classid = 'pg_class'::regclass and d.objid = c.oid and c.relkind = 'S' and d.deptype in ('i', 'a'))
  union all
  select 3, 'function ' || p.oid::regprocedure, p.proowner
  from schema as s join pg_proc as p on p.pronamespace = s.oid
)
select o.object, quote_ident(pg_get_userbyid(o.owner))
from objects as o
where pg_get_userbyid(o.owner) <> $2
order by o.place, o.object

-- name: relations_read
-- The relations, without Lockstep's own, that the current transaction has looked at: PostgreSQL locks what a statement
-- names, and what views in it name, before it plans or runs anything.
--   {schema_name}  name of Lockstep's schema, as a literal
select distinct c.oid
from pg_locks as l
  join pg_class as c on c.oid = l.relation
  join pg_namespace as n on n.oid = c.relnamespace
where l.pid = pg_backend_pid() and l.locktype = 'relation' and c.oid >= 16384 and n.nspname <> {schema_name}
  and l.database = (select d.oid from pg_database as d where d.datname = current_database())

-- name: default_grantees
-- The roles that may execute the functions that another owner than a role makes in Lockstep's schema.
--   $1  name of the schema
--   $2  name of the role
select distinct quote_ident(pg_get_userbyid(a.grantee))
from pg_default_acl as d
  join pg_namespace as n on n.oid = d.defaclnamespace
  cross join lateral aclexplode(d.defaclacl) as a
where n.nspname = $1 and d.defaclobjtype = 'f' and pg_get_userbyid(d.defaclrole) <> $2 and a.grantee <> 0
  and a.grantee <> d.defaclrole and pg_get_userbyid(a.grantee) <> $2

-- name: excess_rights
-- Rights of this session that the owner of an object whose code it runs lacks: object, owner, a role of the session, and the
-- right in words. PostgreSQL runs code that belongs to a table, a view or a type with the rights of the reader. A role that
-- one of the owners may take on does not count: a role that applies for several owners is a member of each.
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

-- name: rights_at_risk
-- Where another role's code runs with the rights of a superuser: the name of a warning, and its values.
--   $1  the pipeline
--   $2  name of Lockstep's schema
select distinct 'table_of_another',
       json_build_array(quote_ident(n.nspname) || '.' || quote_ident(c.relname), quote_ident(o.rolname), quote_ident(f.rolname),
                        quote_ident(f.rolname))::text
from pg_trigger as t
  join pg_proc as p on p.oid = t.tgfoid
  join pg_namespace as s on s.oid = p.pronamespace
  join pg_class as c on c.oid = t.tgrelid
  join pg_namespace as n on n.oid = c.relnamespace
  join pg_roles as o on o.oid = c.relowner
  join pg_roles as f on f.oid = p.proowner
where s.nspname = $2 and starts_with(p.proname, 'capture_' || $1::integer || '_') and f.rolsuper and not o.rolsuper
union all
select 'view_of_another', json_build_array(i.view, quote_ident(o.rolname), quote_ident(me.rolname))::text
from {schema}.index as i
  join pg_namespace as n on starts_with(i.view, quote_ident(n.nspname) || '.')
  join pg_class as c on c.relnamespace = n.oid and quote_ident(n.nspname) || '.' || quote_ident(c.relname) = i.view
  join pg_roles as o on o.oid = c.relowner
  join pg_roles as me on me.rolname = current_user
where i.pipeline = $1::integer and me.rolsuper and not o.rolsuper

-- name: role_has_more_than_its_objects
-- Whether a member of this role could do more than work with the role's own objects.
--   $1  the role, not quoted
select coalesce(bool_or(r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls
                        or r.rolname ~ '^pg_'), false)
from pg_roles as r
where exists (select from pg_roles as owner where owner.rolname = $1 and pg_has_role(owner.oid, r.oid, 'member'))
