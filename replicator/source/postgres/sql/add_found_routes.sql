-- Remembers the routings under which documents were found. Rendering them then deletes them where they do not
-- belong. Version 0: no write that lockstep knows of put them there.
--   repairable  condition over f.id and f.routing
--   $1          the index
--   $2, $3      ids and routings of the documents found
insert into {schema}.route (index, id, routing, version)
select $1, f.id, f.routing, 0
from unnest($2::text[], $3::text[]) as f(id, routing)
where {repairable}
on conflict do nothing
