-- Whether policies decide which rows of a table a role sees.
--   $1  oid of the table
--   $2  oid of the role
select not r.rolsuper and not r.rolbypassrls
       and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage'))
from pg_class as c, pg_roles as r
where c.oid = $1::oid and r.oid = $2::oid
