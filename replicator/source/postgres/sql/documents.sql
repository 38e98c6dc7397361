-- name: render_documents
-- Renders documents up to about so many bytes of JSON; those beyond come with json null.
--   columns  the document's fields, each "v.name"
--   view, routing, filter
--   $1  bytes
select d.id, d.routing,
       case when d.bytes_before < $1::bigint then d.json end
from (
  select r.id, r.routing, r.json,
         coalesce(sum(octet_length(r.json)) over (rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from (
    select v._id::text as id, {routing} as routing,
           (select row_to_json(f.*) from (select {columns}) as f)::text as json -- not "f": a column of that name would win
    from {view} as v
    where {filter}
    offset 0 -- or json would be made twice, for itself and for its length
  ) as r
) as d

-- name: find_stale
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

-- name: save_routes
-- Remembers the routings under which documents are about to be written.
--   $1  the index
--   $2  version of the writes
--   $3, $4  ids and routings of the documents
insert into {schema}.route as r (index, id, routing, version)
select $1, u.id, u.routing, $2 from unnest($3::text[], $4::text[]) as u(id, routing)
on conflict (index, id, routing) do update set version = excluded.version

-- name: add_found_routes
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
