-- What can keep a table's changes from its triggers, or a query from its rows.
--   $1  oid
-- The hole "subscribed" is is_subscribed.sql, of table c.oid.
select c.relpersistence::text,
       pg_has_role(c.relowner, 'usage'), quote_ident(pg_get_userbyid(c.relowner)),
       c.relrowsecurity and c.relforcerowsecurity and not r.rolsuper and not r.rolbypassrls,
       {subscribed}
from pg_class as c, pg_roles as r
where c.oid = $1::oid and r.rolname = current_user
