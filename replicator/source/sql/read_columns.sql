-- The columns that a rule of a view, or a function whose body the server has parsed, names.
--   $1  pg_rewrite or pg_proc
--   $2  oid of the rule or function
select d.refobjid, d.refobjsubid
from pg_depend as d
where d.classid = $1::regclass and d.objid = $2::oid and d.refclassid = 'pg_class'::regclass and d.refobjsubid <> 0
