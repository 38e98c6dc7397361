-- The ids, as k, of the documents found that rendering by _id can repair.
--   repairable         condition over f.id and f.routing
--   ids, routings      of the documents found, as array literals
select f.id as k from unnest({ids}::text[], {routings}::text[]) as f(id, routing) where {repairable} order by f.id
