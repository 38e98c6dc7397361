-- Whether the current user can give lockstep's schema to the owner of the tracked tables: the schema is its own or that
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
