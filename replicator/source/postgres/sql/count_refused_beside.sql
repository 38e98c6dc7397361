-- How many documents are dead letters of one generation and not of the other.
--   $1  the one
--   $2  the other
select count(*)
from {schema}.dead_letter as d
where d.index = $1
  and not exists (select from {schema}.dead_letter as o where o.index = $2 and o.id = d.id and o.routing = d.routing)
