-- Names the cluster and the database: an expression.
(select (pg_control_system()).system_identifier || '/' || d.oid
 from pg_catalog.pg_database as d where d.datname = current_database())
