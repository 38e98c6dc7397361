-- The statement that gives a function the search_path of a new session, unless it has one of its own or needs none.
--   $1  oid of the function
select 'alter ' || case p.prokind when 'p' then 'procedure ' else 'function ' end || p.oid::regprocedure
       || ' set search_path = ' || s.reset_val
from pg_proc as p
  join pg_language as l on l.oid = p.prolang
  join pg_settings as s on s.name = 'search_path'
where p.oid = $1::oid and p.prokind <> 'a' and l.lanname not in ('c', 'internal')
  and to_jsonb(p) ->> 'prosqlbody' is null     -- PostgreSQL 13 has no such column
  and not exists (select from unnest(p.proconfig) as c(setting) where starts_with(c.setting, 'search_path='))
