-- A pipeline by its name, and which database this is.
--   $1  the name
select p.id, p.identity::text,
       (select (pg_control_system()).system_identifier || '/' || d.oid
        from pg_catalog.pg_database as d where d.datname = current_database()),
       pg_is_in_recovery()
from {schema}.pipeline as p
where p.name = $1
