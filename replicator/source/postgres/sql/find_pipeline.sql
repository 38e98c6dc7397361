-- A pipeline by its name, and which database this is.
--   $1       the name
--   place, unnamed_place  as in session/place.h
select p.id, p.identity::text,
       {place},
       {unnamed_place},
       pg_is_in_recovery()
from {schema}.pipeline as p
where p.name = $1
