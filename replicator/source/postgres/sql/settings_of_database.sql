-- The settings that a view has as the database has them (value_settings.h), as a new session of this role begins with them: what
-- was set for the role or the database, before what the server has. A subselect of (name, value).
--   {names}  array of the settings
(select n.name,
        coalesce((select substr(e.entry, strpos(e.entry, '=') + 1)
                  from pg_db_role_setting as r cross join unnest(r.setconfig) as e (entry)
                  where r.setdatabase in (0, (select d.oid from pg_database as d where d.datname = current_database()))
                    and r.setrole in (0, (select u.oid from pg_roles as u where u.rolname = session_user))
                    and lower(split_part(e.entry, '=', 1)) = lower(n.name)
                  order by r.setrole <> 0 desc, r.setdatabase <> 0 desc
                  limit 1),
                 (select s.reset_val from pg_settings as s where s.name = n.name))
 from unnest({names}) as n (name)) as settings (name, value)
