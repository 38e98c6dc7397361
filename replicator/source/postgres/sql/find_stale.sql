-- The documents found in an index that the view does not have, or has under another routing. Compares ids as text,
-- because what Elasticsearch has may be no value of the _id's type.
--   key      f.id as a value comparable with _id, or null
--   type     of the key
--   routing  of a row of the view, as text
--   view
--   $1, $2  ids and routings of the documents found
with found as materialized (
  select f.id, f.routing, {key} as key
  from unnest($1::text[], $2::text[]) as f(id, routing)
), present as materialized (
  select v._id::text as id, {routing} as routing
  from {view} as v
  where v._id = any((select array_agg(found.key) from found)::{type}[])
)
select f.id, f.routing, exists (select 1 from present as p where p.id = f.id) as elsewhere
from found as f
where not exists (select 1 from present as p where p.id = f.id and p.routing = f.routing)
