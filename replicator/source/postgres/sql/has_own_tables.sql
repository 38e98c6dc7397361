-- Whether lockstep's tables are in a schema. By the catalog: to_regclass needs the right to use the schema.
--   $1  name of the schema
select exists (
  select 1
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relname = 'migration'
)
