-- What is known about functions that a query calls, with those behind operators and aggregates.
--   $1  oids of functions
--   $2  oids of operators
-- environment: a function of the server's own whose result depends on more than its arguments and the session's
-- settings. Most stable ones depend on settings only (to_char, json_build_object, ...) and are left out.
-- reads: a function of the server's own that runs a query it is given.
-- trusted: code of an extension that is declared to depend on its arguments alone.
with named (oid) as (
  select unnest($1::oid[])
  union
  select o.oprcode::oid from pg_operator as o where o.oid = any($2::oid[])
), called (oid) as (
  select oid from named
  union
  select s.oid
  from named
  join pg_aggregate as a on a.aggfnoid = named.oid
  cross join lateral (values (a.aggtransfn::oid), (a.aggfinalfn::oid), (a.aggcombinefn::oid), (a.aggmtransfn::oid),
                             (a.aggminvtransfn::oid), (a.aggmfinalfn::oid)) as s(oid)
  where s.oid <> 0
)
select p.oid, p.oid::regprocedure::text, p.prokind = 'a',
       p.oid < 16384,
       p.oid < 16384 and p.proname !~ '^pg_(typeof|column_size|column_compression|collation_for)$'
         and (p.provolatile = 'v'
              or p.provolatile = 's'
                 and (p.pronargs = 0 or p.proname ~ '^(pg|txid|inet|has|row_security)_' or p.proname ~ '^(obj|shobj|col)_description$'
                      or p.proname in ('current_setting', 'current_schemas', 'currval', 'to_regclass', 'to_regproc', 'to_regtype',
                                       'enum_first', 'enum_last', 'enum_range')
                      or p.proname = 'age' and p.pronargs = 1)),
       p.oid < 16384
         and (p.proname ~ '^(query|table|schema|database|cursor)_to_xml' or p.proname in ('ts_stat', 'lo_get', 'loread')
              or p.proname = 'ts_rewrite' and p.pronargs = 2),
       p.provolatile = 'i' and l.lanname in ('c', 'internal')
         and exists (select 1 from pg_depend as d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'),
       to_jsonb(p) ->> 'prosqlbody',     -- PostgreSQL 13 has no such column
       case when p.prosecdef then p.proowner end,
       case when p.provolatile = 'i' and l.lanname = 'sql' then p.prosrc end,
       p.provolatile = 'v'
from called
join pg_proc as p on p.oid = called.oid
join pg_language as l on l.oid = p.prolang
order by p.oid
