-- name: view_rule
-- What a view is made of.
--   $1  oid of the view
select r.oid, r.ev_action::text
from pg_rewrite as r
where r.ev_class = $1::oid and r.ev_type = '1'

-- name: function_tree
-- What a function with an SQL body (begin atomic ... end) does; null: it has another kind of body.
--   $1  oid of the function
select to_jsonb(p) ->> 'prosqlbody'     -- PostgreSQL 13 has no such column
from pg_proc as p
where p.oid = $1::oid

-- name: is_equality
-- Whether an operator is the "=" of a B-tree.
--   $1  oid of the operator
select exists (
  select 1
  from pg_amop as f join pg_am as m on m.oid = f.amopmethod
  where m.amname = 'btree' and f.amopstrategy = 3 and f.amopopr = $1::oid
)

-- name: unique_keys
-- The columns of each unique key that no two rows of a table share, those of its children among them, and the table.
--   $1  oids
select i.indkey[0:i.indnkeyatts - 1]::integer[], i.indrelid
from pg_index as i join pg_class as c on c.oid = i.indrelid
where i.indrelid = any ($1::oid[]) and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
  and (c.relkind = 'p' or not exists (select from pg_inherits as h where h.inhparent = c.oid))

-- name: policies_apply
-- Whether policies decide which rows of a table a role sees.
--   $1  oid of the table
--   $2  oid of the role
select not r.rolsuper and not r.rolbypassrls
       and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage'))
from pg_class as c, pg_roles as r
where c.oid = $1::oid and r.oid = $2::oid

-- name: read_columns
-- The relations, and of them the columns (0: none in particular), that a rule of a view names, or a function whose body the
-- server has parsed.
--   $1  pg_rewrite or pg_proc
--   $2  oid of the rule or function
select d.refobjid, d.refobjsubid
from pg_depend as d
where d.classid = $1::regclass and d.objid = $2::oid and d.refclassid = 'pg_class'::regclass
  and d.deptype = 'n'

-- name: called_functions
-- The catalog's facts about functions that a query calls, with those behind operators and aggregates.
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

-- name: functions_called
-- The functions of these names that may read tables without showing it: not the server's own, unless it runs a query that it
-- is given; nor code of an extension that is declared to depend on its arguments alone.
--   $1  names
-- Each with whether it is an SQL function that is declared to depend on its arguments alone, and its text.
select p.oid, p.provolatile = 'i' and l.lanname = 'sql' and to_jsonb(p) ->> 'prosqlbody' is null, p.prosrc
from pg_proc as p
join pg_language as l on l.oid = p.prolang
where p.proname = any($1::text[])
  and case when p.oid < 16384
        then p.proname ~ '^(query|table|schema|database|cursor)_to_xml' or p.proname in ('ts_stat', 'lo_get', 'loread')
          or p.proname = 'ts_rewrite' and p.pronargs = 2
        else not (p.provolatile = 'i' and l.lanname in ('c', 'internal')
                  and exists (select 1 from pg_depend as d
                              where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'))
      end

-- name: ordered_functions
-- Those of these functions ($1, oids) whose value depends on the order in which rows come: they list them, or number or compare them
-- in a window.
select proname::text
from pg_proc
where oid = any($1::oid[])
  and pronamespace = 'pg_catalog'::regnamespace
  and proname in ('array_agg', 'json_agg', 'json_agg_strict', 'jsonb_agg', 'jsonb_agg_strict', 'string_agg', 'xmlagg',
                  'row_number', 'ntile', 'lag', 'lead', 'first_value', 'last_value', 'nth_value')
