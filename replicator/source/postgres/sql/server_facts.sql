-- What can be wrong with a server before anything else is looked at.
select pg_is_in_recovery(), current_setting('server_version_num')::integer, current_setting('server_version'),
       current_setting('server_encoding'), current_database(), current_user,
       has_database_privilege(current_database(), 'create'),
       coalesce((select pg_has_role(n.nspowner, 'usage') from pg_namespace as n where n.nspname = $1), false),
       (select pg_get_userbyid(n.nspowner) from pg_namespace as n where n.nspname = $1),
       current_setting('default_transaction_read_only')::boolean
