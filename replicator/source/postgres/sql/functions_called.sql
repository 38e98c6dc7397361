-- The functions of these names that may read what nobody can see: not the server's own, unless it runs a query that it is
-- given; nor code of an extension that is declared to depend on its arguments alone.
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
