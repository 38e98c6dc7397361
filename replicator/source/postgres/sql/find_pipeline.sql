-- A pipeline by its name, and which database this is.
--   $1       the name
--   place    place.sql or place_without_wal.sql
select p.id, p.identity::text,
       {place},
       pg_is_in_recovery()
from {schema}.pipeline as p
where p.name = $1
