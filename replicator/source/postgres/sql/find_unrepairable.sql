-- A row when one of the documents found cannot be repaired by rendering it by _id.
--   repairable  condition over f.id and f.routing
--   $1, $2      ids and routings of the documents found
select 1
from unnest($1::text[], $2::text[]) as f(id, routing)
where not ({repairable})
limit 1
