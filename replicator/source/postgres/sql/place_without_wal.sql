-- The same where the server does not name its cluster: the database and lockstep's schema in it, which is another one after
-- a restored dump.
(select 'unnamed/' || d.oid || '/' || to_regnamespace({schema_text})::oid
 from pg_catalog.pg_database as d where d.datname = current_database())
