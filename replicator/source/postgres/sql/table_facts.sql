-- What can keep a table's changes from its triggers, or a query from its rows.
--   $1  oid
select c.relpersistence::text,
       pg_has_role(c.relowner, 'usage'), quote_ident(pg_get_userbyid(c.relowner)),
       c.relrowsecurity and c.relforcerowsecurity and not r.rolsuper and not r.rolbypassrls,
       exists (select 1 from pg_subscription_rel as s where s.srrelid = c.oid)
from pg_class as c, pg_roles as r
where c.oid = $1::oid and r.rolname = current_user
