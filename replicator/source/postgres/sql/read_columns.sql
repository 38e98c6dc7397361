-- The relations, and of them the columns (0: none in particular), that a rule of a view names, or a function whose body the
-- server has parsed.
--   $1  pg_rewrite or pg_proc
--   $2  oid of the rule or function
select d.refobjid, d.refobjsubid
from pg_depend as d
where d.classid = $1::regclass and d.objid = $2::oid and d.refclassid = 'pg_class'::regclass
  and d.deptype = 'n'
